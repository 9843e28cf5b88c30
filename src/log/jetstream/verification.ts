import { shortened } from '../../util/text';
import { decodeRange, decodeReference, lateSubject, type LateRange, type Reference } from './message';
import { LONGEST_LAG, type BeginCall } from './stream';
import { StreamWalk } from './walk';

/** Messages of the stream of keys that are read under one deadline. */
const PART = 1024;

/**
 * Looks for references to events that the stream of events has lost. Forgetting leaves references too: retention to positions
 * before the first one, or among late events, which it removes one by one.
 *
 * @returns one finding for all of them.
 */
export async function findLostEvents(begin: BeginCall): Promise<string[]> {
  const lost: Reference[] = [];
  const missing: Reference[] = [];
  const late: LateRange[] = [];
  for (let start = 1, next = 1; ; start = next) {
    const { keys, events } = begin();
    const references: Reference[] = [];
    for await (const { seq, subject, data, time } of new StreamWalk(keys).messages(start, 1, PART)) {
      next = seq + 1;
      const range = subject === lateSubject(keys) ? decodeRange(data) : undefined;
      if (range !== undefined) late.push(range);
      const reference = decodeReference(data);
      if (reference !== undefined && Date.now() - time.getTime() > LONGEST_LAG) references.push(reference);
      if (next >= start + PART) break;
    }
    if (next === start) break;
    const ids = new Map<number, string>();
    const positions = [...new Set(references.map(({ sequence }) => sequence))];
    for await (const { sequence, event } of new StreamWalk(events).atEach(positions)) ids.set(sequence, event.id);
    const { first, last } = await events.state();
    for (const reference of references) {
      const { id, sequence } = reference;
      if (sequence < first || ids.get(sequence) === id) continue;
      (sequence > last || ids.has(sequence) ? lost : missing).push(reference);
    }
  }
  const isLate = ({ sequence }: Reference) => late.some(({ first, last }) => first <= sequence && sequence <= last);
  lost.push(...missing.filter((reference) => !isLate(reference)));
  const [example] = lost;
  if (example === undefined) return [];
  return [
    `The stream ${begin().events.name} has lost events that keys name: ${String(lost.length)}, the first of them ` +
      `${shortened(example.id)} at ${String(example.sequence)}. What their senders deliver again is recorded.`,
  ];
}
