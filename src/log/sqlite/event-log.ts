import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { writeNewFile } from '../../util/files';
import { Remote } from '../../util/remote';
import { EventLogError, type Engine, type LocalSettings } from '../engine';
import { EventLog } from '../event-log';
import { keepOpen, type SqliteOptions } from './database';
import type { OpenedFiles } from './files';
import { rowOf, STEP_EVENTS } from './recorder';
import type { ThreadFunctions } from './thread';

interface SqliteLogOptions extends SqliteOptions, LocalSettings {
  /** How long retention pauses when nothing is due, in milliseconds; 1,000 by default. */
  readonly retentionPause?: number;
}

/** Pause after each step of a long task that held the write lock, in milliseconds: others get it meanwhile. */
const STEP_PAUSE = 20;

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

/** Keeps events in a SQLite file: WAL with `synchronous=FULL`, so that durable means on disk. */
async function openEngine({ retentionPause: idlePause = 1000, ...options }: SqliteLogOptions) {
  const writer = new DatabaseThread(options);
  // In WAL mode no reader waits for a writer. Starts with the first question.
  const reader = new DatabaseThread(options);
  let keptOpen: { close(): void } | undefined;
  const close = async (): Promise<void> => {
    const areClosed = (await reader.closeDatabase()) && (await writer.closeDatabase());
    // If the files were lost, `keptOpen` must close last: while it is open no thread writes back or deletes.
    if (areClosed) keptOpen?.close();
    for (const thread of [reader, writer]) await thread.end();
    if (!areClosed) keptOpen?.close();
  };
  try {
    // Threads that start later open the same files, which a connection of this thread keeps, or none.
    reader.files = writer.files = await writer.ask('files');
    keptOpen = keepOpen(options.file);
  } catch (cause) {
    await close();
    throw new EventLogError(`The event log ${options.file} cannot be opened.`, { cause });
  }
  return {
    commitSize: 1024 * 1024,
    readsAtOnce: 2,
    // Asking takes the database thread some 30 µs.
    watchPause: 20,
    retention: { busyPause: 2, idlePause, step: (due) => writer.ask('retain', due) },
    async append(events, waited) {
      const repeats = await writer.ask('append', { events: events.map(rowOf), waited });
      return events.map(({ id }, i) => repeats[i] ?? { id, recorded: true });
    },
    check: (failed) => writer.ask('check', failed.map(rowOf)),
    verifyFiles: () => writer.ask('verifyFiles'),
    newest: () => writer.ask('newest'),
    stats: () => writer.ask('stats'),
    read: (query) => reader.ask('read', query),
    search: (query) => reader.ask('search', query),
    counts: (times) => reader.ask('counts', times),
    verify: () => reader.ask('verify'),
    async forget(positions) {
      const forgotten: number[] = [];
      for (let done = 0; done < positions.length; done += STEP_EVENTS) {
        forgotten.push(...(await writer.ask('forget', positions.slice(done, done + STEP_EVENTS))));
        await delay(STEP_PAUSE);
      }
      await emptyWal(writer);
      return forgotten;
    },
    close,

    upkeep: {
      backup: (file) =>
        writeNewFile(file, (temporary) =>
          // SQLite leaves its journal behind if the disk is full.
          writer.ask('backup', temporary).finally(() => rm(`${temporary}-journal`, { force: true })),
        ),
      async rewrite() {
        await writer.ask('rewrite');
        await emptyWal(writer);
      },
      async compact() {
        let total = 0;
        for (let given = Infinity; given > 0; await delay(STEP_PAUSE)) {
          given = await writer.ask('giveBack');
          total += given;
        }
        await emptyWal(writer);
        return total;
      },
    },
    restore: (backup: string) => writer.ask('restore', backup),
  } satisfies Engine & { restore(backup: string): Promise<void> };
}

async function emptyWal(writer: DatabaseThread): Promise<void> {
  for (let tries = 0; !(await writer.ask('emptyWal')); tries++) {
    if (tries === TRIES) {
      throw new Error(
        'another program, a backup perhaps, has been reading for too long, and the write-ahead log may still hold the bytes of ' +
          'removed events. Run this again when it has ended',
      );
    }
    await delay(TRY_PAUSE);
  }
}

/** A connection to the database in a thread of its own, so that a slow disk holds up no answer. One that ended is replaced on the next call. */
class DatabaseThread {
  /** Set once they are known. */
  files: OpenedFiles | undefined;
  #thread: ReturnType<typeof startThread> | undefined;

  constructor(private readonly options: SqliteOptions) {}

  /** Questions begin in their order; one that waits for a lock lets later ones pass. */
  readonly ask: Remote<ThreadFunctions>['ask'] = (name, ...argument) => {
    if (this.#thread === undefined || this.#thread.database.hasEnded)
      this.#thread = startThread({ ...this.options, opened: this.files });
    return this.#thread.database.ask(name, ...argument);
  };

  /** Closes the database after the questions before. Resolves to false if it stays open, since its files were lost. */
  async closeDatabase(): Promise<boolean> {
    if (this.#thread === undefined || this.#thread.database.hasEnded) return true;
    return this.#thread.database.ask('close').then(
      () => true,
      () => false,
    );
  }

  /** Ends the thread, with which SQLite lets go of the files. */
  async end(): Promise<void> {
    await this.#thread?.worker.terminate();
  }
}

function startThread(workerData: SqliteOptions) {
  const worker = new Worker(join(__dirname, 'thread.js'), { workerData, resourceLimits: YOUNG_GENERATION });
  return { worker, database: Remote.ofThread<ThreadFunctions>(worker) };
}
