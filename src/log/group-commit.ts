import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import type { Deferred } from '../util/promises';

/**
 * How long requests that keep coming are gathered for one commit, in milliseconds. On one processor a commit runs instead of the
 * calls that would bring further requests; beside others it is better to begin it at once.
 */
const GATHER_TIME = availableParallelism() === 1 ? 1 : 0;

/** How requests are committed together. */
export interface GroupOptions<Request, Result> {
  /** Maximum size of a group, unless a single request is larger. */
  readonly maxSize: number;
  readonly sizeOf: (request: Request) => number;
  /** Commits all of the requests or none; resolves to their results, in their order. */
  readonly commit: (requests: readonly Request[]) => Promise<readonly Result[]>;
}

type Waiting<Request, Result> = Omit<Deferred<Result>, 'promise'> & { readonly request: Request };

/** Commits requests in groups: those that arrive during a commit share the next one. */
export class GroupCommit<Request, Result> {
  readonly #options: GroupOptions<Request, Result>;
  #waiting: Waiting<Request, Result>[] = [];
  #committing: Promise<void> | undefined;

  constructor(options: GroupOptions<Request, Result>) {
    this.#options = options;
  }

  /** Resolves to the result of the request once its commit is done; rejects with the error of the commit. */
  add(request: Request): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      this.#committing ??= this.#commitWaiting();
    });
  }

  /** Resolves when no request waits. */
  async settled(): Promise<void> {
    await this.#committing;
  }

  async #commitWaiting(): Promise<void> {
    // Not at once: requests that arrive in the same turn of the event loop share the commit.
    await setImmediate();
    while (this.#waiting.length > 0) {
      await this.#gather();
      const group = this.#takeGroup();
      try {
        const results = await this.#options.commit(group.map(({ request }) => request));
        results.forEach((result, i) => group[i]?.resolve(result));
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#committing = undefined;
  }

  /** Waits for up to `GATHER_TIME` while each turn of the event loop brings further requests. */
  async #gather(): Promise<void> {
    const deadline = performance.now() + GATHER_TIME;
    for (let before = 0; this.#waiting.length > before && performance.now() < deadline;) {
      before = this.#waiting.length;
      await setImmediate();
    }
  }

  #takeGroup(): Waiting<Request, Result>[] {
    const { maxSize, sizeOf } = this.#options;
    let size = 0;
    const end = this.#waiting.findIndex(({ request }, i) => {
      size += sizeOf(request);
      return i > 0 && size > maxSize;
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }
}
