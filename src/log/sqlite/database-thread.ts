import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Deferred } from '../../util/promises';
import { Remote } from '../../util/remote';
import type { RetentionSteps } from '../engine';
import { EventLogError } from '../event-log';
import { holdOpen } from './binding';
import type { SqliteOptions } from './options';
import type { Operations, OwnerFunctions, ThreadFunctions } from './worker';

/** Pause after a database could not be opened, in milliseconds; calls are refused meanwhile. */
const OPEN_PAUSE = 250;

/** Pause between two steps of retention while there is more to forget, in milliseconds. */
const BUSY_PAUSE = 2;

/** How often a question to a log that is only read is asked. */
const TRIES = 5;

const DEFAULT_RETENTION_PAUSE = 1000;

/** A thread whose database is open. */
interface OpenThread {
  readonly worker: Worker;
  readonly database: Remote<Operations>;
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
   * Asks the database to do something. Questions are answered in their order. One to a log that is only read is asked again if another
   * process has opened, closed or replaced the log meanwhile.
   */
  async ask<O extends keyof Operations>(
    operation: O,
    ...argument: Parameters<Operations[O]>
  ): Promise<ReturnType<Operations[O]>> {
    for (let tries = 1; ; tries++) {
      const opened = this.#opened ?? this.#connect();
      const { database } = await opened;
      try {
        return await database.ask(operation, ...argument);
      } catch (error) {
        if (!this.#options.readOnly || this.#opened === opened || tries === TRIES) throw error;
      }
    }
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
    const thread = new Remote<ThreadFunctions>((message, argument) => {
      // What packEvents returns is handed over, not copied.
      worker.postMessage(message, argument instanceof Uint8Array ? [argument.buffer as ArrayBuffer] : []);
    });
    const ended = new Deferred();
    this.#ended = ended.promise;
    let hold: ReturnType<typeof holdOpen> | undefined;
    let inUse = true;
    const gone = (error: Error): void => {
      if (!inUse) return;
      inUse = false;
      this.#opened = undefined;
      thread.end(error);
    };
    thread.serve<OwnerFunctions>({
      unsaved: (problem) => {
        this.onLost(problem);
      },
      lost: ({ reason, saved }) => {
        // One that is only read is opened anew, and has lost nothing.
        if (!this.#options.readOnly) this.onLost([reason, saved].filter(Boolean).join('. '));
        gone(new Error(reason));
        void worker.terminate();
      },
    });
    worker.on('message', (message) => {
      thread.receive(message);
    });
    worker.on('error', gone);
    worker.on('exit', () => {
      hold?.close();
      gone(new Error('the database thread ended'));
      ended.resolve();
    });
    try {
      await thread.ask('open');
      if (!this.#options.readOnly) hold = holdOpen(this.#options.file);
      this.#openFailure = undefined;
    } catch (error) {
      gone(error as Error);
      void worker.terminate();
      throw error;
    }
    return {
      worker,
      database: thread,
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
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process that starts has made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
