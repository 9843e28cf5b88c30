import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import type { SqliteOptions } from './connection/connection';
import { SqliteDatabase } from './database';
import { LostFileError } from './connection/files';

/** What the database thread is asked to do: a method of {@link SqliteDatabase}, by its name. */
export type Operation = keyof SqliteDatabase;

/** A question to the database thread; `call` numbers it. */
export interface WorkerCall {
  readonly call: number;
  readonly operation: Operation;
  readonly argument: unknown;
}

/** The answer to the question of the same number. The opening of the database answers question 0. */
export type WorkerReply = { readonly call: number } & (
  | { readonly result: unknown }
  /** `ended`: the thread takes no further questions. */
  | { readonly failure: string; readonly ended: boolean }
);

/** Pause between two steps of retention while there is more to forget, in milliseconds. */
const BUSY_PAUSE = 2;

/** The thread: one database, asked over a port. */
class DatabaseWorker {
  readonly #port: MessagePort;
  readonly #idlePause: number;
  #database: SqliteDatabase | undefined;
  #retention: NodeJS.Timeout | undefined;

  constructor(port: MessagePort, options: SqliteOptions) {
    this.#port = port;
    this.#idlePause = options.retentionPause;
    this.#answer(0, () => {
      this.#database = new SqliteDatabase(options);
    });
    if (options.retention !== undefined) this.#retain();
    port.on('message', ({ call, operation, argument }: WorkerCall) => {
      this.#answer(call, () => this.#perform(operation, argument));
    });
  }

  #perform(operation: Operation, argument: unknown): unknown {
    if (this.#database === undefined) throw new Error('the database is not open');
    if (operation === 'close') clearTimeout(this.#retention);
    return (this.#database[operation] as (argument: unknown) => unknown).call(this.#database, argument);
  }

  #answer(call: number, action: () => unknown): void {
    try {
      this.#port.postMessage({ call, result: action() } satisfies WorkerReply);
    } catch (error) {
      const ended = error instanceof LostFileError;
      this.#port.postMessage({ call, failure: (error as Error).message, ended } satisfies WorkerReply);
      if (ended) this.#end();
    }
  }

  /** Ends the thread: the next question goes to a new one, which opens what is then at the path of the file. */
  #end(): void {
    this.#database?.close();
    process.exit();
  }

  #retain(): void {
    let more = false;
    try {
      more = this.#database?.retain() ?? false;
    } catch {
      // The disk is full or the database is locked: writes say so; retention tries again after the pause.
    }
    this.#retention = setTimeout(
      () => {
        this.#retain();
      },
      more ? BUSY_PAUSE : this.#idlePause,
    );
  }
}

if (parentPort === null)
  throw new Error('This file is not a program of its own; SqliteEventLog starts it as a thread.');
new DatabaseWorker(parentPort, workerData as SqliteOptions);
