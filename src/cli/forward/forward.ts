import type { StoredEvent } from '../../events/stored-event';
import type { Start } from '../../log/log-reader';
import type { ReadableLog } from '../../log/readable-log';
import { endOf, matcherOf, positionBefore, selectedEvents, type EventFilter, type Selection } from '../scan';
import type { PostedForm } from './message';
import type { MetricsAddress, MetricsServer } from './metrics';
import { missingBetween, PositionFile, refuseChange, targetKey, type ForwardPosition } from './position';
import { ForwardProgress } from './progress';
import { Target } from './target';

/** Posting events to addresses. */
export interface ForwardTask extends PostedForm {
  /** At least one: an http or https address, which may hold a user and a password, and the file that keeps its position. */
  readonly targets: readonly { readonly url: URL; readonly position: string | undefined }[];
  /** The start; by default the events that are yet to be recorded. A position that was kept comes first. */
  readonly since: Start | undefined;
  /** Whether to continue with events as they are recorded. */
  readonly follow: boolean;
  /** Only some events, once each; by default those from `since` on. Leaves the positions alone. */
  readonly selection: Selection | undefined;
  /** Which events are posted of those that are recorded; the others are passed over without a word. */
  readonly filter?: EventFilter | undefined;
  /** Whether to go on after an event that the target refused. */
  readonly skipRefused: boolean;
  /** Where the figures of the targets are served, if anywhere. */
  readonly metrics?: MetricsAddress | undefined;
}

/** Thrown when a target did not get all events, while others may; the message is one line. */
class TargetError extends Error {
  override readonly name: string = 'TargetError';
}

/** Thrown when a target does not take an event and never will; the message is one line and says what to do. */
export class RefusedError extends TargetError {
  override readonly name = 'RefusedError';
}

/**
 * Posts events to one or more addresses, to each in the order of the log, and each event until the target takes it: at least once,
 * since an event whose answer was lost is posted again. No target waits for another.
 *
 * @param stop - ends it after the attempts that are under way.
 * @throws {RefusedError} a target refused an event, or answered with a redirect; the others had all theirs.
 */
export async function forwardEvents(log: ReadableLog, task: ForwardTask, stop: AbortSignal): Promise<void> {
  const { selection } = task;
  // Nothing is posted to any target if the position of one is not of this log.
  const kept = selection === undefined ? await keptPositions(log, task) : [];
  const progress = new ForwardProgress(task.targets.map((_target, i) => nameOf(i, task.targets)));
  const missing = onlyOnce(progress.report);
  const targets = progress.targets.flatMap((each, i) => {
    const url = task.targets[i]?.url;
    return url === undefined ? [] : new Target(each, url, task);
  });
  let metrics: MetricsServer | undefined;
  try {
    metrics = task.metrics && (await startMetrics(progress, task.metrics));
    await forEach(targets, stop, async (target, i, signal) => {
      const position = kept[i];
      if (selection !== undefined) await forwardSelected(log, target, selection, signal, missing);
      else if (position !== undefined) await new Forwarder(log, target, task, position).forward(signal);
    });
  } finally {
    for (const { file } of kept) file?.unlock();
    progress.end();
    await metrics?.close();
  }
  if (stop.aborted && !task.follow) throw stop.reason;
}

/** Loads what serves metrics only if they are wanted. */
async function startMetrics(progress: ForwardProgress, address: MetricsAddress): Promise<MetricsServer> {
  const { serveMetrics } = await import('./metrics.js');
  const server = await serveMetrics(progress.targets, address);
  progress.report(`Figures at ${server.url}.`);
  return server;
}

/**
 * The name of a target in messages: its origin, with the number of the address if several have that origin. Paths and queries of
 * webhooks hold secrets, as users and passwords do.
 */
function nameOf(index: number, targets: ForwardTask['targets']): string {
  const origin = targets[index]?.url.origin ?? '';
  const isOnly = targets.filter(({ url }) => url.origin === origin).length === 1;
  return isOnly ? origin : `${origin} (address ${String(index + 1)})`;
}

/** Drops lines that were reported before. */
function onlyOnce(report: (line: string) => void): (line: string) => void {
  const reported = new Set<string>();
  return (line) => {
    if (!reported.has(line)) report(line);
    reported.add(line);
  };
}

