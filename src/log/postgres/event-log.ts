import { readFile } from 'node:fs/promises';
import { EventLogError, type Engine, type EventLogSettings } from '../engine';
import { EventLog } from '../event-log';
import type { LogStats } from '../queries';
import type { PostgresAddress } from './address';
import { PostgresConnection } from './connection';
import { countEvents, readEvents, searchEvents } from './reader';
import { checkRecording, recordEvents } from './recorder';
import { forgetEvents, retentionIn } from './removal';
import { provideTables, TOTAL } from './schema';

/** @throws {EventLogError} no host answers in time or takes writes, the user is refused, or the tables are of another version. */
export async function openPostgresLog(
  options: PostgresAddress & EventLogSettings & { readonly create: boolean },
): Promise<EventLog> {
  const { hosts, database, sslrootcert, connections, create, forgets = create } = options;
  let connection: PostgresConnection | undefined;
  try {
    const authorities = sslrootcert === undefined ? undefined : await readFile(sslrootcert, 'utf8');
    connection = new PostgresConnection(options, options, authorities);
    await provideTables(connection, create);
  } catch (cause) {
    await connection?.close();
    const names = hosts.map(({ host, port }) => `${host}:${String(port)}`).join(',');
    throw new EventLogError(`The event log ${database} on ${names} cannot be opened.`, { cause });
  }
  return new EventLog(new PostgresEngine(connection, connections, forgets), options);
}

/** Keeps events in a table of PostgreSQL. Durable means committed, as the server's `synchronous_commit` says. */
class PostgresEngine implements Engine {
  readonly commitSize = 4 * 1024 * 1024;
  readonly readsAtOnce: number;
  readonly watchPause = 100;
  readonly retention: Engine['retention'];
  readonly #connection: PostgresConnection;

  constructor(connection: PostgresConnection, connections: number, forgets: boolean) {
    // Commits and small reads do not wait for large ones.
    this.readsAtOnce = Math.max(1, connections - 2);
    this.#connection = connection;
    if (forgets) this.retention = retentionIn(connection);
  }

  readonly append: Engine['append'] = (events, waited) => recordEvents(this.#connection, events, waited);
  readonly check: Engine['check'] = (failed) => checkRecording(this.#connection, failed);
  readonly read: Engine['read'] = (query) => readEvents(this.#connection, query);
  readonly search: Engine['search'] = (query) => searchEvents(this.#connection, query);
  readonly counts: Engine['counts'] = (times) => countEvents(this.#connection, times);
  readonly forget: Engine['forget'] = (positions) => forgetEvents(this.#connection, positions);
  readonly close: Engine['close'] = () => this.#connection.close();

  async stats(): Promise<LogStats> {
    const [stats] = await this.#connection.query<LogStats>(
      `SELECT ${TOTAL}::float8 AS events, pg_total_relation_size('webhook_events')::float8 AS bytes, last::float8 AS last
       FROM webhook_log`,
    );
    if (stats === undefined) throw new Error('the tables of the event log are empty');
    return stats;
  }

  async newest(): Promise<number> {
    const [row] = await this.#connection.query<{ newest: number }>(
      'SELECT coalesce((SELECT max(sequence) FROM webhook_events), last)::float8 AS newest FROM webhook_log',
    );
    return row?.newest ?? 0;
  }

  /** The server checks tables and indexes (`pg_amcheck`). */
  async verify(): Promise<string[]> {
    const sql = `SELECT (SELECT count(*) FROM webhook_events)::float8 AS found, ${TOTAL}::float8 AS noted`;
    const [totals] = await this.#connection.query<Record<'found' | 'noted', number>>(sql, undefined, Infinity);
    const { found = 0, noted = 0 } = totals ?? {};
    return found === noted ? [] : [`The log holds ${String(found)} events, and its total says ${String(noted)}.`];
  }
}
