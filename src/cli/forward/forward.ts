import type { StoredEvent } from '../../events/stored-event';
import type { PostingMode } from './message';
import { SHORT_PAUSE, Target, TRIES } from './target';
import { LogChange, type ReadableLog } from '../../log/readable-log';
import type { EventSelection, Values } from '../events-options';
import { matcherOf, positionBefore, selectedEvents } from '../tool-log';
import { counted, eventLine } from '../terminal';
import { missingBetween, PositionFile, refuseChange } from './position';

/** Returns the error for an event that a target does not take and never will; the text is one line and says what to do. */
const refused = (text: string) => Object.assign(new Error(text), { exitCode: 3 });

/** The longest pause between two tries when nobody is watching, in milliseconds. */
const LONGEST_PAUSE = 60_000;

/**
 * Posts events to an address, in the order of the log, and each until the target takes it: at least once, since an event whose answer
 * was lost is posted again.
 *
 * @param selection - only some events, once each; leaves the position alone.
 * @param stop - ends it after the attempt that is under way.
 * @throws the target refused an event, or answered with a redirect: with an exit code of its own.
 * @throws it took one in none of the tries, or selected events are missing or refused.
 */
export async function forwardEvents(
  log: ReadableLog,
  url: URL,
  mode: PostingMode,
  selection: EventSelection | undefined,
  values: Values,
  stop: AbortSignal,
): Promise<void> {
  const { follow = false, skipRefused = false } = values;
  // Nothing is posted if the position is not of this log.
  const source = selection ?? (await keptPosition(log, values));
  const kept = 'position' in source ? source : undefined;
  const isTerminal = process.stderr.isTTY;
  const isWatched = follow && isTerminal;
  const target = new Target(url, mode, {
    most: follow ? Infinity : TRIES,
    longestPause: isTerminal ? SHORT_PAUSE : LONGEST_PAUSE,
    report: (problem, pause) => console.error(`${problem} Trying again in ${(pause / 1000).toFixed(1)} s.`),
  });
  const what = kept === undefined ? 'selected events' : `events after ${String(kept.position.sequence)}`;
  console.error(`Forwarding the ${what} to ${url.origin}.`);
  let [delivered, skipped, missing] = [0, 0, 0];
  const leaveOut = (problem: string): void => {
    missing++;
    console.error(problem);
  };
  const events =
    'position' in source ? eventsAfter(log, source, values, stop) : selectedEvents(log, source, stop, leaveOut);
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
      if (outcome === 'refused' && kept !== undefined && !isWatched && !skipRefused)
        throw refused(`${text} (--skip-refused passes over such events.)`);
      skipped++;
      console.error(text);
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    kept?.lock?.close();
    const passedOver = skipped === 0 ? '' : `, ${String(skipped)} passed over`;
    console.error(`${counted(delivered, 'event')} forwarded${passedOver}.`);
  }
  if (stop.aborted && !follow) throw stop.reason;
  if (kept !== undefined) return;
  if (missing + skipped > 0) throw new Error('Some of the events were not found or not taken.');
  if (delivered === 0) throw new Error('No event was found.');
}

/**
 * Reads the position after which forwarding begins, and keeps other forwarders from it.
 *
 * @throws another forwarder goes on from it, the file is damaged, or its position is not one of this log.
 */
async function keptPosition(log: ReadableLog, { position: name, since }: Values) {
  const file = name === undefined ? undefined : new PositionFile(name);
  const lock = await file?.lock();
  let position = await file?.read();
  if (position === undefined) {
    const sequence = await positionBefore(log, since);
    position = { sequence, event: (await log.scan({ position: sequence, limit: 1 }))[0] };
  }
  const change = await LogChange.at(log, position.sequence, position.event);
  if (change !== undefined) refuseChange(change, position.sequence);
  // A forwarder that is killed before its first event must not begin later the next time.
  await file?.write(position);
  return { file, lock, position };
}

/** Reads the chosen events after a position, and keeps that of each once the next one is asked for: then it has been posted. */
async function* eventsAfter(
  log: ReadableLog,
  { file, position: { sequence: after, event } }: Awaited<ReturnType<typeof keptPosition>>,
  { follow = false, ...filter }: Values,
  stop: AbortSignal,
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
