import { ProcessConfig } from '../config/process-config';
import { Arrival } from '../events/arrival';
import { positionIn, sequenceOf, type StoredEvent } from '../events/stored-event';
import type { EventLog } from '../log/event-log';
import type { Start } from '../log/queries';
import type { ReadableLog } from '../log/readable-log';
import { eventMatcher } from '../log/search';
import { oneLine } from '../util/text';
import type { EventSelection, Values } from './events-options';
import { misuse, stopSignal, textOf, UsageError } from './terminal';

/** @throws {UsageError} no other process can have the log that EVENT_LOG names. */
export function eventLogOfTool() {
  const { eventLog } = ProcessConfig.ofTool('eventLog');
  if (!eventLog.isVolatile) return eventLog;
  throw new UsageError('EVENT_LOG=memory: is a log that only its service has. Set EVENT_LOG to another one.');
}

/** Works as {@link withLog} does, on the log of a service elsewhere or on the one that EVENT_LOG names. SIGINT or SIGTERM ends it. */
export async function withSource(
  { from: url, keyFile }: Values,
  work: (log: ReadableLog, stop: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const stop = stopSignal();
  if (url === undefined) {
    if (keyFile !== undefined) throw misuse('--key-file goes with --from.');
    return withLog('read', (log) => work(log, stop));
  }
  const key = ProcessConfig.readKey(keyFile === undefined ? undefined : await textOf(keyFile));
  const { RemoteLog } = await import('./remote-log.js');
  if ((await work(new RemoteLog({ url, key }, stop), stop)) === false) process.exitCode = 1;
}

/**
 * Opens the log that EVENT_LOG names, and closes it however the work on it ends; `import` makes one if there is none. The exit code is 1
 * if the work comes to false.
 */
export async function withLog(access: 'read' | 'import', work: (log: EventLog) => Promise<unknown>): Promise<void> {
  const eventLog = eventLogOfTool();
  const { eventLogServer } = ProcessConfig.ofTool('eventLogServer');
  // Retention would forget imported events meanwhile, and the next import record them again.
  const settings =
    access === 'import' ? { ...ProcessConfig.ofTool('retention'), forgets: false } : { retention: {}, create: false };
  const log = await eventLog.open({ ...eventLogServer, ...settings });
  try {
    if ((await work(log)) === false) process.exitCode = 1;
  } finally {
    await log.close();
  }
}

/**
 * The position after which a start begins, by default the end of the log. What is recorded later comes after it, whatever its time: the
 * clock may be set back. If no event matches, the end of the log.
 */
export async function positionBefore(log: Pick<ReadableLog, 'scan' | 'newest'>, start?: Start): Promise<number> {
  const newest = await log.newest();
  if (start === undefined) return newest;
  const [first] = await log.scan({ ...start, limit: 1 });
  return first === undefined ? Math.max(start.after, newest) : first.position - 1;
}

/** Returns a function that tells whether an event meets all conditions of a filter. A damaged one meets none. */
export function matcherOf(filter: Values): (event: StoredEvent) => boolean {
  const { text, binding, type, sender, fromSender, header } = filter;
  const query = { text, binding, type, sender, fromSender };
  const hasConditions = [...Object.values(query), header].some((value) => value !== undefined);
  const matches = eventMatcher({ ...query, limit: 1 });
  return (event) => {
    if (hasConditions && matches(event) === undefined) return false;
    if (header === undefined) return true;
    const had = Arrival.readable(Arrival.of(event).headers);
    return header.every(([name, value]) => had.some(([field, text]) => field === name && text === value));
  };
}

/** Most events of one id that are looked for: enough to say that it names several. */
const SAME_ID = 10;

/**
 * Reads the selected events in log order, each once; `missing` gets a line for each name that does not name exactly one event, and
 * for each named event that was removed meanwhile.
 */
export async function* selectedEvents(
  log: ReadableLog,
  selection: EventSelection,
  stop: AbortSignal,
  missing: (problem: string) => void,
): AsyncGenerator<StoredEvent> {
  if ('search' in selection) {
    const matches = matcherOf({ header: selection.header });
    for await (const event of log.find(selection.search, stop)) if (matches(event)) yield event;
    return;
  }
  const positions = new Set<number>();
  for (const name of selection.names) {
    const [event, ...others] = await eventsNamed(name, log);
    if (event === undefined) missing(`There is no event ${oneLine(name)}.`);
    else if (others.length > 0) {
      const sequences = [event, ...others].map((one) => sequenceOf(one.position)).join(', ');
      missing(`${oneLine(name)} names several events. Give the whole sequence of each that is meant: ${sequences}.`);
    } else positions.add(event.position);
  }
  for (const position of [...positions].sort((one, other) => one - other)) {
    const [event] = await log.scan({ position, limit: 1 });
    if (event === undefined) missing(`Event ${String(position)} is no longer in the log.`);
    else yield event;
  }
}

/** The events with a name as their id, and the one at that sequence. A name with all 20 digits is a sequence. */
async function eventsNamed(name: string, log: Pick<ReadableLog, 'scan'>): Promise<StoredEvent[]> {
  const position = positionIn(name);
  const at = position === undefined ? [] : await log.scan({ position, limit: 1 });
  if (at[0] !== undefined && name === sequenceOf(at[0].position)) return at;
  const withId = await log.scan({ id: name, limit: SAME_ID, maxBytes: Number.MAX_SAFE_INTEGER });
  return [...at, ...withId.filter((event) => event.position !== at[0]?.position)];
}
