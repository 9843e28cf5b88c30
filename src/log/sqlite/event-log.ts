import type { NewEvent } from '../../events/stored-event';
import { writeNewFile } from '../../util/files';
import type { Channel, LogEngine, Recorded, RetentionSteps } from '../engine';
import { EngineLog } from '../engine-log';
import type { LogUpkeep, Progress } from '../event-log';
import type { SqliteOptions } from './connection/connection';
import { RemoteWriter } from './shared/remote-writer';
import { MAX_PACKED_EVENTS, packEvents } from './thread/batch';
import { DatabaseThread } from './thread/database-thread';
import { compact, forget } from './upkeep/upkeep';

/** The event log in a SQLite file. */
export class SqliteEventLog extends EngineLog {
  declare readonly backup: Required<LogUpkeep>['backup'];
  declare readonly compact: Required<LogUpkeep>['compact'];

  /**
   * Opens the log and creates it, folders included, where it is missing.
   *
   * @throws {EventLogError} the file cannot be created or opened, or is not an event log. This message, unlike those of the
   * other methods, names the file.
   */
  static async open(options: Pick<SqliteOptions, 'file'> & Partial<SqliteOptions>): Promise<SqliteEventLog> {
    const thread = new DatabaseThread(options);
    await thread.start();
    return new SqliteEventLog(new SqliteEngine(thread, options.file));
  }

  /**
   * Makes the log of one process of several, which reads the file itself, opening it for the first reader, and has its events
   * written by a `SharedWriter` at the other end of a channel.
   */
  static withWriter(channel: Channel, options: Pick<SqliteOptions, 'file'>): SqliteEventLog {
    return new SqliteEventLog(new SqliteEngine(new DatabaseThread(options), options.file, new RemoteWriter(channel)));
  }
}

/** Keeps events in a SQLite file: WAL with `synchronous=FULL`, so that durable means on disk. */
class SqliteEngine implements LogEngine {
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
  /** The writer in the supervisor, which takes the place of this process's thread. */
  readonly #remote: RemoteWriter | undefined;

  constructor(thread: DatabaseThread, file: string, remote?: RemoteWriter) {
    this.#thread = thread;
    this.#searches = new DatabaseThread({ file });
    this.#remote = remote;
    this.retention = thread.retention;
  }

  async appendAll(events: readonly NewEvent[]): Promise<Recorded> {
    const results = await (this.#remote ?? this.#thread).append(inBatches(events).map(packEvents));
    const appended = events.map(({ id }, i) => {
      const firstId = results[Math.floor(i / MAX_PACKED_EVENTS)]?.firstIds.get(i % MAX_PACKED_EVENTS);
      return { id: firstId ?? id, recorded: firstId === undefined };
    });
    return { appended, newest: results.findLast(({ newest }) => newest !== undefined)?.newest };
  }

  readonly read: LogEngine['read'] = (query) => this.#thread.ask('read', query);
  readonly scan: LogEngine['scan'] = (query) => this.#thread.ask('scan', query);
  readonly search: LogEngine['search'] = (query) => this.#searches.ask('search', query);
  readonly counts: LogEngine['counts'] = (times) => this.#searches.ask('counts', times);
  readonly stats: LogEngine['stats'] = () => this.#thread.ask('stats');
  readonly newest: LogEngine['newest'] = () => this.#thread.ask('newest');
  readonly verify: LogEngine['verify'] = () => this.#thread.ask('verify');

  check(): Promise<void> {
    return (this.#remote ?? this.#thread).check();
  }

  onLost(listener: (problem: string) => void): void {
    this.#thread.onLost = listener;
  }

  follow(tell: (newest: number) => void): () => Promise<void> {
    const end = this.#remote?.watch(tell);
    return () => Promise.resolve(end?.());
  }

  forget(positions: readonly bigint[], progress: Progress): Promise<bigint[]> {
    return forget(this.#thread, positions, progress);
  }

  backup(file: string): Promise<void> {
    return writeNewFile(file, (temporary) => this.#thread.ask('backup', temporary));
  }

  compact(progress: Progress): Promise<number> {
    return compact(this.#thread, progress);
  }

  async close(): Promise<void> {
    await this.#remote?.close();
    await this.#searches.end();
    await this.#thread.end();
  }
}

function inBatches(events: readonly NewEvent[]): (readonly NewEvent[])[] {
  const batches = Math.ceil(events.length / MAX_PACKED_EVENTS);
  return Array.from({ length: batches }, (_, i) => events.slice(i * MAX_PACKED_EVENTS, (i + 1) * MAX_PACKED_EVENTS));
}
