import { deferred } from '../../../util/promises';
import type { Channel, SharedWriter } from '../../engine';
import { RetentionLoop } from '../../retention-loop';
import type { SqliteOptions } from '../connection/connection';
import { DatabaseThread } from '../database-thread';
import type { WriterAnswer, WriterQuestion } from './messages';

/** Most bytes of batches that share a commit, unless a single request has more. */
const COMMIT_BYTES = 1024 * 1024;

/** What a worker wants to be recorded. */
interface Request {
  readonly worker: Worker;
  readonly batches: readonly Uint8Array<ArrayBuffer>[];
  readonly bytes: number;
}

interface Worker {
  readonly send: (answer: WriterAnswer, sent?: () => void) => void;
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
  #waiting: Request[] = [];
  #committing: Promise<void> | undefined;
  #retention: RetentionLoop | undefined;

  constructor(options: Pick<SqliteOptions, 'file'> & Partial<SqliteOptions>) {
    this.#thread = new DatabaseThread(options);
  }

  async start(): Promise<void> {
    await this.#thread.start();
    const { retention } = this.#thread;
    if (retention) this.#retention = new RetentionLoop(retention);
  }

  /** Answers a worker until it has gone. What it asked before is done all the same. */
  serve(channel: Channel): void {
    const gone = deferred();
    const worker: Worker = {
      send: (answer, sent) => {
        channel.send(answer, sent);
      },
      watches: false,
      isBehind: false,
    };
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
    await this.#committing;
    await this.#retention?.stop();
    await this.#thread.end();
  }

  #asked(worker: Worker, question: WriterQuestion): void {
    if (question === 'check') void this.#check(worker);
    else if (typeof question === 'string') worker.watches = question === 'watch';
    else {
      // Each with a buffer of its own, which can be transferred to the thread.
      const batches = question.append.map((batch) => new Uint8Array(batch));
      this.#waiting.push({ worker, batches, bytes: batches.reduce((sum, { length }) => sum + length, 0) });
      this.#committing ??= this.#commitWaiting();
    }
  }

  async #check({ send }: Worker): Promise<void> {
    const failure = await this.#thread.check().then(
      () => undefined,
      (error: unknown) => (error as Error).message,
    );
    send({ checked: failure });
  }

  async #commitWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const requests = this.#takeRequests();
      try {
        const recorded = await this.#thread.append(requests.flatMap(({ batches }) => batches));
        let place = 0;
        for (const { worker, batches } of requests)
          worker.send({ appended: recorded.slice(place, (place += batches.length)) });
        this.#tell(Math.max(0, ...recorded.map(({ newest }) => newest ?? 0)));
      } catch (error) {
        for (const { worker } of requests) worker.send({ appendFailed: (error as Error).message });
      }
    }
    this.#committing = undefined;
  }

  /** Those that share the next commit. */
  #takeRequests(): Request[] {
    let taken = 0;
    const size = this.#waiting.findIndex(({ bytes }, i) => {
      taken += bytes;
      return i > 0 && taken > COMMIT_BYTES;
    });
    return this.#waiting.splice(0, size === -1 ? this.#waiting.length : size);
  }

  #tell(newest: number): void {
    if (newest === 0) return;
    for (const worker of this.#workers.keys()) {
      if (!worker.watches || worker.isBehind) continue;
      worker.isBehind = true;
      worker.send({ newest }, () => {
        worker.isBehind = false;
      });
    }
  }
}
