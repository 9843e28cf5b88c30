import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import type { SharedWriter } from '../../open-event-log';
import type { SqliteOptions } from '../connection/connection';
import { DatabaseThread } from '../database-thread';
import { localWriter, type Writer } from '../writer';
import { FrameReader, writeFrame, type Frame } from './frames';
import { ANSWER, batchesIn, packRecorded, QUESTION } from './messages';

/** Most bytes of batches that share a commit, unless a single one has more. */
const COMMIT_BYTES = 1024 * 1024;

/** While batches of so many bytes wait, no more are taken from the pipes. */
const WAITING_BYTES = 4 * COMMIT_BYTES;

/** What a worker wants to be recorded. */
interface Request {
  readonly client: Client;
  readonly call: number;
  readonly batches: readonly Buffer<ArrayBuffer>[];
  readonly bytes: number;
}

/** One worker. */
interface Client {
  readonly pipe: Duplex;
  watches: boolean;
}

/**
 * Records events for several workers, each at the other end of a pipe, with one database thread: SQLite has one writer at a
 * time, and processes that wait for each other's lock commit less. Batches that arrive while a commit is under way share the
 * next one: all events in it are recorded or none.
 */
export class SqliteSharedWriter implements SharedWriter {
  readonly #thread: DatabaseThread;
  readonly #writer: Writer;
  readonly #clients = new Set<Client>();
  #waiting: Request[] = [];
  #waitingBytes = 0;
  #committing: Promise<void> | undefined;

  constructor(options: Pick<SqliteOptions, 'file'> & Partial<SqliteOptions>) {
    this.#thread = new DatabaseThread(options);
    this.#writer = localWriter(this.#thread);
  }

  start(): Promise<void> {
    return this.#thread.start();
  }

  /** Takes questions from a pipe until it ends. What was asked before is done all the same. */
  serve(pipe: Duplex): void {
    const client: Client = { pipe, watches: false };
    const frames = new FrameReader();
    this.#clients.add(client);
    pipe.on('data', (piece: Buffer) => {
      for (const frame of frames.add(piece)) this.#asked(client, frame);
    });
    // A worker that was killed: what it asked for is done, and nobody hears of it.
    pipe.on('error', () => undefined);
    pipe.on('close', () => this.#clients.delete(client));
  }

  /** Ends once all workers have gone, and closes the database. */
  async close(): Promise<void> {
    await Promise.all([...this.#clients].map(({ pipe }) => once(pipe, 'close')));
    await this.#committing;
    await this.#thread.end();
  }

  #asked(client: Client, { call, kind, content }: Frame): void {
    switch (kind) {
      case QUESTION.append:
        this.#take({ client, call, batches: batchesIn(content), bytes: content.length });
        break;
      case QUESTION.check:
        void this.#check(client, call);
        break;
      default:
        client.watches = kind === QUESTION.watch;
    }
  }

  async #check(client: Client, call: number): Promise<void> {
    try {
      await this.#writer.check();
      answer(client, call, ANSWER.done, NOTHING);
    } catch (error) {
      answer(client, call, ANSWER.failed, Buffer.from((error as Error).message));
    }
  }

  #take(request: Request): void {
    this.#waiting.push(request);
    this.#waitingBytes += request.bytes;
    if (this.#waitingBytes > WAITING_BYTES) for (const { pipe } of this.#clients) pipe.pause();
    this.#committing ??= this.#commitWaiting();
  }

  async #commitWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const requests = this.#takeRequests();
      try {
        const recorded = await this.#writer.append(requests.flatMap(({ batches }) => batches));
        let place = 0;
        for (const { client, call, batches } of requests) {
          answer(client, call, ANSWER.done, packRecorded(recorded.slice(place, (place += batches.length))));
        }
        this.#tell(Math.max(0, ...recorded.map(({ newest }) => newest ?? 0)));
      } catch (error) {
        const message = Buffer.from((error as Error).message);
        for (const { client, call } of requests) answer(client, call, ANSWER.failed, message);
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
    const requests = this.#waiting.splice(0, size === -1 ? this.#waiting.length : size);
    const wasFull = this.#waitingBytes > WAITING_BYTES;
    for (const { bytes } of requests) this.#waitingBytes -= bytes;
    if (wasFull && this.#waitingBytes <= WAITING_BYTES) for (const { pipe } of this.#clients) pipe.resume();
    return requests;
  }

  /** Tells those who watch. One that does not listen is not waited for: it looks for itself now and then. */
  #tell(newest: number): void {
    if (newest === 0) return;
    const content = Buffer.from(String(newest));
    for (const client of this.#clients) {
      if (client.watches && !client.pipe.writableNeedDrain) answer(client, 0, ANSWER.newest, content);
    }
  }
}

const NOTHING = Buffer.alloc(0);

function answer({ pipe }: Client, call: number, kind: number, content: Buffer): void {
  if (pipe.writable) writeFrame(pipe, call, kind, content);
}
