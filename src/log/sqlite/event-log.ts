import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { writeNewFile } from '../../util/files';
import { Remote } from '../../util/remote';
import { EventLogError, type Engine, type RetentionSteps } from '../engine';
import { EventLog, type LocalSettings } from '../event-log';
import { keepOpen, type SqliteOptions } from './database';
import type { OpenedFiles } from './files';
import { rowOf } from './recorder';
import type { ThreadFunctions } from './thread';

interface SqliteLogOptions extends SqliteOptions, LocalSettings {
  /** How long retention pauses when nothing is due, in milliseconds; 1,000 by default. */
  readonly retentionPause?: number;
}

/** Pause after each step of a long task that held the write lock, in milliseconds: others get it meanwhile. */
const REST = 20;

/** Maximum events that are deleted in one step. */
const STEP_EVENTS = 64;

/** How often emptying the write-ahead log is tried while readers need it, and the pause between, in milliseconds. */
const TRIES = 300;
const TRY_PAUSE = 100;

/** By default the garbage of large events takes 30 MB more of the thread's heap. */
const YOUNG_GENERATION = { maxYoungGenerationSizeMb: 6 };

/** @throws {EventLogError} the file cannot be created or opened, or is not an event log. The message names the file. */
export async function openSqliteLog(options: SqliteLogOptions): Promise<EventLog> {
  return new EventLog(await openEngine(options), options);
}

