import { deferred } from '../../util/promises';
import { RetentionLoop } from '../background';
import type { Channel, SharedWriter } from '../engine';
import type { LogObserver } from '../event-log';
import { GroupCommit } from '../group-commit';
import type { SqliteOptions } from './options';
import { DatabaseThread, Questions } from './database-thread';
import type { RecordedEvents } from './recorder';
import type { Reply } from './worker';

/** A message from a worker to the process that writes. Questions have numbers, under which they are answered. */
type WriterRequest =
  /** Record this packed batch. */
  | { readonly call: number; readonly append: Uint8Array }
  /** Can events be recorded? */
  | { readonly call: number; readonly append?: undefined }
  /** Tell the newest position after each commit, or no longer. */
  | 'watch'
  | 'unwatch';

type WriterMessage = Reply | { readonly newest: number };

/** The writer in the supervisor, asked over a channel: a {@link SqliteSharedWriter} is at its other end. */
export class RemoteWriter {
  readonly #channel: Channel;
  readonly #questions = new Questions();
  readonly #listeners = new Set<(newest: number) => void>();

  constructor(channel: Channel) {
    this.#channel = channel;
    channel.onMessage((message) => {
      this.#received(message as WriterMessage);
    });
    channel.onClose(() => {
      this.#questions.rejectAll(new Error('the process that writes has ended'));
    });
  }

  /** Records a packed batch. */
  append(batch: Uint8Array): Promise<RecordedEvents> {
    return this.#questions.ask((call) => {
      this.#send({ call, append: batch });
    }) as Promise<RecordedEvents>;
  }

  async check(): Promise<void> {
    await this.#questions.ask((call) => {
      this.#send({ call });
    });
  }

  watch(listener: (newest: number) => void): () => void {
    if (this.#listeners.size === 0) this.#send('watch');
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#send('unwatch');
    };
  }

  #send(message: WriterRequest): void {
    this.#channel.send(message);
  }

  #received(message: WriterMessage): void {
    if ('newest' in message) for (const listener of this.#listeners) listener(message.newest);
    else this.#questions.answered(message);
  }
}

/** Most bytes of batches that share a commit, unless a single request has more. */
const COMMIT_BYTES = 1024 * 1024;

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
  readonly #group = new GroupCommit<Uint8Array<ArrayBuffer>, RecordedEvents>(COMMIT_BYTES, (batches) =>
    this.#commit(batches),
  );
  #retention: RetentionLoop | undefined;
  #observer: LogObserver = {};

  constructor(options: SqliteOptions) {
    this.#thread = new DatabaseThread(options);
    this.#thread.onLost = (problem) => this.#observer.lost?.(problem);
  }

  /** Resolves once the log is open. @throws {EventLogError} as `openSqliteLog`. */
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
    channel.onMessage((message) => {
      this.#received(worker, message as WriterRequest);
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

  #received(worker: Worker, message: WriterRequest): void {
    if (typeof message === 'string') worker.watches = message === 'watch';
    else void this.#answer(worker, message);
  }

  async #answer({ channel }: Worker, { call, append: batch }: Exclude<WriterRequest, string>): Promise<void> {
    try {
      // A copy has a buffer of its own, which can be transferred to the thread.
      const result = await (batch ? this.#group.add(new Uint8Array(batch), batch.length) : this.#thread.check());
      channel.send({ call, result } satisfies Reply);
    } catch (error) {
      channel.send({ call, failure: (error as Error).message } satisfies Reply);
    }
  }

  async #commit(batches: readonly Uint8Array<ArrayBuffer>[]): Promise<readonly RecordedEvents[]> {
    const recorded = await this.#thread.appendAll(batches);
    this.#tell(Math.max(0, ...recorded.map(({ newest }) => newest ?? 0)));
    return recorded;
  }

  #tell(newest: number): void {
    if (newest === 0) return;
    for (const worker of this.#workers.keys()) {
      if (!worker.watches || worker.isBehind) continue;
      worker.isBehind = true;
      worker.channel.send({ newest } satisfies WriterMessage, () => {
        worker.isBehind = false;
      });
    }
  }
}
