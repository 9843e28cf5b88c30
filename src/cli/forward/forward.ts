import type { StoredEvent } from '../../events/stored-event';
import type { EventLog } from '../../log/event-log';
import type { ForwardTask } from '../events-task';
import { HttpClient } from '../http-client';
import { ForwardProgress } from '../progress';
import { endOf, followedPages, pagesOf, type Change, type Start } from '../scan';
import { stopSignal } from '../terminal';
import { eventAt, missingBetween, otherLog, requireSame } from './continuity';
import { deliver } from './delivery';
import { messageOf } from './message';
import { PositionFile, type Position } from './position';

/** The longest that an attempt may take, in milliseconds, its whole answer included. */
const ATTEMPT_TIMEOUT = 30_000;

/** The most bytes of an answer that are read: the connection of a longer one is closed. */
const MAX_ANSWER_BYTES = 64 * 1024;

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
  const file = task.position === undefined ? undefined : new PositionFile(task.position);
  const saved = await file?.read();
  const position = saved ?? (await firstPosition(log, task.since));
  await requireSame(log, position);
  // A forwarder that is killed before its first event must not begin later the next time.
  await file?.write(position);
  const progress = new ForwardProgress();
  const forwarder = new Forwarder({ log, file, progress, ...task }, position, saved !== undefined);
  try {
    progress.report(`Forwarding the events after ${String(position.sequence)} to ${task.target.origin}.`);
    await forwarder.forward(stop);
  } finally {
    forwarder.close();
    progress.end();
  }
  if (stop.aborted && !task.follow) throw stop.reason;
}

async function firstPosition(log: EventLog, start: Start | undefined): Promise<Position> {
  const { after, since } = start ?? (await endOf(log));
  return { sequence: after, since, event: await eventAt(log, after) };
}

interface Parts extends ForwardTask {
  readonly log: EventLog;
  readonly file: PositionFile | undefined;
  readonly progress: ForwardProgress;
}

class Forwarder {
  readonly #parts: Parts;
  readonly #client = new HttpClient({ timeout: ATTEMPT_TIMEOUT, maxBytes: MAX_ANSWER_BYTES, keepsConnection: true });
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
    const name = `Event ${String(BigInt(event.sequence))}`;
    // Paths and queries of webhooks hold secrets, as users and passwords do.
    const where = target.origin;
    const report = (problem: string): void => {
      progress.report(`${name} was not taken by ${where}: ${problem}`);
    };
    const message = messageOf(event, this.#parts);
    const delivery = await deliver(message, (question) => this.#client.send(target, question), stop, report);
    switch (delivery.outcome) {
      case 'stopped':
        return false;
      case 'delivered':
        progress.forwarded();
        break;
      case 'redirected':
        throw new RefusedError(
          `${name} was redirected by ${where}: ${delivery.reason}. Redirects are not followed: give --forward the new address.`,
        );
      case 'refused': {
        const refusal = `${name} was refused by ${where}: ${delivery.reason}`;
        if (!skipRefused) throw new RefusedError(`${refusal} (--skip-refused passes over such events.)`);
        progress.report(refusal);
        progress.skipped();
      }
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

  close(): void {
    this.#client.close();
  }
}

function refuseChange(change: Change, position: bigint): never {
  throw otherLog(change, position);
}
