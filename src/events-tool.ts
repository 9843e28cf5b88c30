#!/usr/bin/env node
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { SingleBar } from 'cli-progress';
import { eventLogSettings, loadConfig } from './config';
import { parseDuration } from './duration';
import { archiveLine, parseArchiveLine } from './events/archive';
import type { EventLog, NewEvent } from './events/event-log';
import { linesOf } from './events/lines';
import { openEventLog, openExistingEventLog } from './events/open-event-log';
import { SqliteEventLog } from './events/sqlite-event-log';
import { messageChain } from './message-chain';

const USAGE = `Works on the event log that EVENT_LOG names, also while the service runs.

  --since WHEN    prints the events since a duration ago (2h, 30d, P1DT12H), a time (RFC 3339) or behind a sequence
  --follow        prints events as they are recorded; after --since, or from now on
  --export FILE   writes all events, or those --since, to a new file
  --import FILE   records the events of a file that are not in the log yet
  --backup FILE   copies a log in SQLite, as it is at one moment, to a new file

One CloudEvent a line (NDJSON). FILE may be - for standard output or input, except for --backup.`;

/** How often a log that is followed is looked at, in milliseconds. */
const POLL_INTERVAL = 200;
const PAGE = 1000;
/** Most events, and most characters of their lines, that are imported at a time; they share commits. */
const IMPORT_EVENTS = 1000;
const IMPORT_CHARACTERS = 8 * 1024 * 1024;
/** A progress bar is shown from so many events on. */
const LONG = 10_000;

class UsageError extends Error {}

async function main(): Promise<void> {
  const { follow, since, export: exported, import: imported, backup } = options();
  const config = loadConfig();
  const open = imported === undefined ? openExistingEventLog : openEventLog;
  const log = await open(config.eventLog, eventLogSettings(config));
  try {
    if (imported !== undefined) await importFrom(imported, log);
    else if (backup !== undefined) await backUp(backup, log);
    else if (exported !== undefined) await exportTo(exported, log, await startOf(since, log));
    else await print(log, await startOf(since ?? '0s', log), follow);
  } finally {
    await log.close();
  }
}

function options() {
  try {
    const { values } = parseArgs({
      options: {
        follow: { type: 'boolean', default: false },
        since: { type: 'string' },
        export: { type: 'string' },
        import: { type: 'string' },
        backup: { type: 'string' },
      },
    });
    const { follow, since, export: exported, import: imported, backup } = values;
    const tasks = [exported, imported, backup, follow || (exported === undefined && since !== undefined) || undefined];
    if (tasks.filter((task) => task !== undefined).length === 1 && !(since && (imported ?? backup))) return values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${USAGE}`);
  }
  throw new UsageError(USAGE);
}

async function backUp(file: string, log: EventLog): Promise<void> {
  if (!(log instanceof SqliteEventLog)) {
    throw new UsageError('--backup copies a SQLite file. Use --export for an event log on NATS JetStream.');
  }
  await log.backup(file);
}

/** The position behind which the wanted events are. */
async function startOf(since: string | undefined, log: EventLog): Promise<bigint> {
  if (since === undefined) return 0n;
  if (/^\d{1,20}$/.test(since)) return BigInt(since);
  const duration = parseDuration(since);
  const time = duration === undefined ? Date.parse(since) : Date.now() - duration;
  if (Number.isNaN(time)) throw new UsageError(`--since ${since} is no duration, time or sequence.\n\n${USAGE}`);
  return log.positionBefore(time);
}

async function print(log: EventLog, start: bigint, follow: boolean): Promise<void> {
  let stopping = false;
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      stopping = true;
      stop.abort();
    });
  }
  let position = start;
  while (!stopping) {
    position = await writeEvents(process.stdout, log, position, () => undefined);
    if (!follow) return;
    await setTimeout(POLL_INTERVAL, undefined, { signal: stop.signal }).catch(() => undefined);
  }
}

async function exportTo(file: string, log: EventLog, start: bigint): Promise<void> {
  const output = file === '-' ? process.stdout : createWriteStream(file, { flags: 'wx', flush: true });
  let events = 0;
  const progress = progressBar('exported', await log.count());
  await writeEvents(output, log, start, (page) => {
    events += page;
    progress?.update(events);
  });
  progress?.stop();
  if (output !== process.stdout) await finished(output.end());
  console.error(`${String(events)} events exported.`);
}

/** Writes the events behind a position, all that there are; returns the position of the last one. */
async function writeEvents(
  output: Writable,
  log: EventLog,
  start: bigint,
  wrote: (events: number) => void,
): Promise<bigint> {
  let position = start;
  for (;;) {
    const page = await log.scan(position, PAGE);
    const last = page.at(-1);
    if (last === undefined) return position;
    if (!output.write(page.map((event) => `${archiveLine(event)}\n`).join(''))) await once(output, 'drain');
    position = BigInt(last.sequence);
    wrote(page.length);
  }
}

async function importFrom(file: string, log: EventLog): Promise<void> {
  const input = file === '-' ? process.stdin : createReadStream(file);
  const progress = file === '-' ? undefined : progressBar('bytes imported', (await stat(file)).size);
  let batch: NewEvent[] = [];
  let characters = 0;
  let events = 0;
  let recorded = 0;
  const flush = async (): Promise<void> => {
    const appended = await log.appendAll(batch);
    events += appended.length;
    recorded += appended.filter((one) => one.recorded).length;
    batch = [];
    characters = 0;
    progress?.update('bytesRead' in input ? input.bytesRead : 0);
  };
  let line = 0;
  for await (const text of linesOf(input)) {
    line++;
    if (text.trim() === '') continue;
    try {
      batch.push(await parseArchiveLine(text));
    } catch (cause) {
      await flush();
      progress?.stop();
      const done = summary(events, recorded);
      throw new Error(`Line ${String(line)} of ${file} cannot be imported; of those before it ${done}.`, { cause });
    }
    characters += text.length;
    if (batch.length === IMPORT_EVENTS || characters > IMPORT_CHARACTERS) await flush();
  }
  await flush();
  progress?.stop();
  console.error(`${summary(events, recorded)}.`);
}

function summary(events: number, recorded: number): string {
  return `${String(recorded)} events recorded, ${String(events - recorded)} were in the log before`;
}

/** A bar on standard error, where that is a terminal and the work is long. */
function progressBar(what: string, total: number): SingleBar | undefined {
  if (!process.stderr.isTTY || total < LONG) return undefined;
  const bar = new SingleBar({
    format: `{bar} {percentage} % | {value} of {total} ${what} | {eta_formatted} left`,
    stream: process.stderr,
  });
  bar.start(total, 0);
  return bar;
}

/** Ends the program: in silence where nobody reads its output any more, otherwise with the reason. */
function fail(error: unknown): void {
  process.exitCode = error instanceof UsageError ? 2 : 1;
  if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit();
  console.error(error instanceof UsageError ? error.message : messageChain(error));
}

process.stdout.on('error', fail);
main().catch(fail);
