import type { ServiceLog } from '../log/event-log';

/**
 * How long the log is watched after the last call that waited, in milliseconds: most callers come back, and beginning a watch
 * costs more than going on with it.
 */
const LINGER = 5000;

interface Waiter {
  readonly after: bigint;
  readonly answer: (newest?: bigint) => void;
}

/** The calls that wait for events, with one watch of the log for all of them. */
export class EventWaiters {
  readonly #log: Pick<ServiceLog, 'watch'>;
  readonly #waiters = new Set<Waiter>();
  /** The lowest position after which a call waits, or one below it. */
  #lowest = 0n;
  /** The newest position, once the watch has told it. */
  #newest: bigint | undefined;
  #endWatch: (() => void) | undefined;
  #linger: NodeJS.Timeout | undefined;

  constructor(log: Pick<ServiceLog, 'watch'>) {
    this.#log = log;
  }

  /**
   * Resolves to the newest position of the log as soon as it is past `after`, or to undefined after `milliseconds` or when
   * the signal fires.
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

  /** Called for each commit of a busy log, so it looks at the waiters only where one may be answered. */
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
