import type { StoredEvent } from '../../events/stored-event';
import type { EventLog } from '../../log/event-log';
import type { ForwardTask } from '../events-task';
import { ForwardProgress } from '../progress';
import { endOf, eventAt, followedPages, pagesOf, type Change, type Start } from '../scan';
import { selectedEvents, type Selection } from '../selection';
import { stopSignal } from '../terminal';
import { missingBetween, otherLog, requireSame } from './continuity';
import { PositionFile, type Position } from './position';
import { Target } from './target';

/** How often a person who watches is told how far behind forwarding is, in milliseconds. */
const LIVE_INTERVAL = 1000;

/** Thrown when the target does not take an event and never will; the message is one line and says what to do. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/**
 * Posts events to an address, one after the other in the order of the log, each until the target has taken it: at least once, since
 * an event whose answer was lost is posted again. SIGINT or SIGTERM ends it after the attempt that is under way.
 *
 * @throws {RefusedError} the target refused an event, or answered with a redirect.
 */
export async function forwardEvents(log: EventLog, task: ForwardTask): Promise<void> {
  const stop = stopSignal();
  const progress = new ForwardProgress();
  const target = new Target(task.target, task, progress);
  try {
    if (task.selection !== undefined) await forwardSelected(log, task.selection, { target, progress, stop });
    else await forwardOn(log, task, { target, progress, stop });
  } finally {
    target.close();
  }
  if (stop.aborted && !task.follow) throw stop.reason;
}

interface Way {
  readonly target: Target;
  readonly progress: ForwardProgress;
  readonly stop: AbortSignal;
}

/**
 * Posts the selected events, and goes on after those that are missing or refused.
 *
 * @throws some were missing or refused, or the target answered with a redirect.
 */
async function forwardSelected(log: EventLog, selection: Selection, { target, progress, stop }: Way): Promise<void> {
  let isFound = false;
  let isWhole = true;
  const leaveOut = (problem: string): void => {
    isWhole = false;
    progress.report(problem);
  };
  try {
    progress.report(`Forwarding the selected events to ${target.name}.`);
    for await (const event of selectedEvents(log, selection, stop, leaveOut)) {
      isFound = true;
      const delivery = await target.post(event, stop);
      if (delivery.outcome === 'redirected') throw new Error(delivery.reason);
      if (delivery.outcome === 'refused') {
        leaveOut(delivery.reason);
        progress.skipped();
      }
      if (stop.aborted) break;
    }
  } finally {
    progress.end();
  }
  if (stop.aborted) return;
  if (!isWhole) throw new Error('Some of the events were not found or not taken.');
  if (!isFound) throw new Error('No event was found.');
}

/** Posts the events after a position, and keeps how far it came. */
async function forwardOn(log: EventLog, task: ForwardTask, way: Way): Promise<void> {
  const { progress, target, stop } = way;
  const file = task.position === undefined ? undefined : new PositionFile(task.position);
  const saved = await file?.read();
  const position = saved ?? (await firstPosition(log, task.since));
  await requireSame(log, position);
  // A forwarder that is killed before its first event must not begin later the next time.
  await file?.write(position);
  const forwarder = new Forwarder({ ...task, ...way, log, file }, position, saved !== undefined);
  try {
    progress.report(`Forwarding the events after ${String(position.sequence)} to ${target.name}.`);
    await forwarder.forward(stop);
  } finally {
    progress.end();
  }
}

async function firstPosition(log: EventLog, start: Start | undefined): Promise<Position> {
  const { after, since } = start ?? (await endOf(log));
  return { sequence: after, since, event: await eventAt(log, after) };
}

interface Parts extends Way, Pick<ForwardTask, 'follow' | 'skipRefused'> {
  readonly log: EventLog;
  readonly file: PositionFile | undefined;
}

class Forwarder {
  readonly #parts: Parts;
  #position: Position;
  /** Whether all events after the position are meant to be forwarded, so that one that is missing is worth a word. */
  #isExact: boolean;

  constructor(parts: Parts, position: Position, isSaved: boolean) {
    this.#parts = parts;
    this.#position = position;
    this.#isExact = position.sequence > 0n || (isSaved && position.since === undefined);
  }

  async forward(stop: AbortSignal): Promise<void> {
    const { log, follow } = this.#parts;
    const { sequence: after, since, event } = this.#position;
    const start = { after, since, event };
    const live = this.#showBehind();
    try {
      for await (const page of follow ? followedPages(log, start, stop, refuseChange) : pagesOf(log, start)) {
        await this.#look(page);
        for (const event of page) {
          if (stop.aborted || !(await this.#take(event, stop))) return;
        }
      }
    } finally {
      clearInterval(live);
    }
  }

  /** Looks at a page before its events are forwarded: does it follow on the position? */
  async #look([first]: readonly StoredEvent[]): Promise<void> {
    const { log, progress } = this.#parts;
    const { sequence } = this.#position;
    if (first === undefined || !this.#isExact) return;
    const missing = await missingBetween(log, sequence, BigInt(first.sequence));
    if (missing !== undefined) progress.report(missing);
  }

  /** Resolves to false where the forwarder was stopped before the event was delivered. */
  async #take(event: StoredEvent, stop: AbortSignal): Promise<boolean> {
    const { progress, skipRefused, target } = this.#parts;
    const delivery = await target.post(event, stop);
    if (delivery.outcome === 'stopped') return false;
    if (delivery.outcome === 'redirected') throw new RefusedError(delivery.reason);
    if (delivery.outcome === 'refused') {
      if (!skipRefused) throw new RefusedError(`${delivery.reason} (--skip-refused passes over such events.)`);
      progress.report(delivery.reason);
      progress.skipped();
    }
    await this.#moveTo(event);
    return true;
  }

  async #moveTo(event: StoredEvent): Promise<void> {
    const { sequence, id, recordedAt } = event;
    this.#position = { ...this.#position, sequence: BigInt(sequence), event: { id, recordedAt } };
    this.#isExact = true;
    await this.#parts.file?.write(this.#position);
  }

  #showBehind(): NodeJS.Timeout | undefined {
    const { log, progress } = this.#parts;
    if (!progress.isLive) return undefined;
    const show = async (): Promise<void> => {
      const { after: newest } = await endOf(log);
      const { sequence } = this.#position;
      progress.behind(newest > sequence ? Number(newest - sequence) : 0);
    };
    // Reading fails where forwarding does, which says why.
    return setInterval(() => void show().catch(() => undefined), LIVE_INTERVAL);
  }
}

function refuseChange(change: Change, position: bigint): never {
  throw otherLog(change, position);
}