/** Works on all targets at the same time. A {@link TargetError} does not end the work on the others; any other error does. */
async function forEach(
  targets: readonly Target[],
  stop: AbortSignal,
  work: (target: Target, index: number, stop: AbortSignal) => Promise<void>,
): Promise<void> {
  const failure = new AbortController();
  const signal = AbortSignal.any([stop, failure.signal]);
  const incomplete: TargetError[] = [];
  const results = await Promise.allSettled(
    targets.map(async (target, i) => {
      const { progress } = target;
      try {
        await work(target, i, signal);
      } catch (error) {
        if (stop.aborted) return;
        if (!(error instanceof TargetError)) {
          failure.abort();
          throw error;
        }
        incomplete.push(error);
        if (targets.length === 1) return;
        progress.report(error.message);
        progress.report(`Forwarding to ${progress.name} has ended. The other targets go on.`);
      }
    }),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  const [first] = incomplete;
  if (first === undefined) return;
  if (targets.length === 1) throw first;
  const summary = `${String(incomplete.length)} of ${String(targets.length)} targets did not get all events.`;
  throw first instanceof RefusedError ? new RefusedError(summary) : new TargetError(summary);
}

/**
 * Posts the selected events, and goes on after those that are missing or refused.
 *
 * @param missing - reports an event that no target can get.
 * @throws {TargetError} some were missing or refused, or the target answered with a redirect.
 */
async function forwardSelected(
  log: ReadableLog,
  target: Target,
  selection: Selection,
  stop: AbortSignal,
  missing: (line: string) => void,
): Promise<void> {
  const { progress } = target;
  let isFound = false;
  let isWhole = true;
  progress.report(`Forwarding the selected events to ${progress.name}.`);
  const leaveOut = (problem: string): void => {
    isWhole = false;
    missing(problem);
  };
  for await (const event of selectedEvents(log, selection, stop, leaveOut)) {
    isFound = true;
    const { outcome, reason } = await target.post(event, stop);
    if (outcome === 'redirected') throw new TargetError(reason);
    if (reason !== undefined) {
      isWhole = false;
      progress.skipped(reason);
    }
    if (stop.aborted) return;
  }
  if (stop.aborted) return;
  if (!isWhole) throw new TargetError('Some of the events were not found or not taken.');
  if (!isFound) throw new TargetError('No event was found.');
}

/** The position after which forwarding to a target begins, and the file that keeps it. */
interface KeptPosition {
  readonly file: PositionFile | undefined;
  readonly position: ForwardPosition;
}

/**
 * Reads the positions of all targets, and keeps other forwarders from them.
 *
 * @throws another forwarder goes on from one, a file is damaged, or its position is not one of this log, or that of another target.
 */
async function keptPositions(log: ReadableLog, { targets, since }: ForwardTask): Promise<KeptPosition[]> {
  const first = await firstPosition(log, since ?? (await endOf(log)));
  const keys = targets.map(({ url }) => targetKey(url));
  const kept: KeptPosition[] = [];
  for (const { url, position: name } of targets) {
    const target = targetKey(url);
    const file = name === undefined ? undefined : new PositionFile(name);
    await file?.lock();
    const saved = await file?.read();
    // A file of an address that is not among these is that of a target that has moved.
    if (saved?.target !== undefined && saved.target !== target && keys.includes(saved.target))
      throw new Error(`${name ?? ''} is the --position of another address. Give both in the same order.`);
    const { sequence, event, since: from } = saved ?? first;
    const change = await log.changeAt(sequence, event);
    if (change !== undefined) refuseChange(change, sequence);
    const position =
      from === undefined ? { sequence, event } : await firstPosition(log, { after: sequence, since: from });
    kept.push({ file, position: { ...position, target } });
  }
  // A forwarder that is killed before its first event must not begin later the next time.
  for (const { file, position } of kept) await file?.write(position);
  return kept;
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
    this.#position = { ...this.#position, sequence: position, event: { id, recordedAt } };
    this.#target.progress.position = position;
    await this.#file?.write(this.#position);
  }
}