/** As `EventLogLocation.restore`. Others can have the log open. */
export async function restoreSqliteLog(backup: string, file: string): Promise<string | undefined> {
  if (!existsSync(backup)) throw new EventLogError(`There is no backup at ${backup}.`);
  const engine = await openEngine({ file });
  try {
    const { events } = await engine.stats();
    const copy = `${file}.replaced-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
    if (events > 0) await engine.upkeep.backup(copy);
    await engine.restore(backup).catch(async (error: unknown) => {
      await rm(copy, { force: true });
      throw error;
    });
    return events > 0 ? copy : undefined;
  } catch (cause) {
    throw new EventLogError(`The backup ${backup} cannot be restored. Nothing was changed.`, { cause });
  } finally {
    await engine.close();
  }
}

async function openEngine(options: SqliteLogOptions): Promise<SqliteEngine> {
  const engine = new SqliteEngine(options);
  try {
    await engine.open();
    return engine;
  } catch (cause) {
    await engine.close();
    throw new EventLogError(`The event log ${options.file} cannot be opened.`, { cause });
  }
}

/** Keeps events in a SQLite file: WAL with `synchronous=FULL`, so that durable means on disk. */
class SqliteEngine implements Engine {
  readonly commitSize = 1024 * 1024;
  readonly readsAtOnce = 2;
  /** A look takes the database thread some 30 µs. */
  readonly watchPause = 20;
  readonly retention: RetentionSteps;
  readonly #file: string;
  /** Writes. */
  readonly #writer: DatabaseThread;
  /** Reads events: in WAL mode no reader waits for a writer. Starts with the first question. */
  readonly #reader: DatabaseThread;
  #keptOpen: { close(): void } | undefined;

  constructor({ retentionPause: idlePause = 1000, ...options }: SqliteLogOptions) {
    this.#file = options.file;
    this.#writer = new DatabaseThread(options);
    this.#reader = new DatabaseThread(options);
    this.retention = { busyPause: 2, idlePause, step: (due) => this.#writer.ask('retain', due) };
  }

  /** The threads that start later open the same files, or none. */
  async open(): Promise<void> {
    this.#reader.files = this.#writer.files = await this.#writer.ask('files');
    this.#keptOpen = keepOpen(this.#file);
  }

  readonly append: Engine['append'] = async (events, waited) => {
    const repeated = await this.#writer.ask('append', { events: events.map(rowOf), waited });
    return events.map(({ id }, i) => repeated[i] ?? { id, recorded: true });
  };
  readonly read: Engine['read'] = (query) => this.#reader.ask('read', query);
  readonly search: Engine['search'] = (query) => this.#reader.ask('search', query);
  readonly counts: Engine['counts'] = (times) => this.#reader.ask('counts', times);
  readonly verify: Engine['verify'] = () => this.#reader.ask('verify');
  /** Answered before events that are recorded later are there: a follower begins with them. */
  readonly stats: Engine['stats'] = () => this.#writer.ask('stats');
  readonly newest: Engine['newest'] = () => this.#writer.ask('newest');
  readonly verifyFiles = (): Promise<void> => this.#writer.ask('verifyFiles');
  readonly check: Engine['check'] = (failed) => this.#writer.ask('check', failed.map(rowOf));
  readonly restore = (backup: string): Promise<void> => this.#writer.ask('restore', backup);

  async forget(positions: readonly number[]): Promise<number[]> {
    const forgotten = new Set<number>();
    for (let done = 0; done < positions.length; done += STEP_EVENTS) {
      const some = positions.slice(done, done + STEP_EVENTS);
      for (const position of await this.#writer.ask('forget', some)) forgotten.add(position);
      await delay(REST);
    }
    await this.#emptyWal();
    return positions.filter((position) => forgotten.has(position));
  }

  readonly upkeep = {
    backup: (file: string): Promise<void> =>
      writeNewFile(file, (temporary) =>
        // SQLite leaves its journal behind if the disk is full.
        this.#writer.ask('backup', temporary).finally(() => rm(`${temporary}-journal`, { force: true })),
      ),
    rewrite: async (): Promise<void> => {
      await this.#writer.ask('rewrite');
      await this.#emptyWal();
    },
    compact: async (): Promise<number> => {
      let total = 0;
      for (let given = Infinity; given > 0; await delay(REST)) {
        given = await this.#writer.ask('giveBack');
        total += given;
      }
      await this.#emptyWal();
      return total;
    },
  };

  async #emptyWal(): Promise<void> {
    for (let tries = 0; !(await this.#writer.ask('emptyWal')); tries++) {
      if (tries === TRIES) {
        throw new Error(
          'another program, a backup perhaps, has been reading for too long, and the write-ahead log may still hold the bytes of ' +
            'removed events. Run this again when it has ended',
        );
      }
      await delay(TRY_PAUSE);
    }
  }

  async close(): Promise<void> {
    const areClosed = (await this.#reader.closeDatabase()) && (await this.#writer.closeDatabase());
    // The last connection writes the log back and deletes files by name. If they were lost, this one keeps the threads from that
    // until both have ended.
    if (areClosed) this.#keptOpen?.close();
    await this.#reader.end();
    await this.#writer.end();
    if (!areClosed) this.#keptOpen?.close();
  }
}

interface OpenThread {
  readonly worker: Worker;
  readonly database: Remote<ThreadFunctions>;
}

/** A connection to the database in a thread of its own, so that a slow disk holds up no answer. One that ended is replaced on the next call. */
class DatabaseThread {
  /** Set once they are known. */
  files: OpenedFiles | undefined;
  readonly #options: SqliteOptions;
  #opened: Promise<OpenThread> | undefined;

  constructor(options: SqliteOptions) {
    this.#options = options;
  }

  /** Questions begin in their order; one that waits for a lock lets later ones pass. */
  async ask<Name extends keyof ThreadFunctions>(
    name: Name,
    ...argument: Parameters<ThreadFunctions[Name]>
  ): Promise<Awaited<ReturnType<ThreadFunctions[Name]>>> {
    this.#opened ??= this.#start();
    return (await this.#opened).database.ask(name, ...argument);
  }

  async #start(): Promise<OpenThread> {
    const workerData: SqliteOptions = { ...this.#options, opened: this.files };
    const worker = new Worker(join(__dirname, 'thread.js'), { workerData, resourceLimits: YOUNG_GENERATION });
    const database = Remote.ofThread<ThreadFunctions>(worker);
    worker.on('exit', () => {
      this.#opened = undefined;
    });
    try {
      await database.ask('open');
      return { worker, database };
    } catch (error) {
      await worker.terminate();
      throw error;
    }
  }

  /** Closes the database after the questions before. Resolves to false if it stays open, since its files were lost. */
  async closeDatabase(): Promise<boolean> {
    const opened = await this.#opened?.catch(() => undefined);
    if (opened === undefined) return true;
    return opened.database.ask('close').then(
      () => true,
      () => false,
    );
  }

  /** Ends the thread, with which SQLite lets go of the files. */
  async end(): Promise<void> {
    await (await this.#opened?.catch(() => undefined))?.worker.terminate();
  }
}
