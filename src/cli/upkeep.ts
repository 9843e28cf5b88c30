import { once } from 'node:events';
import { sequenceOf, StoredEvent } from '../events/stored-event';
import type { Config } from '../config/config';
import { EventLogError } from '../log/engine';
import type { EventLog } from '../log/event-log';
import { plainReason } from '../util/errors';
import { visible } from '../util/text';
import type { EventSelection, Values } from './events-options';
import { selectedEvents } from './tool-log';
import { counted, eventLine, print, stopSignal, UsageError } from './terminal';

/** Copies a log in SQLite, as it is at one moment, to a new file. */
export async function backUp(file: string, log: EventLog): Promise<void> {
  if (log.upkeep === undefined) throw new UsageError('backup copies a SQLite file. Use export for any other log.');
  await log.upkeep.backup(file);
  console.error(`${file} is a copy of the log.`);
}

/** Puts the events of such a copy in the place of those of a log in SQLite, which is copied before. */
export async function restore(backup: string, location: Config['eventLog']): Promise<void> {
  if (location.restore === undefined)
    throw new UsageError(`restore works on a SQLite file. Use import for ${location.engine}.`);
  const copy = await location.restore(backup);
  console.error(copy === undefined ? 'Restored.' : `Restored. ${copy} is a copy of the log as it was before.`);
}

/** Gives the space of forgotten events in a SQLite file back, and says how much that was. */
export async function compact(log: EventLog): Promise<void> {
  if (log.upkeep === undefined)
    throw new UsageError('compact works on a SQLite file. Servers of other event logs give space back by themselves.');
  console.error(`${String(await log.upkeep.compact())} bytes given back.`);
}

const REMAINS =
  'What was removed may still be in backups, exports and other copies: docs/operations.md lists where. ' +
  'An event that is sent or imported again is recorded again.';

/**
 * Removes events from a log for good, and prints each. On a terminal it asks before. An unknown name does not stop the rest: an earlier
 * run that was interrupted may have removed that event.
 *
 * @throws nothing was found or removed, or names do not name exactly one event; the message has a line for each.
 */
export async function forgetEvents(selection: EventSelection, log: EventLog, values: Values): Promise<void> {
  const { dryRun = false, rewrite = false } = values;
  const stop = stopSignal();
  if (rewrite && log.upkeep === undefined) throw new UsageError('--rewrite works on a SQLite file.');
  const positions: number[] = [];
  const problems: string[] = [];
  for await (const event of selectedEvents(log, selection, stop, (problem) => problems.push(problem))) {
    const { position } = event;
    positions.push(position);
    const line =
      StoredEvent.problemOf(event) === undefined ? eventLine(event) : `Event ${String(position)}, which is damaged`;
    await print(`${line}\n`, stop);
  }
  stop.throwIfAborted();
  const isFound = positions.length > 0;
  if (isFound && !dryRun) {
    if (!(await isConfirmed(`Remove ${counted(positions.length, 'event')} for good?`, stop)))
      throw new Error('Nothing was removed.');
    const forgotten = await log.forget(positions);
    if (rewrite) await log.upkeep?.rewrite();
    console.error(`${String(forgotten.length)} removed.`);
    console.error(REMAINS);
  } else console.error(dryRun ? `${counted(positions.length, 'event')} would be removed.` : '0 removed.');
  if (!isFound && problems.length === 0) problems.push('No event was found.');
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

async function isConfirmed(question: string, stop: AbortSignal): Promise<boolean> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY || !stderr.isTTY) return true;
  stderr.write(`${question} [y/N] `);
  const asked = Promise.race(['data', 'end'].map((name) => once(stdin, name, { signal: stop })));
  const [answer] = (await asked.catch(() => stop.throwIfAborted()).finally(() => stdin.pause())) as unknown[];
  return /^y(?:es)?\s*$/i.test(String(answer));
}

/** Verifies a log and its events, and prints each finding on a line. Resolves to whether the log is whole. */
export async function verifyLog(log: EventLog): Promise<boolean> {
  let [findings, events, last] = [0, 0, 0];
  const report = (finding: string): void => {
    findings++;
    console.log(visible(finding));
  };
  /** Does something with the log; that it cannot be read is a finding too. */
  const during = async (what: string, action: () => Promise<void>): Promise<void> => {
    await action().catch((error: unknown) => {
      if (!(error instanceof EventLogError)) throw error;
      report(`${what}${plainReason(error)}`);
    });
  };
  if (process.stderr.isTTY) console.error('Verifying how the log is kept …');
  await during('', async () => (await log.verify()).forEach(report));
  await during('Reading the events: ', async () => {
    for await (const page of log.pages({ after: 0 })) {
      for (const event of page) {
        const problem =
          event.position > last ? StoredEvent.problemOf(event) : 'it does not come after the event before it';
        if (problem !== undefined) report(`Event ${sequenceOf(event.position)}: ${problem}.`);
        last = event.position;
      }
      events += page.length;
    }
  });
  const outcome = findings === 0 ? 'The log is whole.' : `Findings: ${String(findings)}.`;
  console.error(`${counted(events, 'event')} verified. ${outcome}`);
  return findings === 0;
}
