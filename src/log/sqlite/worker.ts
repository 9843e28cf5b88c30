import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import type { SqliteOptions } from './connection/connection';
import { openOperations, type Operations } from './operations';
import { LostFileError } from './connection/files';

/** A question to the database thread; `call` numbers it. */
export interface WorkerCall {
  readonly call: number;
  readonly operation: keyof Operations;
  readonly argument: unknown;
}

/** The answer to the question of the same number. The opening of the database answers question 0. */
export type WorkerReply = { readonly call: number } & (
  | { readonly result: unknown }
  /** `ended`: the thread takes no further questions. */
  | { readonly failure: string; readonly ended: boolean }
);

/** The thread: one database, asked over a port. */
class DatabaseWorker {
  readonly #port: MessagePort;
  #operations: Operations | undefined;

  constructor(port: MessagePort, options: SqliteOptions) {
    this.#port = port;
    this.#answer(0, () => {
      this.#operations = openOperations(options);
    });
    port.on('message', ({ call, operation, argument }: WorkerCall) => {
      this.#answer(call, () => this.#perform(operation, argument));
    });
  }

  #perform(operation: keyof Operations, argument: unknown): unknown {
    if (this.#operations === undefined) throw new Error('the database is not open');
    return (this.#operations[operation] as (argument: unknown) => unknown)(argument);
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
    this.#operations?.close();
    process.exit();
  }
}

if (parentPort === null)
  throw new Error('This file is not a program of its own; SqliteEventLog starts it as a thread.');
new DatabaseWorker(parentPort, workerData as SqliteOptions);
