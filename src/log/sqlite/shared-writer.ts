import { deferred, type Deferred } from '../../util/promises';
import type { Channel, SharedWriter } from '../engine';
import type { LogObserver } from '../event-log';
import { GroupCommit } from '../group-commit';
import { RetentionLoop } from '../retention-loop';
import type { SqliteOptions } from './connection';
import { DatabaseThread } from './database-thread';
import type { RecordedEvents } from './recorder';

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

/** Most bytes of batches that share a commit, unless a single request has more. */
const COMMIT_BYTES = 1024 * 1024;

/** What one worker asks to be recorded at once. */
type Batches = readonly Uint8Array<ArrayBuffer>[];

interface Worker {
  readonly channel: Channel;
  watches: boolean;
  /** Whether the last news has not left yet. Further ones are dropped: workers look for themselves now and then. */
  isBehind: boolean;
}

/**
 * Records the events of several workers with one database thread: SQLite has one writer at a time, and processes that wait for
 * each other's lock commit less. Requests that arrive during a commit share the next one, which records all of their events or
 * none.
 */
export class SqliteSharedWriter implements SharedWriter {
  readonly #thread: DatabaseThread;
  readonly #workers = new Map<Worker, Promise<void>>();
  readonly #group = new GroupCommit<Batches, readonly RecordedEvents[]>({
    maxSize: COMMIT_BYTES,
    sizeOf: (batches) => batches.reduce((sum, { length }) => sum + length, 0),
    commit: (requests) => this.#commit(requests),
  });
  #retention: RetentionLoop | undefined;
  #observer: LogObserver = {};

  constructor(options: Pick<SqliteOptions, 'file'> & Partial<SqliteOptions>) {
    this.#thread = new DatabaseThread(options);
    this.#thread.onLost = (problem) => this.#observer.lost?.(problem);
  }

  async start(): Promise<void> {
    await this.#thread.start();
    const { retention } = this.#thread;
    if (retention) this.#retention = new RetentionLoop(retention, (error) => this.#observer.retained?.(error));
  }

  observe(observer: LogObserver): void {
    this.#observer = observer;
  }

  /** Answers a worker until it has gone. What it asked before is done all the same. */
  serve(channel: Channel): void {
    const gone = deferred();
    const worker = { channel, watches: false, isBehind: false };
    this.#workers.set(worker, gone.promise);
    channel.onMessage((question) => {
      this.#asked(worker, question as WriterQuestion);
    });
    channel.onClose(() => {
      this.#workers.delete(worker);
      gone.resolve();
    });
  }

  /** Resolves once all workers have gone and the database is closed. */
  async close(): Promise<void> {
    await Promise.all(this.#workers.values());
    await this.#group.settled();
    await this.#retention?.stop();
    await this.#thread.end();
  }

  #asked(worker: Worker, question: WriterQuestion): void {
    if (question === 'check') void this.#answer(worker, this.#check());
    else if (typeof question === 'string') worker.watches = question === 'watch';
    else void this.#answer(worker, this.#append(question.append));
  }

  async #answer({ channel }: Worker, answer: Promise<WriterAnswer>): Promise<void> {
    channel.send(await answer);
  }

  #check(): Promise<WriterAnswer> {
    return this.#thread.check().then(
      () => ({ checked: undefined }),
      (error: unknown) => ({ checked: (error as Error).message }),
    );
  }

  #append(batches: readonly Uint8Array[]): Promise<WriterAnswer> {
    // Each with a buffer of its own, which can be transferred to the thread.
    return this.#group.add(batches.map((batch) => new Uint8Array(batch))).then(
      (appended) => ({ appended }),
      (error: unknown) => ({ appendFailed: (error as Error).message }),
    );
  }

  async #commit(requests: readonly Batches[]): Promise<(readonly RecordedEvents[])[]> {
    const recorded = await this.#thread.append(requests.flat());
    this.#tell(Math.max(0, ...recorded.map(({ newest }) => newest ?? 0)));
    let place = 0;
    return requests.map(({ length }) => recorded.slice(place, (place += length)));
  }

  #tell(newest: number): void {
    if (newest === 0) return;
    for (const worker of this.#workers.keys()) {
      if (!worker.watches || worker.isBehind) continue;
      worker.isBehind = true;
      worker.channel.send({ newest }, () => {
        worker.isBehind = false;
      });
    }
  }
}
