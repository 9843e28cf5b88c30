import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import {
  EventLogError,
  type Appended,
  type Commit,
  type EventLog,
  type EventQuery,
  type LoggedEvent,
  type NewEvent,
  type StoredEvent,
} from './event-log';
import type { SqliteOptions } from './sqlite-database';
import type { WorkerCall, WorkerReply } from './sqlite-worker';

interface Pending<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

type Question = WorkerCall extends infer Call ? (Call extends unknown ? Omit<Call, 'call'> : never) : never;

/** Most events, and most characters of their payloads, that share one commit: no caller waits for more than that. */
const BATCH_MAX_EVENTS = 512;
const BATCH_MAX_CHARACTERS = 1024 * 1024;

const DEFAULT_BUSY_TIMEOUT = 5000;

/** How long a database that could not be opened is not tried again, in milliseconds. */
const OPEN_PAUSE = 250;

/**
 * The event log in a SQLite file: WAL with `synchronous=FULL`, so that durable means on disk. Events that arrive while a
 * commit is under way wait for it and then share the next one.
 */
export class SqliteEventLog implements EventLog {
  readonly #options: SqliteOptions;
  #worker: Promise<Worker> | undefined;
  #openFailure: { readonly at: number; readonly error: Error | undefined } = { at: 0, error: undefined };
  #calls = 0;
  readonly #answers = new Map<number, Pending<unknown>>();
  #waiting: { event: NewEvent; caller: Pending<Appended> }[] = [];
  #committing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #committed: (commit: Commit) => void = () => undefined;

  private constructor(options: SqliteOptions) {
    this.#options = options;
  }

  /**
   * Opens the log and creates it, folders included, where it is missing.
   *
   * @throws {EventLogError} the file cannot be created or opened, or is no database. This message, unlike those of the
   * other methods, names the file.
   */
  static async open(options: Pick<SqliteOptions, 'file'> & Partial<SqliteOptions>): Promise<SqliteEventLog> {
    const log = new SqliteEventLog({ busyTimeout: DEFAULT_BUSY_TIMEOUT, ...options });
    try {
      await mkdir(dirname(options.file), { recursive: true });
      await log.#connect();
    } catch (cause) {
      throw new EventLogError(`The event log ${options.file} cannot be opened.`, { cause });
    }
    return log;
  }

  append(event: NewEvent): Promise<Appended> {
    return new Promise((resolve, reject) => {
      if (this.#closing !== undefined) {
        reject(new EventLogError('The event log is closed.'));
        return;
      }
      this.#waiting.push({ event, caller: { resolve, reject } });
      // Not at once: requests that arrived in the same turn of the event loop share the commit.
      this.#committing ??= setImmediate().then(() => this.#commitWaiting());
    });
  }

  appendAll(events: readonly NewEvent[]): Promise<Appended[]> {
    return Promise.all(events.map((event) => this.append(event)));
  }

