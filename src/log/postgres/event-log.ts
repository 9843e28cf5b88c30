import type { NewEvent, StoredEvent } from '../../events/stored-event';
import type { Engine, Recorded } from '../engine';
import { logOn } from '../engine-log';
import {
  EventLogError,
  type EventLog,
  type EventQuery,
  type LoggedEvent,
  type LogStats,
  type Progress,
  type Retention,
  type ScanQuery,
  type SearchQuery,
  type SearchResult,
} from '../event-log';
import type { PostgresAddress } from './address';
import { PostgresConnection } from './connection';
import { PostgresNotifications } from './notifications';
import { PostgresReader } from './reader';
import { recordEvents } from './recorder';
import { forgetEvents, PostgresRetention } from './removal';
import { provideTables, TOTAL } from './schema';
import { verifyEvents } from './verification';

/** Which event log of a database is opened, and how. */
export interface PostgresOptions extends PostgresAddress {
  /** Secret. Without one, `PGPASSWORD` or `PGPASSFILE` gives it. */
  readonly password?: string | undefined;
  /** The longest that a call waits, in milliseconds. */
  readonly timeout: number;
  readonly retention: Retention;
  /** Whether this process forgets what is past retention; by default one that makes tables does. */
  readonly forgets?: boolean;
  /** Whether missing tables are made. */
  readonly create: boolean;
}

/**
 * Connects to the database, and makes or checks the tables.
 *
 * @throws {EventLogError} no host answers in time or takes writes, the user is refused, or the tables are of another version.
 */
export async function openPostgresLog(options: PostgresOptions): Promise<EventLog> {
  const { hosts, database, password, timeout, create } = options;
  const connection = new PostgresConnection(options, password, timeout);
  try {
    await provideTables(connection, create);
  } catch (cause) {
    await connection.close();
    const names = hosts.map(({ host, port }) => `${host}:${String(port)}`).join(',');
    throw new EventLogError(`The event log ${database} on ${names} cannot be opened.`, { cause });
  }
  return logOn(new PostgresEngine(connection, options));
}

/** Keeps events in a table of PostgreSQL. Durable means committed, as the server's `synchronous_commit` says. */
class PostgresEngine implements Engine {
  readonly commitSize = 4 * 1024 * 1024;
  readonly readsAtOnce: number;
  readonly searchPause = 10;
  /** Notifications come sooner, except through a pooler. */
  readonly watchPause = 200;
  readonly retention: PostgresRetention | undefined;
  readonly #connection: PostgresConnection;
  readonly #reader: PostgresReader;
  readonly #notifications: PostgresNotifications;

  constructor(connection: PostgresConnection, { connections, create, forgets = create, retention }: PostgresOptions) {
    // Commits and small reads do not wait for large ones.
    this.readsAtOnce = Math.max(1, connections - 2);
    this.#connection = connection;
    this.#reader = new PostgresReader(connection);
    this.#notifications = new PostgresNotifications(connection);
    if (forgets && (retention.maxEvents !== undefined || retention.maxAge !== undefined)) {
      this.retention = new PostgresRetention(connection, retention);
    }
  }

  async appendAll(events: readonly NewEvent[]): Promise<Recorded> {
    return { appended: await recordEvents(this.#connection, events) };
  }

  read(query: EventQuery): Promise<LoggedEvent[]> {
    return this.#reader.read(query);
  }

  scan(query: ScanQuery): Promise<StoredEvent[]> {
    return this.#reader.scan(query);
  }

  search(query: SearchQuery): Promise<SearchResult> {
    return this.#reader.search(query);
  }

  counts(times: readonly number[]): Promise<number[]> {
    return this.#reader.counts(times);
  }

  async stats(): Promise<LogStats> {
    const [stats] = await this.#connection.query<LogStats>(
      `SELECT ${TOTAL}::float8 AS events, pg_total_relation_size('webhook_events')::float8 AS bytes, last::float8 AS last
       FROM webhook_log`,
    );
    if (stats === undefined) throw new Error('the tables of the event log are empty');
    return stats;
  }

  /** Commits a change of the counter that changes nothing: it needs the rights, the disk and the standbys that an event needs. */
  async check(): Promise<void> {
    await this.#connection.query('UPDATE webhook_log SET last = last');
  }

  async newest(): Promise<number> {
    const [row] = await this.#connection.query<{ newest: number }>(
      'SELECT coalesce((SELECT max(sequence) FROM webhook_events), last)::float8 AS newest FROM webhook_log',
    );
    return this.#notifications.saw(row?.newest ?? 0);
  }

  follow(tell: (newest: number) => void): () => Promise<void> {
    return this.#notifications.follow(tell);
  }

  forget(positions: readonly number[], progress: Progress): Promise<number[]> {
    return forgetEvents(this.#connection, positions, progress);
  }

  verify(): Promise<string[]> {
    return verifyEvents(this.#connection, this.#reader);
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }
}
