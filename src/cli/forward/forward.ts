import type { StoredEvent } from '../../events/stored-event';
import type { PostingMode } from './message';
import { SHORT_PAUSE, Target, TRIES } from './target';
import { LogChange, type ReadableLog } from '../../log/readable-log';
import type { EventSelection, Values } from '../events-options';
import { matcherOf, positionBefore, selectedEvents } from '../tool-log';
import { counted, eventLine } from '../terminal';
import { type ForwardPosition, missingBetween, PositionFile, refuseChange } from './position';

/** What is forwarded, to which address and how. The signal ends it after the attempt that is under way. */
interface Forwarding {
  readonly log: ReadableLog;
  readonly url: URL;
  readonly mode: PostingMode;
  readonly values: Values;
  readonly stop: AbortSignal;
}

/** Returns the error for an event that a target does not take and never will; the text is one line and says what to do. */
const refused = (text: string) => Object.assign(new Error(text), { exitCode: 3 });

/** The longest pause between two tries when nobody is watching, in milliseconds. */
const LONGEST_PAUSE = 60_000;

/**
 * Forwards selected events, once each, past those that the target refuses; leaves the position alone.
 *
 * @throws some of them were not found or not taken, or the target redirected one.
 */
export async function forwardSelected(selection: EventSelection, forwarding: Forwarding): Promise<void> {
  let missing = 0;
  const events = selectedEvents(forwarding.log, selection, forwarding.stop, (problem) => {
    missing++;
    console.error(problem);
  });
  const values = { ...forwarding.values, skipRefused: true };
  const { delivered, skipped } = await postEach(events, 'selected events', { ...forwarding, values });
  if (missing + skipped > 0) throw new Error('Some of the events were not found or not taken.');
  if (delivered === 0) throw new Error('No event was found.');
}

/**
 * Forwards the events after a position, which goes on with each, and keeps other forwarders from it.
 *
 * @throws another forwarder has the position, its file is damaged, or it is not one of this log: nothing was posted.
 * @throws the target took an event in none of the tries, or refused or redirected it: with an exit code of its own.
 */
export async function forwardAfter(forwarding: Forwarding): Promise<void> {
  const { log, values } = forwarding;
  const file = values.position === undefined ? undefined : new PositionFile(values.position);
  const lock = await file?.lock();
  try {
    const position = await startingPosition(log, values, file);
    await postEach(eventsAfter(position, file, forwarding), `events after ${String(position.sequence)}`, forwarding);
  } finally {
    lock?.close();
  }
}

/** Posts events one after the other, each until the target takes it: one whose answer is lost is posted again. */
async function postEach(events: AsyncIterable<StoredEvent>, what: string, { url, mode, values, stop }: Forwarding) {
  const { follow = false, skipRefused = false } = values;
  const isTerminal = process.stderr.isTTY;
  const isWatched = follow && isTerminal;
  const target = new Target(url, mode, {
    most: follow ? Infinity : TRIES,
    longestPause: isTerminal ? SHORT_PAUSE : LONGEST_PAUSE,
    report: (problem, pause) => console.error(`${problem} Trying again in ${(pause / 1000).toFixed(1)} s.`),
  });
  console.error(`Forwarding the ${what} to ${url.origin}.`);
  let [delivered, skipped] = [0, 0];
  try {
    for await (const event of events) {
      const { outcome, text } = await target.post(event, stop);
      if (outcome === 'stopped') break;
      if (outcome === 'delivered') {
        delivered++;
        if (isTerminal) console.error(`${eventLine(event)}  ${text}`);
        continue;
      }
      if (outcome === 'redirected' && !isWatched) throw refused(text);
      if (outcome === 'refused' && !isWatched && !skipRefused)
        throw refused(`${text} (--skip-refused passes over such events.)`);
      skipped++;
      console.error(text);
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    const passedOver = skipped === 0 ? '' : `, ${String(skipped)} passed over`;
    console.error(`${counted(delivered, 'event')} forwarded${passedOver}.`);
  }
  if (stop.aborted && !follow) throw stop.reason;
  return { delivered, skipped };
}

/** Returns the position in the file or, if there is none yet, that of `--since` or of the end of the log. */
async function startingPosition(log: ReadableLog, { since }: Values, file: PositionFile | undefined) {
  let position = await file?.read();
  if (position === undefined) {
    const sequence = await positionBefore(log, since);
    position = { sequence, event: (await log.scan({ position: sequence, limit: 1 }))[0] };
  }
  const change = await LogChange.at(log, position.sequence, position.event);
  if (change !== undefined) refuseChange(change, position.sequence);
  // A forwarder that is killed before its first event must not begin later the next time.
  await file?.write(position);
  return position;
}

/** Reads the chosen events after a position, and keeps that of each once the next one is asked for: then it has been posted. */
async function* eventsAfter(
  { sequence: after, event }: ForwardPosition,
  file: PositionFile | undefined,
  { log, values: { follow = false, ...filter }, stop }: Forwarding,
): AsyncGenerator<StoredEvent> {
  const isChosen = matcherOf(filter);
  let reached = after;
  for await (const page of follow ? log.follow({ after, event }, stop, refuseChange) : log.pages({ after })) {
    if (stop.aborted) return;
    const missing = page[0] && (await missingBetween(log, reached, page[0].position));
    if (missing !== undefined) console.error(missing);
    for (const [i, each] of page.entries()) {
      if (isChosen(each)) yield each;
      // The next time it need not look at those before the last again.
      else if (i < page.length - 1) continue;
      reached = each.position;
      await file?.write({ sequence: reached, event: each });
    }
  }
}
