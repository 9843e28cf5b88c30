import { Arrival } from '../events/arrival';
import { positionIn, sequenceOf, type StoredEvent } from '../events/stored-event';
import type { EventLog } from '../log/event-log';
import type { LoggedEvent, SearchQuery, Start } from '../log/queries';
import type { ReadableLog } from '../log/readable-log';
import { eventMatcher } from '../log/search';
import { parseDuration, parseTime } from '../util/time';
import { quoted } from './terminal';

/** All events of a log. */
export const FROM_THE_FIRST: Start = { after: 0 };

const DAY = /^\d{4}-\d\d-\d\d$/;

/** Reads the value of `--since`: a sequence, a duration up to now, a time (RFC 3339) or a day, for its first moment in UTC. */
export function parseSince(text: string): Start | undefined {
  const after = positionIn(text);
  if (after !== undefined) return { after };
  const duration = parseDuration(text);
  const since = duration === undefined ? parseTime(DAY.test(text) ? `${text}T00:00:00Z` : text) : Date.now() - duration;
  return since === undefined ? undefined : { after: 0, since };
}

export async function endOf(log: Pick<EventLog, 'stats'>): Promise<Start> {
  return { after: (await log.stats()).last };
}

/**
 * The position after which a start begins. What is recorded later comes after it, whatever its time: the clock may be set back. A
 * start in a log without such events is its end.
 */
export async function positionBefore(log: Pick<EventLog, 'scan' | 'stats'>, { after, since }: Start): Promise<number> {
  const { last } = await log.stats();
  const [first] = await log.scan({ after, since, limit: 1 });
  if (first !== undefined) return first.position - 1;
  return after > last ? after : last;
}

/** Which events a command works on, of those from its start on. */
export interface EventFilter extends Pick<SearchQuery, 'text' | 'binding' | 'type' | 'sender' | 'fromSender'> {
  /** Header fields that the request had: names in lower case, and their values. */
  readonly header?: readonly (readonly [name: string, value: string])[] | undefined;
}

/** Returns a function that tells whether an event is one of those. A damaged one matches no condition. */
export function matcherOf(filter: EventFilter): (event: StoredEvent) => boolean {
  const { text, binding, type, sender, fromSender, header } = filter;
  const query = { text, binding, type, sender, fromSender };
  const isQuery = Object.values(query).some((value) => value !== undefined);
  const matches = eventMatcher({ ...query, limit: 1 });
  return (event) => {
    if (isQuery && matches(event) === undefined) return false;
    if (header === undefined) return true;
    const had = Arrival.readable(new Arrival(event).headers);
    return header.every(([name, value]) => had.some(([field, text]) => field === name && text === value));
  };
}

/** Some events of a log, by name (an id or a sequence) or by a search that is bounded in time. */
export type EventSelection =
  | { readonly names: readonly string[] }
  | ({ readonly search: Omit<SearchQuery, 'limit'> } & Pick<EventFilter, 'header'>);

/** Most events of one id that are looked for: enough to say that it names several. */
const SAME_ID = 10;

/**
 * Reads the selected events in log order, each once; `missing` gets a line for each name that does not name exactly one event, and
 * for each event that was removed meanwhile.
 */
export async function* selectedEvents(
  log: ReadableLog,
  selection: EventSelection,
  stop: AbortSignal,
  missing: (problem: string) => void,
): AsyncGenerator<StoredEvent> {
  const gone = (position: number): void => {
    missing(`Event ${String(position)} is no longer in the log.`);
  };
  if ('search' in selection) {
    const matches = matcherOf({ header: selection.header });
    for await (const event of log.find(selection.search, stop, gone)) if (matches(event)) yield event;
    return;
  }
  const positions = new Set<number>();
  for (const name of selection.names) {
    const [event, ...others] = await eventsNamed(name, log);
    if (event === undefined) missing(`There is no event ${quoted(name)}.`);
    else if (others.length > 0) missing(ambiguous(name, [event, ...others]));
    else positions.add(event.position);
  }
  for (const position of [...positions].sort((one, other) => one - other)) {
    const [event] = await log.read({ position, limit: 1 });
    if (event === undefined) gone(position);
    else yield event;
  }
}

/** The events with a name as their id, and the one at that sequence. A name with all 20 digits is a sequence. */
async function eventsNamed(name: string, log: Pick<EventLog, 'read'>): Promise<LoggedEvent[]> {
  const position = positionIn(name);
  const at = position === undefined ? [] : await log.read({ position, limit: 1 });
  if (at[0] !== undefined && name === sequenceOf(at[0].position)) return at;
  const withId = await log.read({ id: name, limit: SAME_ID });
  return [...at, ...withId.filter((event) => event.position !== at[0]?.position)];
}

function ambiguous(name: string, events: readonly LoggedEvent[]): string {
  const sequences = events.map(({ position }) => sequenceOf(position)).join(', ');
  return `${quoted(name)} names several events. Give the whole sequence of each that is meant: ${sequences}.`;
}
