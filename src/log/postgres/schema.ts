import type { PostgresConnection } from './connection';

/** The version of the tables. */
const VERSION = 1;

/** The part of a type that is in its index. Queries must write it as the index does. */
export const TYPE_START = `${typeStart('type')} COLLATE "C"`;

export function typeStart(text: string): string {
  return `left(${text}, 200)`;
}

/** Indexes have digests, since their entries have 2.7 kB at most. Commits lock the row with `last`, removals the one with `gaps`. */
const SCHEMA = `
  SELECT pg_advisory_xact_lock(hashtext('webhook_log'));
  CREATE TABLE IF NOT EXISTS webhook_events (
    sequence bigint PRIMARY KEY,
    recorded_at timestamptz NOT NULL,
    id text NOT NULL,
    source text NOT NULL,
    type text,
    idempotency_key text,
    webhook_id text,
    attributes text NOT NULL,
    arrival text NOT NULL,
    data text,
    id_digest bytea NOT NULL,
    idempotency_digest bytea,
    webhook_digest bytea
  );
  CREATE UNIQUE INDEX IF NOT EXISTS webhook_events_id ON webhook_events (id_digest);
  CREATE UNIQUE INDEX IF NOT EXISTS webhook_events_idempotency ON webhook_events (idempotency_digest);
  CREATE UNIQUE INDEX IF NOT EXISTS webhook_events_webhook ON webhook_events (webhook_digest);
  CREATE INDEX IF NOT EXISTS webhook_events_time ON webhook_events (recorded_at);
  CREATE INDEX IF NOT EXISTS webhook_events_types ON webhook_events (${TYPE_START}, sequence);
  CREATE TABLE IF NOT EXISTS webhook_log (version integer NOT NULL, last bigint NOT NULL);
  CREATE TABLE IF NOT EXISTS webhook_gaps (gaps bigint NOT NULL);
  INSERT INTO webhook_log SELECT ${String(VERSION)}, 0 WHERE NOT EXISTS (SELECT FROM webhook_log);
  INSERT INTO webhook_gaps SELECT 0 WHERE NOT EXISTS (SELECT FROM webhook_gaps);
  CREATE OR REPLACE FUNCTION webhook_json(json text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
    BEGIN RETURN json::jsonb; EXCEPTION WHEN OTHERS THEN RETURN NULL; END $$;
  CREATE OR REPLACE VIEW webhook_report AS
    SELECT sequence, recorded_at, id, source, type, webhook_json(attributes) AS attributes,
           webhook_json('{' || data || '}') -> 'data' AS data, webhook_json(arrival) AS arrival
    FROM webhook_events`;

/** How many events the log holds. Subqueries: a join of tables without statistics looks so large that the server compiles it (JIT). */
export const TOTAL = '((SELECT last FROM webhook_log) - (SELECT gaps FROM webhook_gaps))';

/** Makes missing tables, if it may. @throws {Error} they have another version, or are missing. */
export async function provideTables(connection: PostgresConnection, create: boolean): Promise<void> {
  const [tables] = await connection.query<{ found: boolean }>(
    `SELECT to_regclass('webhook_gaps') IS NOT NULL AS found`,
  );
  if (tables?.found !== true) {
    if (!create) throw new Error('the database has no tables of an event log');
    await connection.query(SCHEMA);
  }
  const [log] = await connection.query<{ version: number }>('SELECT version FROM webhook_log');
  if (log?.version === VERSION) return;
  throw new Error(`its tables have the version ${String(log?.version)}, and this release reads ${String(VERSION)}`);
}

/** The digest of a text in SQL. */
export function digest(text: string): string {
  return `sha256(convert_to(${text}, 'UTF8'))`;
}

/** The digest of an id, and that of a source after it if there is one. */
export function idDigest(...texts: readonly string[]): string {
  return texts.map((text) => `substr(${digest(text)}, 1, 24)`).join(' || ');
}

/** A text as a column holds it: PostgreSQL has no NUL and no lone surrogates. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\u2400');
}
