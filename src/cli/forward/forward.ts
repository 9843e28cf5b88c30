import type { StoredEvent } from '../../events/stored-event';
import type { PostedForm } from '../../forward/message';
import { Target } from '../../forward/target';
import type { Start } from '../../log/queries';
import { changeAt, type ReadableLog } from '../../log/readable-log';
import { endOf, matcherOf, positionBefore, selectedEvents, type EventFilter, type EventSelection } from '../scan';
import type { MetricsAddress } from './metrics';
import { missingBetween, PositionFile, refuseChange, type ForwardPosition } from './position';
import { ForwardProgress } from './progress';

/** Posting events to an address. */
export interface ForwardTask extends PostedForm {
  /** An http or https address, which may hold a user and a password. */
  readonly url: URL;
  /** The file that keeps the position. */
  readonly position: string | undefined;
  /** The start; by default the events that are yet to be recorded. A position that was kept comes first. */
  readonly since: Start | undefined;
  /** Whether to continue with events as they are recorded. */
  readonly follow: boolean;
  /** Only some events, once each; by default those from `since` on. Leaves the position alone. */
  readonly selection: EventSelection | undefined;
  /** Which events are posted of those that are recorded; the others are passed over without a word. */
  readonly filter?: EventFilter | undefined;
  /** Whether to go on after the target refuses an event. With `--follow` on a terminal it always goes on. */
  readonly skipRefused: boolean;
  /** How often an event is posted; those that are followed as often as needed. */
  readonly tries: number;
  /** Where the figures are served, if anywhere. */
  readonly metrics?: MetricsAddress | undefined;
}

/** Thrown when a target does not take an event and never will; the message is one line and says what to do. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** The longest pause between two tries, in milliseconds. It is shorter on a terminal, where a person is waiting. */
const LONGEST_PAUSE = 60_000;
const LONGEST_PAUSE_ON_TERMINAL = 2000;

/**
 * Posts events to an address, in the order of the log, and each until the target takes it: at least once, since an event whose answer
 * was lost is posted again.
 *
 * @param stop - ends it after the attempt that is under way.
 * @throws {RefusedError} the target refused an event, or answered with a redirect.
 * @throws it took one in none of the tries.
 */
export async function forwardEvents(log: ReadableLog, task: ForwardTask, stop: AbortSignal): Promise<void> {
  const { selection, url, follow } = task;
  // Nothing is posted if the position is not of this log.
  const kept = selection === undefined ? await keptPosition(log, task) : undefined;
  const progress = new ForwardProgress(url.origin);
  const target = new Target(url, task, {
    most: follow ? Infinity : task.tries,
    longestPause: progress.isTerminal ? LONGEST_PAUSE_ON_TERMINAL : LONGEST_PAUSE,
    wait: (problem, pause) => progress.again(problem, pause, stop),
  });
  const metrics = task.metrics && (await import('./metrics.js')).serveMetrics(progress, log, task.metrics);
  try {
    if (metrics !== undefined) progress.report(`Figures at ${(await metrics).url}.`);
    if (selection !== undefined) await forwardSelected(log, target, progress, selection, stop);
    else if (kept !== undefined) await forwardAfter(log, target, progress, kept, task, stop);
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    kept?.file?.unlock();
    progress.end();
    await (await metrics)?.close();
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
  progress.report(`Forwarding the selected events to ${progress.name}.`);
  const leaveOut = (problem: string): void => {
    isWhole = false;
    progress.report(problem);
  };
  for await (const event of selectedEvents(log, selection, stop, leaveOut)) {
    isFound = true;
    const delivery = await target.post(event, stop);
    const { outcome, text } = delivery;
    progress.attempted(event, delivery);
    if (outcome === 'redirected' || outcome === 'failed') throw new Error(text);
    if (outcome === 'refused' || outcome === 'damaged') {
      isWhole = false;
      progress.skipped(text);
    }
    if (stop.aborted) return;
  }
  if (stop.aborted) return;
  if (!isWhole) throw new Error('Some of the events were not found or not taken.');
  if (!isFound) throw new Error('No event was found.');
}

/**
 * Reads the position after which forwarding begins, and keeps other forwarders from it.
 *
 * @throws another forwarder goes on from it, the file is damaged, or its position is not one of this log.
 */
async function keptPosition(log: ReadableLog, { position: name, since }: ForwardTask): Promise<KeptPosition> {
  const file = name === undefined ? undefined : new PositionFile(name);
  await file?.lock();
  let position = await file?.read();
  if (position === undefined) {
    const sequence = await positionBefore(log, since ?? (await endOf(log)));
    position = { sequence, event: (await log.read({ position: sequence, limit: 1 }))[0] };
  }
  const change = await changeAt(log, position.sequence, position.event);
  if (change !== undefined) refuseChange(change, position.sequence);
  // A forwarder that is killed before its first event must not begin later the next time.
  await file?.write(position);
  return { file, position };
}

interface KeptPosition {
  readonly file: PositionFile | undefined;
  readonly position: ForwardPosition;
}

/** Posts the events after a position, and keeps the position of the last. */
async function forwardAfter(
  log: ReadableLog,
  target: Target,
  progress: ForwardProgress,
  { file, position: { sequence: after, event } }: KeptPosition,
  { follow, filter, skipRefused }: ForwardTask,
  stop: AbortSignal,
): Promise<void> {
  const skips = skipRefused || (follow && progress.isTerminal);
  const isChosen = matcherOf(filter ?? { headers: [] });
  let reached = after;
  const moveTo = async ({ position, id, recordedAt }: StoredEvent): Promise<void> => {
    reached = progress.position = position;
    await file?.write({ sequence: position, event: { id, recordedAt } });
  };
  progress.report(`Forwarding the events after ${String(after)} to ${progress.name}.`);
  progress.position = after;
  for await (const page of follow ? log.follow({ after, event }, stop, refuseChange) : log.pages({ after })) {
    const missing = page[0] && (await missingBetween(log, reached, page[0].position));
    if (missing !== undefined) progress.report(missing);
    let passed: StoredEvent | undefined;
    for (const each of page) {
      if (stop.aborted) return;
      passed = isChosen(each) ? undefined : each;
      if (passed !== undefined) continue;
      const delivery = await target.post(each, stop);
      const { outcome, text } = delivery;
      progress.attempted(each, delivery);
      if (outcome === 'stopped') return;
      if (outcome === 'failed') throw new Error(text);
      if (outcome === 'redirected') throw new RefusedError(text);
      if (outcome === 'refused' && !skips) throw new RefusedError(`${text} (--skip-refused passes over such events.)`);
      if (outcome !== 'delivered') progress.skipped(text);
      await moveTo(each);
    }
    // The next time it need not look at these again.
    if (passed !== undefined) await moveTo(passed);
  }
}
