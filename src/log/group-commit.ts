import { availableParallelism } from 'node:os';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { Deferred } from '../util/promises';
import { fitting } from './queries';

/**
 * How long requests that keep coming are gathered for one commit, in milliseconds. On one processor a commit delays the calls that would
 * join it; with several it begins at once.
 */
const GATHER_TIME = availableParallelism() === 1 ? 1 : 0;

/**
 * How long one of several processes waits between two commits under load, in milliseconds: callers just answered come back meanwhile and
 * share the next one, and another process gets the lock.
 */
const SHARED_PAUSE = 1;

interface Waiting<Item, Result> {
  readonly items: readonly Item[];
  readonly size: number;
  /** When it was added, in milliseconds of `performance.now`. */
  readonly since: number;
  readonly answer: Deferred<Result[]>;
}

/** Commits requests in groups: those that arrive during a commit share the next one, in their order. */
export class GroupCommit<Item, Result> {
  #waiting: Waiting<Item, Result>[] = [];
  #isCommitting = false;

  /**
   * @param maxSize - maximum size of a group of several requests.
   * @param isShared - whether other processes commit in the same place.
   * @param commit - commits all of the items or none; resolves to their results, in their order. `waited` is how long the first
   *   request has waited, in milliseconds.
   */
  constructor(
    private readonly maxSize: number,
    private readonly isShared: boolean,
    private readonly commit: (items: readonly Item[], waited: number) => Promise<Result[]>,
  ) {}

  /** Resolves to the result of each item. */
  add(items: readonly Item[], size: number): Promise<Result[]> {
    const answer = new Deferred<Result[]>();
    this.#waiting.push({ items, size, since: performance.now(), answer });
    if (!this.#isCommitting) void this.#commitWaiting();
    return answer.promise;
  }

  async #commitWaiting(): Promise<void> {
    this.#isCommitting = true;
    // Requests that arrive in the same turn of the event loop share the commit.
    await nextTurn();
    for (let lastGroup = 0; this.#waiting.length > 0;) {
      // Several that shared a commit are load.
      if (this.isShared && lastGroup > 1) await delay(SHARED_PAUSE);
      else await this.#gather();
      const group = fitting(this.#waiting, this.maxSize, ({ size }) => size);
      this.#waiting = this.#waiting.slice(group.length);
      lastGroup = group.length;
      try {
        const waited = performance.now() - (group[0]?.since ?? 0);
        // `flatMap` takes 0.2 µs of each event.
        const all: Item[] = [];
        for (const { items } of group) for (const item of items) all.push(item);
        const results = await this.commit(all, waited);
        let answered = 0;
        for (const { items, answer } of group) {
          answer.resolve(results.slice(answered, answered + items.length));
          answered += items.length;
        }
      } catch (error) {
        for (const { answer } of group) answer.reject(error);
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
}
