import type { EventLog, LoggedEvent } from '../log/event-log';
import { SEQUENCE_DIGITS } from '../log/position';
import { followProgress } from './progress';
import { quoted } from './quoted';
import { readEvents } from './read';

/** Most events of one id that are looked for: enough to say that it names several. */
const SAME_ID = 10;

/**
 * Removes events from a log for good, each named by its id or its sequence. Where a name is unknown, the rest is done all the
 * same: it may be that of an event that was removed by a run that did not come to its end.
 *
 * @throws a name is not that of exactly one event; the message has a line for each.
 */
export async function forgetEvents(names: readonly string[], log: EventLog): Promise<void> {
  const positions = new Set<bigint>();
  const problems: string[] = [];
  for (const name of names) {
    const [event, ...others] = await eventsNamed(name, log);
    if (event === undefined) problems.push(`There is no event ${quoted(name)}.`);
    else if (others.length > 0) problems.push(ambiguous(name, [event, ...others]));
    else positions.add(BigInt(event.sequence));
  }
  const forgotten = await followProgress('done', (progress) => log.forget([...positions], progress));
  console.error(`${String(forgotten.length)} removed.`);
  if (problems.length > 0) throw new Error(problems.join('\n'));
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
