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

/** Reports forwarding on standard error, in lines. On a terminal there is a line for each event. */
class ForwardProgress {
  readonly isTerminal = process.stderr.isTTY;
  #delivered = 0;
  #skipped = 0;

  end(): void {
    const skipped = this.#skipped === 0 ? '' : `, ${String(this.#skipped)} passed over`;
    console.error(`${eventsText(this.#delivered)} forwarded${skipped}.`);
  }

  /** Counts an event that was delivered; on a terminal it prints the event and the answer. */
  delivered(event: StoredEvent, answer: string): void {
    this.#delivered++;
    if (this.isTerminal) console.error(`${eventLine(event)}  ${answer}`);
  }

  /** Counts an event that was passed over, and prints the reason. */
  skipped(reason: string): void {
    this.#skipped++;
    console.error(reason);
  }

  /** Says why an attempt failed, and waits for the next one: for a time, on a terminal for Enter, or for the signal. */
  async again(problem: string, pause: number, stop: AbortSignal): Promise<void> {
    const { stdin } = process;
    const canAsk = this.isTerminal && stdin.isTTY;
    console.error(
      `${problem} Trying again in ${(pause / 1000).toFixed(1)} s${canAsk ? ', or at once with Enter' : ''}.`,
    );
    const enter = new AbortController();
    const wake = (): void => {
      enter.abort();
    };
    if (canAsk) stdin.once('data', wake).resume();
    await setTimeout(pause, undefined, { signal: AbortSignal.any([stop, enter.signal]) }).catch(() => undefined);
    if (canAsk) stdin.off('data', wake).pause();
  }
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
 * @throws it took one in none of the tries.
 */
export async function forwardEvents(
  log: ReadableLog,
  url: URL,
  form: PostedForm,
  selection: EventSelection | undefined,
  values: Values,
  stop: AbortSignal,
): Promise<void> {
  const { follow = false, tries = TRIES } = values;
  // Nothing is posted if the position is not of this log.
  const kept = selection === undefined ? await keptPosition(log, values) : undefined;
  const progress = new ForwardProgress();
  const target = new Target(url, form, {
    most: follow ? Infinity : tries,
    longestPause: progress.isTerminal ? LONGEST_PAUSE_ON_TERMINAL : LONGEST_PAUSE,
    wait: (problem, pause) => progress.again(problem, pause, stop),
  });
  const what = kept === undefined ? 'selected events' : `events after ${String(kept.position.sequence)}`;
  console.error(`Forwarding the ${what} to ${url.origin}.`);
  try {
    if (selection !== undefined) await forwardSelected(log, target, progress, selection, stop);
    else if (kept !== undefined) await forwardAfter(log, target, progress, kept, values, stop);
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    kept?.file?.unlock();
    progress.end();
  }
  if (stop.aborted && !follow) throw stop.reason;
}

/**
 * Posts the selected events, and goes on after those that are missing or refused.
 *
 * @throws some were missing or refused, or the target redirects or takes none.
 */
async function forwardSelected(
  log: ReadableLog,
  target: Target,
  progress: ForwardProgress,
  selection: EventSelection,
  stop: AbortSignal,
): Promise<void> {
  let isFound = false;
  let isWhole = true;
  const leaveOut = (problem: string): void => {
    isWhole = false;
    console.error(problem);
  };
  for await (const event of selectedEvents(log, selection, stop, leaveOut)) {
    isFound = true;
    const { outcome, text } = await target.post(event, stop);
    if (outcome === 'redirected' || outcome === 'failed') throw new Error(text);
    if (outcome === 'delivered') progress.delivered(event, text);
    else if (outcome !== 'stopped') {
      isWhole = false;
      progress.skipped(text);
    }
    if (stop.aborted) return;
  }
  if (!isWhole) throw new Error('Some of the events were not found or not taken.');
  if (!isFound) throw new Error('No event was found.');
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
    position = { sequence, event: (await log.read({ position: sequence, limit: 1 }))[0] };
  }
  const change = await LogChange.at(log, position.sequence, position.event);
  if (change !== undefined) refuseChange(change, position.sequence);
  // A forwarder that is killed before its first event must not begin later the next time.
  await file?.write(position);
  return { file, position };
}

/** Posts the events after a position, and keeps the position of the last. */
async function forwardAfter(
  log: ReadableLog,
  target: Target,
  progress: ForwardProgress,
  { file, position: { sequence: after, event } }: Awaited<ReturnType<typeof keptPosition>>,
  { follow = false, skipRefused = false, ...filter }: Values,
  stop: AbortSignal,
): Promise<void> {
  const isWatched = follow && progress.isTerminal;
  const isChosen = matcherOf(filter);
  let reached = after;
  const moveTo = async ({ position, id, recordedAt }: StoredEvent): Promise<void> => {
    reached = position;
    await file?.write({ sequence: position, event: { id, recordedAt } });
  };
  for await (const page of follow ? log.follow({ after, event }, stop, refuseChange) : log.pages({ after })) {
    const missing = page[0] && (await missingBetween(log, reached, page[0].position));
    if (missing !== undefined) console.error(missing);
    let passed: StoredEvent | undefined;
    for (const each of page) {
      if (stop.aborted) return;
      passed = isChosen(each) ? undefined : each;
      if (passed !== undefined) continue;
      const { outcome, text } = await target.post(each, stop);
      if (outcome === 'stopped') return;
      if (outcome === 'failed') throw new Error(text);
      if (outcome === 'redirected' && !isWatched) throw new RefusedError(text);
      if (outcome === 'refused' && !isWatched && !skipRefused)
        throw new RefusedError(`${text} (--skip-refused passes over such events.)`);
      if (outcome === 'delivered') progress.delivered(each, text);
      else progress.skipped(text);
      await moveTo(each);
    }
    // The next time it need not look at these again.
    if (passed !== undefined) await moveTo(passed);
  }
}
