import type { EventLog } from '../log/event-log';

/**
 * How long the log is still watched after nobody waits any more, in milliseconds: a caller that was answered mostly comes back,
 * and to begin a watch costs more than to go on with it.
 */
const LINGER = 5000;

interface Waiter {
  readonly after: bigint;
  readonly answer: (newest?: bigint) => void;
}

/** Those who wait for events. However many they are, the log has one watch, and while nobody waits none. */
export class EventWaiters {
  readonly #log: Pick<EventLog, 'watch'>;
  readonly #waiters = new Set<Waiter>();
  /** A position before that of no waiter: while the newest is not after it, nobody is to be answered. */
  #lowest = 0n;
  /** The newest position; undefined: the log is not watched, or has not told it yet. */
  #newest: bigint | undefined;
  #endWatch: (() => void) | undefined;
  #linger: NodeJS.Timeout | undefined;

  constructor(log: Pick<EventLog, 'watch'>) {
    this.#log = log;
  }

  /**
   * Resolves to the newest position of the log as soon as that is after a position, at once if it is already. Undefined: so
   * many milliseconds have passed before, or the signal has fired.
   */
  wait(after: bigint, milliseconds: number, signal: AbortSignal): Promise<bigint | undefined> {
    if (signal.aborted || milliseconds <= 0) return Promise.resolve(undefined);
    if (this.#newest !== undefined && this.#newest > after) return Promise.resolve(this.#newest);
    return new Promise((resolve) => {
      const answer = (newest?: bigint): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        this.#waiters.delete(waiter);
        if (this.#waiters.size === 0) this.#endLater();
        resolve(newest);
      };
      const giveUp = (): void => {
        answer();
      };
      const waiter: Waiter = { after, answer };
      const timer = setTimeout(giveUp, milliseconds);
      signal.addEventListener('abort', giveUp);
      if (this.#waiters.size === 0 || after < this.#lowest) this.#lowest = after;
      this.#waiters.add(waiter);
      this.#begin();
    });
  }

  #begin(): void {
    clearTimeout(this.#linger);
    this.#endWatch ??= this.#log.watch((newest) => {
      this.#tell(newest);
    });
  }

  /** Called for each commit of a busy log: looks at the waiters only where one may be concerned. */
  #tell(newest: bigint): void {
    this.#newest = newest;
    if (this.#waiters.size === 0 || newest <= this.#lowest) return;
    const left: bigint[] = [];
    for (const { after, answer } of this.#waiters) {
      if (after < newest) answer(newest);
      else left.push(after);
    }
    this.#lowest = left.reduce((lowest, after) => (after < lowest ? after : lowest), left[0] ?? 0n);
  }

  #endLater(): void {
    clearTimeout(this.#linger);
    this.#linger = setTimeout(() => {
      this.#endWatch?.();
      this.#endWatch = undefined;
      this.#newest = undefined;
    }, LINGER).unref();
  }
}
