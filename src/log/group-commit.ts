import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { Deferred } from '../util/promises';

/**
 * How long requests that keep coming are gathered for one commit, in milliseconds. With one processor a commit keeps the calls
 * waiting that would bring further requests; with several it begins at once.
 */
const GATHER_TIME = availableParallelism() === 1 ? 1 : 0;

/**
 * How long one of several workers waits between two commits under load, in milliseconds: callers just answered come back meanwhile and
 * share the next one, and another worker gets the lock.
 */
const WORKER_PAUSE = 1;

interface Waiting<Request, Result> extends Pick<Deferred<Result>, 'resolve' | 'reject'> {
  readonly request: Request;
  readonly size: number;
  /** When it was added, in milliseconds of `performance.now`. */
  readonly since: number;
}

/** Commits requests in groups: those that arrive during a commit share the next one, in their order. */
export class GroupCommit<Request, Result> {
  readonly #maxSize: number;
  readonly #commit: (requests: readonly Request[], waited: number) => Promise<readonly Result[]>;
  #waiting: Waiting<Request, Result>[] = [];
  #isCommitting = false;

  /**
   * @param maxSize - maximum size of a group of several requests.
   * @param commit - commits all of the requests or none; resolves to their results, in their order. `waited` is how long the first
   *   has waited, in milliseconds.
   */
  constructor(maxSize: number, commit: (requests: readonly Request[], waited: number) => Promise<readonly Result[]>) {
    this.#maxSize = maxSize;
    this.#commit = commit;
  }

  add(request: Request, size: number): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, size, since: performance.now(), resolve, reject });
      if (!this.#isCommitting) void this.#commitWaiting();
    });
  }

  async #commitWaiting(): Promise<void> {
    this.#isCommitting = true;
    // Requests that arrive in the same turn of the event loop share the commit.
    await nextTurn();
    for (let before = 0; this.#waiting.length > 0;) {
      if (cluster.isWorker && before > 1) await delay(WORKER_PAUSE);
      else await this.#gather();
      const group = this.#takeGroup();
      before = group.length;
      try {
        const waited = performance.now() - (group[0]?.since ?? 0);
        const requests = group.map(({ request }) => request);
        const results = await this.#commit(requests, waited);
        results.forEach((result, i) => group[i]?.resolve(result));
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#isCommitting = false;
  }

  /** Waits for up to `GATHER_TIME` while each turn of the event loop brings further requests. */
  async #gather(): Promise<void> {
    const deadline = performance.now() + GATHER_TIME;
    for (let before = 0; this.#waiting.length > before && performance.now() < deadline;) {
      before = this.#waiting.length;
      await nextTurn();
    }
  }

  /** The first requests, as many as fit into a group: at least one. */
  #takeGroup(): Waiting<Request, Result>[] {
    let total = 0;
    const end = this.#waiting.findIndex(({ size }, i) => (total += size) > this.#maxSize && i > 0);
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }
}
