import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import type { SqliteOptions } from '../connection/connection';
import { openOperations, type Operations } from './operations';
import { LostFileError } from '../connection/files';

/** A question to the database thread; `call` numbers it. */
export interface WorkerCall {
  readonly call: number;
  readonly operation: keyof Operations;
  readonly argument: unknown;
}

/** The answer to the question of the same number. The opening of the database answers question 0. */
export type WorkerReply =
  | { readonly call: number; readonly result: unknown }
  | { readonly call: number; readonly failure: string }
  /** The file was lost: the thread answers nothing more, and has done what it can for the events that no other place has. */
  | { readonly lost: string; readonly saved: string | undefined };

/** How often a thread looks whether its files are still those at their paths, in milliseconds. */
const LOOK_PAUSE = 100;

/** The thread: one database, asked over a port. */
class DatabaseWorker {
  readonly #port: MessagePort;
  #operations: Operations | undefined;
  #looks: NodeJS.Timeout | undefined;

  constructor(port: MessagePort, options: SqliteOptions) {
    this.#port = port;
    port.on('message', ({ call, operation, argument }: WorkerCall) => {
      this.#answer(call, () => this.#perform(operation, argument));
    });
    this.#answer(0, () => {
      this.#operations = openOperations(options);
    });
    if (this.#operations === undefined) return;
    // Others may wait until this thread has let go of files that are not at their paths any more.
    this.#looks = setInterval(() => {
      this.#unlessLost(() => this.#operations?.requireFiles());
    }, LOOK_PAUSE);
  }

  #perform(operation: keyof Operations, argument: unknown): unknown {
    if (this.#operations === undefined) throw new Error('the database is not open');
    if (operation === 'close') this.#stop();
    return (this.#operations[operation] as (argument: unknown) => unknown)(argument);
  }

  #answer(call: number, action: () => unknown): void {
    this.#unlessLost(() => {
      try {
        this.#port.postMessage({ call, result: action() } satisfies WorkerReply);
      } catch (error) {
        if (error instanceof LostFileError) throw error;
        this.#port.postMessage({ call, failure: (error as Error).message } satisfies WorkerReply);
      }
    });
  }

  /** Does something, unless a file was lost: then nothing more is done, and the parent ends this thread. */
  #unlessLost(action: () => void): void {
    try {
      action();
    } catch (error) {
      if (!(error instanceof LostFileError)) throw error;
      this.#stop();
      this.#port.removeAllListeners('message');
      const saved = this.#operations?.saveLost();
      this.#port.postMessage({ lost: error.message, saved } satisfies WorkerReply);
    }
  }

  #stop(): void {
    clearInterval(this.#looks);
  }
}

if (parentPort === null)
  throw new Error('This file is not a program of its own; SqliteEventLog starts it as a thread.');
new DatabaseWorker(parentPort, workerData as SqliteOptions);
