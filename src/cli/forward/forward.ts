import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { StoredEvent } from '../../events/stored-event';
import type { PostedForm } from './message';
import { Target } from './target';
import { LogChange, type ReadableLog } from '../../log/readable-log';
import type { Values } from '../events-options';
import { matcherOf, positionBefore, selectedEvents, type EventSelection } from '../tool-log';
import { eventLine, eventsText } from '../terminal';
import { missingBetween, PositionFile, refuseChange } from './position';

/** Thrown when a target does not take an event and never will; the message is one line and says what to do. */
class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly exitCode = 3;
}

/** How often an event is posted without --follow. */
const TRIES = 3;

/** The longest pause between two tries, in milliseconds. It is shorter on a terminal, where a person is waiting. */
const LONGEST_PAUSE = 60_000;
const LONGEST_PAUSE_ON_TERMINAL = 2000;

/**
 * Posts events to an address, in the order of the log, and each until the target takes it: at least once, since an event whose answer
 * was lost is posted again.
 *
 * @param selection - only some events, once each; leaves the position alone.
 * @param stop - ends it after the attempt that is under way.
 * @throws {RefusedError} the target refused an event, or answered with a redirect.
 * @throws it took one in none of the tries, or selected events are missing or refused.
 */
export async function forwardEvents(
  log: ReadableLog,
  url: URL,
  form: PostedForm,
  selection: EventSelection | undefined,
  values: Values,
  stop: AbortSignal,
): Promise<void> {
  const { follow = false, tries = TRIES, skipRefused = false } = values;
  // Nothing is posted if the position is not of this log.
  const source = selection ?? (await keptPosition(log, values));
  const kept = 'position' in source ? source : undefined;
  const isTerminal = process.stderr.isTTY;
  const isWatched = follow && isTerminal;
  const target = new Target(url, form, {
    most: follow ? Infinity : tries,
    longestPause: isTerminal ? LONGEST_PAUSE_ON_TERMINAL : LONGEST_PAUSE,
    wait: (problem, pause) => again(problem, pause, stop),
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
      if (stop.aborted) break;
      const { outcome, text } = await target.post(event, stop);
      if (outcome === 'stopped') break;
      if (outcome === 'delivered') {
        delivered++;
        if (isTerminal) console.error(`${eventLine(event)}  ${text}`);
        continue;
      }
      if (outcome === 'redirected' && !isWatched) throw new RefusedError(text);
      if (outcome === 'refused' && kept !== undefined && !isWatched && !skipRefused)
        throw new RefusedError(`${text} (--skip-refused passes over such events.)`);
      skipped++;
      console.error(text);
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    kept?.file?.unlock();
    const passedOver = skipped === 0 ? '' : `, ${String(skipped)} passed over`;
    console.error(`${eventsText(delivered)} forwarded${passedOver}.`);
  }
  if (stop.aborted && !follow) throw stop.reason;
  if (kept !== undefined) return;
  if (missing + skipped > 0) throw new Error('Some of the events were not found or not taken.');
  if (delivered === 0) throw new Error('No event was found.');
}

/** Says why an attempt failed, and waits for the next one: for a time, on a terminal for Enter, or for the signal. */
async function again(problem: string, pause: number, stop: AbortSignal): Promise<void> {
  const { stdin, stderr } = process;
  const canAsk = stderr.isTTY && stdin.isTTY;
  console.error(`${problem} Trying again in ${(pause / 1000).toFixed(1)} s${canAsk ? ', or at once with Enter' : ''}.`);
  const over = new AbortController();
  const signal = AbortSignal.any([stop, over.signal]);
  const enter = canAsk ? [once(stdin.resume(), 'data', { signal })] : [];
  await Promise.race([setTimeout(pause, undefined, { signal }), ...enter]).catch(() => undefined);
  over.abort();
  if (canAsk) stdin.pause();
}

/**
 * Reads the position after which forwarding begins, and keeps other forwarders from it.
 *
 * @throws another forwarder goes on from it, the file is damaged, or its position is not one of this log.
 */
async function keptPosition(log: ReadableLog, { position: name, since }: Values) {
  const file = name === undefined ? undefined : new PositionFile(name);
  await file?.lock();
  let position = await file?.read();
  if (position === undefined) {
    const sequence = await positionBefore(log, since);
    position = { sequence, event: (await log.scan({ position: sequence, limit: 1 }))[0] };
  }
  const change = await LogChange.at(log, position.sequence, position.event);
  if (change !== undefined) refuseChange(change, position.sequence);
  // A forwarder that is killed before its first event must not begin later the next time.
  await file?.write(position);
  return { file, position };
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
