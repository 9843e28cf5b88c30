import type { StoredEvent } from '../../events/stored-event';
import type { Start } from '../../log/log-reader';
import type { ReadableLog } from '../../log/readable-log';
import { endOf, matcherOf, positionBefore, selectedEvents, type EventFilter, type EventSelection } from '../scan';
import type { PostedForm } from './message';
import type { MetricsAddress, MetricsServer } from './metrics';
import { missingBetween, PositionFile, refuseChange, type ForwardPosition } from './position';
import { ForwardProgress } from './progress';
import { Target } from './target';

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
  /** Whether to go on after an event that the target refused. */
  readonly skipRefused: boolean;
  /** Where the figures are served, if anywhere. */
  readonly metrics?: MetricsAddress | undefined;
}

/** Thrown when a target does not take an event and never will; the message is one line and says what to do. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/**
 * Posts events to an address, in the order of the log, and each until the target takes it: at least once, since an event whose answer
 * was lost is posted again.
 *
 * @param stop - ends it after the attempt that is under way.
 * @throws {RefusedError} the target refused an event, or answered with a redirect.
 */
export async function forwardEvents(log: ReadableLog, task: ForwardTask, stop: AbortSignal): Promise<void> {
  const { selection } = task;
  // Nothing is posted if the position is not of this log.
  const kept = selection === undefined ? await keptPosition(log, task) : undefined;
  // Paths and queries of webhooks hold secrets, as users and passwords do.
  const target = new Target(new ForwardProgress(task.url.origin), task.url, task);
  let metrics: MetricsServer | undefined;
  try {
    metrics = task.metrics && (await startMetrics(target.progress, task.metrics));
    if (selection !== undefined) await forwardSelected(log, target, selection, stop);
    else if (kept !== undefined) await new Forwarder(log, target, task, kept).forward(stop);
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    kept?.file?.unlock();
    target.progress.end();
    await metrics?.close();
  }
  if (stop.aborted && !task.follow) throw stop.reason;
}

/** Loads what serves metrics only if they are wanted. */
async function startMetrics(progress: ForwardProgress, address: MetricsAddress): Promise<MetricsServer> {
  const { serveMetrics } = await import('./metrics.js');
  const server = await serveMetrics(progress, address);
  progress.report(`Figures at ${server.url}.`);
  return server;
}

/**
 * Posts the selected events, and goes on after those that are missing or refused.
 *
 * @throws some were missing or refused, or the target answered with a redirect.
 */
async function forwardSelected(
  log: ReadableLog,
  target: Target,
  selection: EventSelection,
  stop: AbortSignal,
): Promise<void> {
  const { progress } = target;
  let isFound = false;
  let isWhole = true;
  progress.report(`Forwarding the selected events to ${progress.name}.`);
  const leaveOut = (problem: string): void => {
    isWhole = false;
    progress.report(problem);
  };
  for await (const event of selectedEvents(log, selection, stop, leaveOut)) {
    isFound = true;
    const { outcome, reason } = await target.post(event, stop);
    if (outcome === 'redirected') throw new Error(reason);
    if (reason !== undefined) {
      isWhole = false;
      progress.skipped(reason);
    }
    if (stop.aborted) return;
  }
  if (stop.aborted) return;
  if (!isWhole) throw new Error('Some of the events were not found or not taken.');
  if (!isFound) throw new Error('No event was found.');
}

/** The position after which forwarding to a target begins, and the file that keeps it. */
interface KeptPosition {
  readonly file: PositionFile | undefined;
  readonly position: ForwardPosition;
}

/**
 * Reads the position, and keeps other forwarders from it.
 *
 * @throws another forwarder goes on from it, the file is damaged, or its position is not one of this log.
 */
async function keptPosition(log: ReadableLog, { position: name, since }: ForwardTask): Promise<KeptPosition> {
  const file = name === undefined ? undefined : new PositionFile(name);
  await file?.lock();
  const position = (await file?.read()) ?? (await firstPosition(log, since ?? (await endOf(log))));
  const { sequence, event } = position;
  const change = await log.changeAt(sequence, event);
  if (change !== undefined) refuseChange(change, sequence);
  // A forwarder that is killed before its first event must not begin later the next time.
  await file?.write(position);
  return { file, position };
}

async function firstPosition(log: ReadableLog, start: Start): Promise<ForwardPosition> {
  const sequence = await positionBefore(log, start);
  return { sequence, event: await log.at(sequence) };
}

/** Posts the events after a position to a target, and keeps its position. */
class Forwarder {
  readonly #log: ReadableLog;
  readonly #target: Target;
  readonly #task: ForwardTask;
  readonly #file: PositionFile | undefined;
  readonly #isChosen: (event: StoredEvent) => boolean;
  #position: ForwardPosition;

  constructor(log: ReadableLog, target: Target, task: ForwardTask, { file, position }: KeptPosition) {
    this.#log = log;
    this.#target = target;
    this.#task = task;
    this.#file = file;
    this.#position = position;
    this.#isChosen = matcherOf(task.filter ?? { headers: [] });
  }

  async forward(stop: AbortSignal): Promise<void> {
    const { progress } = this.#target;
    const { sequence: after, event } = this.#position;
    progress.report(`Forwarding the events after ${String(after)} to ${progress.name}.`);
    progress.begin(this.#log, after);
    const start = { after, event };
    const pages = this.#task.follow ? this.#log.follow(start, stop, refuseChange) : this.#log.pages(start);
    for await (const page of pages) {
      await this.#reportMissing(page);
      let passed: StoredEvent | undefined;
      for (const event of page) {
        passed = this.#isChosen(event) ? undefined : event;
        if (stop.aborted || (passed === undefined && !(await this.#take(event, stop)))) return;
      }
      // The next time it need not look at these again.
      if (passed !== undefined) await this.#moveTo(passed);
    }
  }

  /** Reports the events that are missing between the position and a page. */
  async #reportMissing([first]: readonly StoredEvent[]): Promise<void> {
    if (first === undefined) return;
    const missing = await missingBetween(this.#log, this.#position.sequence, first.position);
    if (missing !== undefined) this.#target.progress.report(missing);
  }

  /** Resolves to false if the forwarder was stopped before the event was delivered. */
  async #take(event: StoredEvent, stop: AbortSignal): Promise<boolean> {
    const { progress } = this.#target;
    const { outcome, reason } = await this.#target.post(event, stop);
    if (outcome === 'stopped') return false;
    if (outcome === 'redirected') throw new RefusedError(reason);
    if (outcome === 'refused' && !this.#task.skipRefused)
      throw new RefusedError(`${reason} (--skip-refused passes over such events.)`);
    if (reason !== undefined) progress.skipped(reason);
    await this.#moveTo(event);
    return true;
  }

  async #moveTo(event: StoredEvent): Promise<void> {
    const { position, id, recordedAt } = event;
    this.#position = { sequence: position, event: { id, recordedAt } };
    this.#target.progress.position = position;
    await this.#file?.write(this.#position);
  }
}
