import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { deferred, type Deferred } from '../../util/promises';
import type { RetentionSteps } from '../engine';
import { EventLogError } from '../event-log';
import { holdOpen } from './binding';
import type { SqliteOptions } from './options';
import type { RecordedEvents } from './recorder';
import type { Operations, Reply, WorkerCall, WorkerReply } from './worker';

/** Pause after a database could not be opened, in milliseconds; calls are refused meanwhile. */
const OPEN_PAUSE = 250;

/** Pause between two steps of retention while there is more to forget, in milliseconds. */
const BUSY_PAUSE = 2;

const DEFAULT_RETENTION_PAUSE = 1000;

/** The questions to another thread or process that it has not answered yet, numbered from 0. */
export class Questions {
  readonly #waiting = new Map<number, Deferred<unknown>>();
  #asked = 0;
  #error: Error | undefined;

  /** @param send - sends the question with its number. */
  ask(send: (call: number) => void): Promise<unknown> {
    if (this.#error !== undefined) return Promise.reject(this.#error);
    const answer = deferred<unknown>();
    const call = this.#asked++;
    this.#waiting.set(call, answer);
    send(call);
    return answer.promise;
  }

  answered(reply: Reply): void {
    const answer = this.#waiting.get(reply.call);
    this.#waiting.delete(reply.call);
    if ('failure' in reply) answer?.reject(new Error(reply.failure));
    else answer?.resolve(reply.result);
  }

  /** Rejects these questions and all later ones. */
  rejectAll(error: Error): void {
    this.#error = error;
    for (const answer of this.#waiting.values()) answer.reject(error);
    this.#waiting.clear();
  }
}

/** A thread whose database is open. */
interface OpenThread {
  readonly worker: Worker;
  readonly questions: Questions;
  /** Ends the thread, whose connection is then the last to close. */
  close(): Promise<void>;
}

/**
 * The database in a thread of its own, so that neither a slow disk nor another program's lock holds up the thread that
 * answers requests. A thread that ended, as when its file was lost, is replaced on the next call.
 */
export class DatabaseThread {
  readonly #options: SqliteOptions;
  #opened: Promise<OpenThread> | undefined;
  /** Resolves when the thread before has ended. */
  #ended = Promise.resolve();
  #openFailure: { readonly at: number; readonly error: Error } | undefined;
  /** Called when a file was lost; the problem says what became of its events. */
  onLost: (problem: string) => void = () => undefined;

  constructor(options: SqliteOptions) {
    this.#options = options;
  }

  /**
   * Opens the database, as the first question does too, and creates it, folders included, if it is missing.
   *
   * @throws {EventLogError} the file cannot be created or opened, or is not an event log; the message names the file.
   */
  async start(): Promise<void> {
    const { file, readOnly } = this.#options;
    try {
      // Synchronous, so that the thread starts at once, while the caller loads what else it needs.
      if (!readOnly) makeFolder(dirname(file));
      await (this.#opened ?? this.#connect());
    } catch (cause) {
      throw new EventLogError(`The event log ${file} cannot be opened.`, { cause });
    }
  }

  /**
   * Asks the database to do something. Questions are answered in their order.
   *
   * @param transferred - buffers in the argument that are handed over rather than copied.
   */
  async ask<O extends keyof Operations>(
    operation: O,
    argument?: Parameters<Operations[O]>[0],
    transferred: readonly ArrayBuffer[] = [],
  ): Promise<ReturnType<Operations[O]>> {
    const { worker, questions } = await (this.#opened ?? this.#connect());
    const answer = questions.ask((call) => {
      worker.postMessage({ call, operation, argument } satisfies WorkerCall, transferred);
    });
    return (await answer) as ReturnType<Operations[O]>;
  }

  /** Records a packed batch, which it takes away from the caller. */
  async append(batch: Uint8Array<ArrayBuffer>): Promise<RecordedEvents> {
    const [recorded] = await this.appendAll([batch]);
    return recorded as RecordedEvents;
  }

  /** As {@link append}, all of the batches or none. */
  appendAll(batches: readonly Uint8Array<ArrayBuffer>[]): Promise<readonly RecordedEvents[]> {
    return this.ask(
      'append',
      batches,
      batches.map(({ buffer }) => buffer),
    );
  }

  /** As `EventLog.check`. */
  check(): Promise<void> {
    return this.ask('check');
  }

  /** The steps of its retention, if it has one. */
  get retention(): RetentionSteps | undefined {
    const { retention, retentionPause: idlePause = DEFAULT_RETENTION_PAUSE } = this.#options;
    return retention && { busyPause: BUSY_PAUSE, idlePause, step: () => this.ask('retain') };
  }

  /** Closes the database after the questions before, and ends the thread. */
  async end(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined);
    // Without a thread, its file being lost, nothing is open.
    try {
      if (opened !== undefined) {
        await this.ask('close');
        await opened.close();
      }
    } catch (error) {
      // Its file was lost, and what can be saved has been; or it is not known whether it is, and everything stays as it is.
      if (this.#opened !== undefined) {
        void opened?.worker.terminate();
        throw error;
      }
    } finally {
      await this.#ended;
    }
  }

  #connect(): Promise<OpenThread> {
    if (this.#openFailure !== undefined && performance.now() - this.#openFailure.at < OPEN_PAUSE) {
      return Promise.reject(this.#openFailure.error);
    }
    // SQLite lets go of the files only when their thread has ended.
    const opened = this.#ended.then(() => this.#open());
    this.#opened = opened.catch((error: unknown) => {
      // Also where the system starts no more threads for now.
      this.#opened = undefined;
      this.#openFailure = { at: performance.now(), error: error as Error };
      throw error;
    });
    return this.#opened;
  }

  async #open(): Promise<OpenThread> {
    const worker = new Worker(join(__dirname, 'worker.js'), { workerData: this.#options });
    const questions = new Questions();
    const opened = questions.ask(() => undefined);
    const ended = deferred();
    this.#ended = ended.promise;
    let hold: ReturnType<typeof holdOpen> | undefined;
    let inUse = true;
    const gone = (error: Error): void => {
      if (!inUse) return;
      inUse = false;
      this.#opened = undefined;
      questions.rejectAll(error);
    };
    worker.on('message', (reply: WorkerReply) => {
      if ('unsaved' in reply) this.onLost(reply.unsaved);
      else if ('lost' in reply) {
        this.onLost([reply.lost, reply.saved].filter(Boolean).join('. '));
        gone(new Error(reply.lost));
        void worker.terminate();
      } else questions.answered(reply);
    });
    worker.on('error', gone);
    worker.on('exit', () => {
      hold?.close();
      gone(new Error('the database thread ended'));
      ended.resolve();
    });
    try {
      await opened;
      if (!this.#options.readOnly) hold = holdOpen(this.#options.file);
      this.#openFailure = undefined;
    } catch (error) {
      gone(error as Error);
      void worker.terminate();
      throw error;
    }
    return {
      worker,
      questions,
      close: async () => {
        hold?.close();
        hold = undefined;
        await worker.terminate();
      },
    };
  }
}

/** Creates a folder, and missing ones above it. `recursive` of `mkdirSync` never returns below /proc. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  mkdirSync(folder);
}
