import { deferred, type Deferred } from '../../../util/promises';
import type { Channel } from '../../engine';
import type { RecordedEvents } from '../recorder';

/**
 * The version of these messages, of the packed batches in them and of the schema that is written. A worker of another version
 * than its supervisor, which stays when a new build replaces the workers, does not start.
 */
export const PROTOCOL = 4;

/** What a worker asks the process that writes. Questions of one kind are answered in their order. */
export type WriterQuestion =
  /** Record these packed batches, all of them or none. */
  | { readonly append: readonly Uint8Array[] }
  /** Can events be recorded? */
  | 'check'
  /** Tell the newest position after each commit, or no longer. */
  | 'watch'
  | 'unwatch';

/** What it is sent. A failure is the text of an error. */
export type WriterAnswer =
  | { readonly appended: readonly RecordedEvents[] }
  | { readonly appendFailed: string }
  | { readonly checked: string | undefined }
  | { readonly newest: number };

/** The writer in the supervisor, asked over a channel: a `SqliteSharedWriter` is at its other end. */
export class RemoteWriter {
  readonly #channel: Channel;
  readonly #appends: Deferred<readonly RecordedEvents[]>[] = [];
  readonly #checks: Deferred<undefined>[] = [];
  readonly #listeners = new Set<(newest: number) => void>();
  #isOpen = true;

  constructor(channel: Channel) {
    this.#channel = channel;
    channel.onMessage((answer) => {
      this.#received(answer as WriterAnswer);
    });
    channel.onClose(() => {
      this.#isOpen = false;
      for (const answer of [...this.#appends, ...this.#checks]) answer.reject(gone());
    });
  }

  append(batches: readonly Uint8Array[]): Promise<readonly RecordedEvents[]> {
    return this.#ask({ append: batches }, this.#appends);
  }

  async check(): Promise<void> {
    await this.#ask('check', this.#checks);
  }

  watch(listener: (newest: number) => void): () => void {
    if (this.#listeners.size === 0) this.#send('watch');
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#send('unwatch');
    };
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#appends, ...this.#checks].map(({ promise }) => promise));
  }

  /** @param waiting - the questions of this kind that are not answered yet, in their order. */
  #ask<T>(question: WriterQuestion, waiting: Deferred<T>[]): Promise<T> {
    if (!this.#isOpen) return Promise.reject(gone());
    const answer = deferred<T>();
    waiting.push(answer);
    this.#send(question);
    return answer.promise;
  }

  #send(question: WriterQuestion): void {
    this.#channel.send(question);
  }

  #received(answer: WriterAnswer): void {
    if ('appended' in answer) this.#appends.shift()?.resolve(answer.appended);
    else if ('appendFailed' in answer) this.#appends.shift()?.reject(new Error(answer.appendFailed));
    else if ('newest' in answer) for (const listener of this.#listeners) listener(answer.newest);
    else if (answer.checked === undefined) this.#checks.shift()?.resolve(undefined);
    else this.#checks.shift()?.reject(new Error(answer.checked));
  }
}

function gone(): Error {
  return new Error('the process that writes has ended');
}
