import { setTimeout as delay } from 'node:timers/promises';
import type { NewEvent } from '../../events/stored-event';
import { writeNewFile } from '../../util/files';
import type { Engine, FileEngine, Recorded, RetentionSteps, Writer } from '../engine';
import { fileLogOn } from '../engine-log';
import type { FileLog, Progress } from '../event-log';
import { packEvents } from './batch';
import { DatabaseThread } from './database-thread';
import type { SqliteOptions } from './options';

/** Pause after each step that held the write lock, in milliseconds: a writer that waits for it looks again and again. */
const REST = 20;

/** Most events that are deleted in one step. */
const MOST_DELETED = 64;

/** How often, and after how many milliseconds, emptying the write-ahead log is tried again while readers need it. */
const TRIES = 300;
const TRY_PAUSE = 100;

/**
 * Opens the log in a SQLite file and creates it, folders included, if it is missing.
 *
 * @throws {EventLogError} the file cannot be created or opened, or is not an event log. This message, unlike those of the
 * methods, names the file.
 */
export async function openSqliteLog(options: SqliteOptions): Promise<FileLog> {
  const thread = new DatabaseThread(options);
  await thread.start();
  return fileLogOn(new SqliteEngine(thread, options));
}

/** Returns the log of one process of several. It opens the file for the first reader, and another process writes for it. */
export function sqliteLogOfWriter(file: string, writer: Writer): FileLog {
  return fileLogOn(new SqliteEngine(new DatabaseThread({ file }), { file }, writer));
}

/** Keeps events in a SQLite file: WAL with `synchronous=FULL`, so that durable means on disk. */
class SqliteEngine implements FileEngine {
  readonly commitSize = 1024 * 1024;
  /** One is read while the one before is answered. */
  readonly readsAtOnce = 2;
  /** Searches have a thread of their own, which nothing else waits for. */
  readonly searchPause = 0;
  /** SQLite announces no commits of other processes; a look takes the database thread some 30 µs. */
  readonly watchPause = 50;
  readonly retention: RetentionSteps | undefined;
  readonly #thread: DatabaseThread;
  /** Starts with the first search. */
  readonly #searches: DatabaseThread;
  /** Writes in place of this process's thread. */
  readonly #writer: Writer | undefined;
  readonly follow: Engine['follow'];

  constructor(thread: DatabaseThread, { file, readOnly }: SqliteOptions, writer?: Writer) {
    this.#thread = thread;
    this.#searches = new DatabaseThread({ file, ...(readOnly && { readOnly }) });
    this.#writer = writer;
    this.follow = writer && following(writer);
    this.retention = thread.retention;
  }

  async appendAll(events: readonly NewEvent[]): Promise<Recorded> {
    const { others, newest } =
      this.#writer === undefined
        ? await this.#thread.ask('append', packEvents(events))
        : { others: await this.#writer.appendAll(events), newest: undefined };
    return { appended: events.map(({ id }, i) => others.get(i) ?? { id, recorded: true }), newest };
  }

  readonly read: Engine['read'] = (query) => this.#thread.ask('read', query);
  readonly scan: Engine['scan'] = (query) => this.#thread.ask('scan', query);
  readonly search: Engine['search'] = (query) => this.#searches.ask('search', query);
  readonly counts: Engine['counts'] = (times) => this.#searches.ask('counts', times);
  readonly stats: Engine['stats'] = () => this.#thread.ask('stats');
  readonly newest: Engine['newest'] = () => this.#thread.ask('newest');
  readonly verify: Engine['verify'] = () => this.#thread.ask('verify');

  check(): Promise<void> {
    return this.#writer?.check() ?? this.#thread.ask('check');
  }

  onLost(listener: (problem: string) => void): void {
    this.#thread.onLost = listener;
  }

  async forget(positions: readonly number[], progress: Progress): Promise<number[]> {
    const forgotten: number[] = [];
    try {
      for (let done = 0; done < positions.length; done += MOST_DELETED) {
        const some = positions.slice(done, done + MOST_DELETED);
        const deleted = await this.#thread.ask('forget', some);
        forgotten.push(...some.filter((position) => deleted.has(position)));
        progress(done, positions.length);
        await delay(REST);
      }
      // Deleted rows are overwritten, but SQLite leaves copies of rows that it moved in the unused room of pages.
      await this.#thread.ask('vacuum');
      progress(positions.length, positions.length);
      await this.#emptyWal();
    } catch (cause) {
      const done = `${String(forgotten.length)} of ${String(positions.length)} removed from the log`;
      throw new Error(`${done}, whose files may still hold their bytes. Run this again once the reason is gone`, {
        cause,
      });
    }
    return forgotten;
  }

  backup(file: string): Promise<void> {
    return writeNewFile(file, (temporary) => this.#thread.ask('backup', temporary));
  }

  async compact(progress: Progress): Promise<number> {
    if ((await this.#thread.ask('freeBytes')) === undefined) return this.#rebuild();
    let given = 0;
    for (let step = await this.#thread.ask('giveBack'); step > 0; step = await this.#thread.ask('giveBack')) {
      given += step;
      progress(given, given + ((await this.#thread.ask('freeBytes')) ?? 0));
      await delay(REST);
    }
    await this.#emptyWal();
    return given;
  }

  async #rebuild(): Promise<number> {
    const before = (await this.stats()).bytes;
    await this.#thread.ask('vacuum');
    await this.#emptyWal();
    return before - (await this.stats()).bytes;
  }

  async #emptyWal(): Promise<void> {
    for (let tries = 0; !(await this.#thread.ask('emptyWal')); tries++) {
      if (tries === TRIES) {
        throw new Error(
          'another program, a backup perhaps, has been reading for too long. Run this again when it has ended',
        );
      }
      await delay(TRY_PAUSE);
    }
  }

  async close(): Promise<void> {
    await this.#searches.end();
    await this.#thread.end();
  }
}

/** Returns an `Engine.follow` that tells what a writer knows, and asks it one question at a time for all who follow. */
function following(writer: Writer): NonNullable<Engine['follow']> {
  const followers = new Set<(newest: number) => void>();
  let newest = 0;
  let isAsking = false;
  const ask = async (): Promise<void> => {
    isAsking = true;
    try {
      while (followers.size > 0) {
        newest = await writer.newestOtherThan(newest);
        for (const tell of followers) tell(newest);
      }
    } catch {
      // The writer has gone, which those who record are told. Looks go on.
    }
    isAsking = false;
  };
  return (tell) => {
    followers.add(tell);
    if (!isAsking) void ask();
    return () => {
      followers.delete(tell);
      return Promise.resolve();
    };
  };
}
