import type { NewEvent, StoredEvent } from '../../events/stored-event';
import { writeNewFile } from '../../util/files';
import type { Channel } from '../channel';
import type { LogEngine, Recorded } from '../engine';
import { EngineLog } from '../engine-log';
import type {
  EventQuery,
  LoggedEvent,
  LogStats,
  LogUpkeep,
  Progress,
  Rate,
  RatesQuery,
  ScanQuery,
  SearchQuery,
  SearchResult,
} from '../event-log';
import { MAX_PACKED_EVENTS, packEvents } from './batch';
import type { SqliteOptions } from './connection/connection';
import { DatabaseThread } from './database-thread';
import { RemoteWriter } from './shared/remote-writer';
import { SlicedQueries } from './sliced-queries';
import { SqliteUpkeep } from './upkeep/upkeep';
import { localWriter, type Writer } from './writer';

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
    return new SqliteEventLog(new SqliteEngine(thread, localWriter(thread)));
  }

  /**
   * Makes the log of one process of several, which reads the file itself, opening it for the first reader, and has its events
   * written by a `SharedWriter` at the other end of a channel.
   */
  static withWriter(channel: Channel, options: Pick<SqliteOptions, 'file'>): SqliteEventLog {
    return new SqliteEventLog(new SqliteEngine(new DatabaseThread(options), new RemoteWriter(channel)));
  }
}

/** Keeps events in a SQLite file: WAL with `synchronous=FULL`, so that durable means on disk. */
class SqliteEngine implements LogEngine {
  readonly commitSize = 1024 * 1024;
  readonly searchPause = 15;
  /** SQLite announces no commits of other processes; a look takes the database thread some 30 µs. */
  readonly watchPause = 50;
  readonly #thread: DatabaseThread;
  readonly #writer: Writer;
  readonly #sliced: SlicedQueries;
  readonly #upkeep: SqliteUpkeep;

  constructor(thread: DatabaseThread, writer: Writer) {
    this.#thread = thread;
    this.#writer = writer;
    this.#upkeep = new SqliteUpkeep(thread);
    this.#sliced = new SlicedQueries(thread);
  }

  async appendAll(events: readonly NewEvent[]): Promise<Recorded> {
    const results = await this.#writer.append(inBatches(events).map(packEvents));
    const appended = events.map(({ id }, i) => {
      const firstId = results[Math.floor(i / MAX_PACKED_EVENTS)]?.firstIds.get(i % MAX_PACKED_EVENTS);
      return { id: firstId ?? id, recorded: firstId === undefined };
    });
    return { appended, newest: results.findLast(({ newest }) => newest !== undefined)?.newest };
  }

  read(query: EventQuery): Promise<LoggedEvent[]> {
    return this.#thread.ask('read', query);
  }

  async scan(query: ScanQuery): Promise<StoredEvent[]> {
    for (let { after } = query; ;) {
      const { events, next } = await this.#thread.ask('scan', { ...query, after });
      if (events.length > 0 || next === undefined) return events;
      after = next;
    }
  }

  async search(query: SearchQuery): Promise<SearchResult> {
    const { limit } = query;
    const { events, reached, more } = await this.#thread.ask('search', { query, range: undefined, limit });
    return { events: query.after === undefined ? events : events.reverse(), reached, more };
  }

  rates(query: RatesQuery): Promise<Rate[]> {
    return this.#sliced.rates(query);
  }

  stats(): Promise<LogStats> {
    return this.#thread.ask('stats');
  }

  check(): Promise<void> {
    return this.#writer.check();
  }

  newest(): Promise<number> {
    return this.#thread.ask('newest');
  }

  follow(tell: (newest: number) => void): () => Promise<void> {
    const end = this.#writer.watch(tell);
    return () => Promise.resolve(end());
  }

  forget(positions: readonly bigint[], progress: Progress): Promise<bigint[]> {
    return this.#upkeep.forget(positions, progress);
  }

  verify(): Promise<string[]> {
    return this.#thread.ask('verify');
  }

  backup(file: string): Promise<void> {
    return writeNewFile(file, (temporary) => this.#thread.ask('backup', temporary));
  }

  compact(progress: Progress): Promise<number> {
    return this.#upkeep.compact(progress);
  }

  async close(): Promise<void> {
    await this.#writer.close();
    await this.#thread.end();
  }
}

function inBatches(events: readonly NewEvent[]): (readonly NewEvent[])[] {
  const batches = Math.ceil(events.length / MAX_PACKED_EVENTS);
  return Array.from({ length: batches }, (_, i) => events.slice(i * MAX_PACKED_EVENTS, (i + 1) * MAX_PACKED_EVENTS));
}
