import type { StoredEvent } from '../events/stored-event';
import type { EventLog, LoggedEvent, SearchQuery } from '../log/event-log';
import { SEQUENCE_DIGITS } from '../log/page';
import { eventAt, foundEvents } from '../log/stored-events';
import { readEvents } from './scan';
import { quoted } from './terminal';

/** Some events of a log: those with a name each, an id or a sequence, or all that a search finds. */
export type Selection = { readonly names: readonly string[] } | { readonly search: Omit<SearchQuery, 'limit'> };

/** Most events of one id that are looked for: enough to say that it names several. */
const SAME_ID = 10;

/**
 * Reads the selected events in log order, each once; a search as {@link foundEvents} does.
 *
 * @param stop - ends a search after the step that is under way.
 * @param missing - called with a line for each name that is not that of exactly one event, and each event that was removed meanwhile.
 */
export async function* selectedEvents(
  log: EventLog,
  selection: Selection,
  stop: AbortSignal,
  missing: (problem: string) => void,
): AsyncGenerator<StoredEvent> {
  const gone = (position: bigint): void => {
    missing(`Event ${String(position)} is no longer in the log.`);
  };
  if ('search' in selection) {
    yield* foundEvents(log, selection.search, stop, gone);
    return;
  }
  const { positions, problems } = await positionsOf(selection.names, log);
  problems.forEach(missing);
  for (const position of positions.sort((one, other) => Number(one - other))) {
    const event = await eventAt(log, position);
    if (event === undefined) gone(position);
    else yield event;
  }
}

/** The positions of events, each named by its id or its sequence, and a line for each name that is not that of exactly one. */
export async function positionsOf(
  names: readonly string[],
  log: EventLog,
): Promise<{ positions: bigint[]; problems: string[] }> {
  const positions = new Set<bigint>();
  const problems: string[] = [];
  for (const name of names) {
    const [event, ...others] = await eventsNamed(name, log);
    if (event === undefined) problems.push(`There is no event ${quoted(name)}.`);
    else if (others.length > 0) problems.push(ambiguous(name, [event, ...others]));
    else positions.add(BigInt(event.sequence));
  }
  return { positions: [...positions], problems };
}

/** The events that a name may mean: those with that id, and the one at that sequence. With all its digits it is a sequence. */
async function eventsNamed(name: string, log: EventLog): Promise<LoggedEvent[]> {
  const at = /^\d{1,20}$/.test(name) ? await readEvents(log, { sequence: BigInt(name), limit: 1 }) : [];
  if (at.length > 0 && name.length === SEQUENCE_DIGITS) return at;
  const withId = await readEvents(log, { id: name, limit: SAME_ID });
  return [...at, ...withId.filter(({ sequence }) => sequence !== at[0]?.sequence)];
}

function ambiguous(name: string, events: readonly LoggedEvent[]): string {
  const sequences = events.map(({ sequence }) => sequence).join(', ');
  return `${quoted(name)} names several events. Give the whole sequence of each that is meant: ${sequences}.`;
}