  async #commitWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#takeBatch();
      const started = performance.now();
      try {
        const events = batch.map(({ event }) => event);
        const firstIds = (await this.#ask({ operation: 'append', argument: events })) as Map<number, string>;
        const recorded = batch.length - firstIds.size;
        this.#committed({ events: batch.length, recorded, milliseconds: performance.now() - started });
        batch.forEach(({ event, caller }, i) => {
          const firstId = firstIds.get(i);
          caller.resolve({ id: firstId ?? event.id, recorded: firstId === undefined });
        });
      } catch (cause) {
        const error = new EventLogError('The event could not be recorded.', { cause });
        for (const { caller } of batch) caller.reject(error);
      }
    }
    this.#committing = undefined;
  }

  #takeBatch() {
    let characters = 0;
    const size = this.#waiting.findIndex(({ event }, i) => {
      characters += event.attributes.length + event.arrival.length + (event.data?.length ?? 0);
      return i === BATCH_MAX_EVENTS || (i > 0 && characters > BATCH_MAX_CHARACTERS);
    });
    return this.#waiting.splice(0, size === -1 ? this.#waiting.length : size);
  }

  read(query: EventQuery): Promise<LoggedEvent[]> {
    return this.#reading({ operation: 'read', argument: query });
  }

  scan(after: bigint, limit: number): Promise<StoredEvent[]> {
    return this.#reading({ operation: 'scan', argument: { after, limit } });
  }

  positionBefore(time: number): Promise<bigint> {
    return this.#reading({ operation: 'positionBefore', argument: time });
  }

  count(): Promise<number> {
    return this.#reading({ operation: 'count', argument: undefined });
  }

  bytes(): Promise<number> {
    return this.#reading({ operation: 'bytes', argument: undefined });
  }

  onCommit(listener: (commit: Commit) => void): void {
    this.#committed = listener;
  }

  async check(): Promise<void> {
    if (this.#closing !== undefined) throw new EventLogError('The event log is closed.');
    try {
      await this.#ask({ operation: 'check', argument: undefined });
    } catch (cause) {
      throw new EventLogError('The event log cannot take events.', { cause });
    }
  }

  /**
   * Writes a copy of the log, as it is at one moment, into a new file, while others go on writing.
   *
   * @throws {EventLogError} the file is there already, or cannot be written.
   */
  async backup(file: string): Promise<void> {
    try {
      await this.#ask({ operation: 'backup', argument: file });
    } catch (cause) {
      throw new EventLogError(`The event log could not be copied to ${file}.`, { cause });
    }
  }

  async #reading<T>(question: Question): Promise<T> {
    if (this.#closing !== undefined) throw new EventLogError('The event log is closed.');
    try {
      return (await this.#ask(question)) as T;
    } catch (cause) {
      throw new EventLogError('The events could not be read.', { cause });
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#committing;
    const worker = await this.#worker?.catch(() => undefined);
    // Without a database thread, its file being lost, there is nothing to release.
    if (worker === undefined) return;
    await this.#ask({ operation: 'close', argument: undefined });
    await worker.terminate();
  }

  async #ask(question: Question): Promise<unknown> {
    const worker = await (this.#worker ?? this.#connect());
    return new Promise((resolve, reject) => {
      const call = ++this.#calls;
      this.#answers.set(call, { resolve, reject });
      worker.postMessage({ call, ...question });
    });
  }

  /** Starts the worker thread that holds the database. One that ended by accident is replaced on the next call. */
  #connect(): Promise<Worker> {
    const { at, error: failure } = this.#openFailure;
    if (failure !== undefined && performance.now() - at < OPEN_PAUSE) return Promise.reject(failure);
    const connecting = new Promise<Worker>((resolve, reject) => {
      const worker = new Worker(join(__dirname, 'sqlite-worker.js'), { workerData: this.#options });
      this.#answers.set(0, {
        resolve: () => {
          resolve(worker);
        },
        reject,
      });
      const lost = (error: Error): void => {
        if (this.#worker !== connecting) return;
        this.#worker = undefined;
        for (const pending of this.#answers.values()) pending.reject(error);
        this.#answers.clear();
      };
      worker.on('message', (reply: WorkerReply) => {
        this.#answered(reply);
        if ('failure' in reply && reply.ended) lost(new Error(reply.failure));
        if (reply.call !== 0) return;
        const failed = 'failure' in reply;
        this.#openFailure = { at: performance.now(), error: failed ? new Error(reply.failure) : undefined };
        if (failed) void worker.terminate();
      });
      worker.on('error', lost);
      worker.on('exit', () => {
        lost(new Error('the database thread ended'));
      });
    });
    this.#worker = connecting;
    return connecting;
  }

  #answered(reply: WorkerReply): void {
    const pending = this.#answers.get(reply.call);
    this.#answers.delete(reply.call);
    if ('failure' in reply) pending?.reject(new Error(reply.failure));
    else pending?.resolve(reply.result);
  }
}
