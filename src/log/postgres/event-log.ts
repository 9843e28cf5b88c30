import { readFile } from 'node:fs/promises';
import { EventLogError, totalFindings, type Engine } from '../engine';
import { EventLog } from '../event-log';
import type { LogStats } from '../queries';
import { PostgresConnection, withWarning, type PostgresOptions } from './connection';
import { countEvents, readEvents, searchEvents } from './reader';
import { checkRecording, recordEvents } from './recorder';
import { provideTables, TOTAL } from './schema';

/** @throws {EventLogError} no host answers in time or takes writes, the user is refused, or the tables are of another version. */
export async function openPostgresLog(options: PostgresOptions): Promise<EventLog> {
  const { hosts, database, sslrootcert, connections, create = true } = options;
  let connection: PostgresConnection | undefined;
  try {
    const authorities = sslrootcert === undefined ? undefined : await readFile(sslrootcert, 'utf8');
    connection = new PostgresConnection(options, authorities);
    await provideTables(connection, create);
  } catch (cause) {
    await connection?.close();
    const names = hosts.map(({ host, port }) => `${host}:${String(port)}`).join(',');
    throw new EventLogError(`The event log ${database} on ${names} cannot be opened.`, { cause });
  }
  return new EventLog(engineOn(connection, connections), options);
}

/** Keeps events in a table of PostgreSQL. Durable means committed, as the server's `synchronous_commit` says. */
function engineOn(connection: PostgresConnection, connections: number): Engine {
  /** Several instances may do so at once. */
  const removed = async (sql: string, limit: number) => (await connection.query(sql, [limit])).length;
  return {
    commitSize: 4 * 1024 * 1024,
    // Commits and small reads do not wait for large ones.
    readsAtOnce: Math.max(1, connections - 2),
    watchPause: 100,
    retention: {
      busyPause: 20,
      idlePause: 1000,
      async step({ maxEvents, maxAge }) {
        const old = maxAge === undefined ? 0 : await removed(OLD, (Date.now() - maxAge) / 1000);
        const surplus = maxEvents === undefined ? 0 : await removed(SURPLUS, maxEvents);
        return Math.max(old, surplus) === STEP;
      },
    },
    append: (events, waited) => recordEvents(connection, events, waited),
    check: (failed) => checkRecording(connection, failed),
    read: (query) => readEvents(connection, query),
    search: (query) => searchEvents(connection, query),
    counts: (times) => countEvents(connection, times),
    forget: (positions) => forgetEvents(connection, positions),
    close: () => connection.close(),

    async stats() {
      const sql = `SELECT ${TOTAL}::float8 AS events, pg_total_relation_size('webhook_events')::float8 AS bytes`;
      const [stats = { events: 0, bytes: 0 }] = await connection.query<LogStats>(sql);
      return stats;
    },

    async newest() {
      const [log] = await connection.query<{ last: number }>('SELECT last::float8 FROM webhook_log');
      if (log === undefined) throw new Error('the tables of the event log are empty');
      return log.last;
    },

    /** The server checks tables and indexes (`pg_amcheck`). */
    async verify() {
      const sql = `SELECT (SELECT count(*) FROM webhook_events)::float8 AS found, ${TOTAL}::float8 AS noted`;
      const [totals] = await connection.query<Record<'found' | 'noted', number>>(sql, undefined, Infinity);
      return totalFindings(totals?.found, totals?.noted);
    },
  };
}

/** Events that one statement removes: commits that repeat one of them wait for it. */
const STEP = 500;

/** Removes the events that a condition names, and counts them; commits lock the counter after all else, and so does this. */
function removal(condition: string): string {
  return `
    WITH removed AS (
      DELETE FROM webhook_events WHERE sequence IN (
        SELECT sequence FROM webhook_events WHERE ${condition} LIMIT ${String(STEP)} FOR UPDATE
      ) RETURNING sequence
    ), total AS (SELECT count(*) AS events FROM removed), counted AS (
      UPDATE webhook_gaps SET gaps = gaps + events FROM total WHERE events > 0
    )
    SELECT sequence::float8 AS position FROM removed`;
}

const GIVEN = removal('sequence = ANY($1::bigint[]) ORDER BY sequence');
const OLD = removal('recorded_at < to_timestamp($1) ORDER BY recorded_at');
const SURPLUS = removal(`sequence <= (
  SELECT max(sequence) FROM (
    SELECT sequence FROM webhook_events ORDER BY sequence
    LIMIT (SELECT greatest(0, least(${String(STEP)}, ${TOTAL} - $1::bigint)))
  ) AS surplus
) ORDER BY sequence`);

/** As `EventLog.forget`. */
async function forgetEvents(connection: PostgresConnection, positions: readonly number[]): Promise<number[]> {
  const removed: number[] = [];
  for (let done = 0; done < positions.length; done += STEP) {
    const given = positions.slice(done, done + STEP);
    const rows = await connection.query<{ position: number }>(GIVEN, [given]);
    removed.push(...rows.map(({ position }) => position));
  }
  if (removed.length === 0) return [];
  const { warning } = await connection.run(
    (client) => withWarning(client, () => client.query('VACUUM (INDEX_CLEANUP TRUE) webhook_events')),
    Infinity,
  );
  // The server skips it for a role that does not own the table.
  if (warning !== undefined) throw new Error(`they are deleted, but pages of the table still hold them: ${warning}`);
  return removed;
}
