import type { ClientBase } from 'pg';
import { KeyConflict } from '../../events/key-conflict';
import { type NewEvent, StoredEvent } from '../../events/stored-event';
import { LARGE_MESSAGE, letOthersRun } from '../../util/promises';
import type { Appended } from '../engine';
import { withWarning, type PostgresConnection } from './connection';
import { digest, idDigest, storable } from './schema';

/** How long a check may take, in milliseconds: `/readyz` waits for a second. */
const CHECK_TIME = 800;

/** The events that `rowsOf` wrote. */
const GIVEN = `
  ROWS FROM (json_to_recordset($1) AS (
    "recordedAt" float8, id text, source text, type text, "idempotencyKey" text, "webhookId" text, attributes text, arrival text, data text
  )) WITH ORDINALITY AS given`;

/**
 * Records events, whose number is the second parameter, in one transaction. The counter is locked until it has committed, so that no
 * event becomes visible before one with a lower position. A repetition waits for a commit, too: what it repeats is durable by then, even
 * if that was waiting for a standby.
 */
const INSERT = `
  WITH counter AS (
    UPDATE webhook_log SET last = last + $2 RETURNING last - $2 AS base
  ), recorded AS (
    INSERT INTO webhook_events (sequence, recorded_at, id, source, type, idempotency_key, webhook_id, attributes, arrival, data,
                                id_digest, idempotency_digest, webhook_digest)
    SELECT (SELECT base FROM counter) + ordinality, to_timestamp("recordedAt" / 1000), id, source, type, "idempotencyKey", "webhookId",
           attributes, arrival, data, ${idDigest('id', 'source')}, ${digest('"idempotencyKey"')}, ${digest('"webhookId"')}
    FROM ${GIVEN} ORDER BY ordinality
    ON CONFLICT DO NOTHING RETURNING sequence
  ), total AS (
    SELECT count(*) AS recorded FROM recorded
  ), counted AS (
    UPDATE webhook_gaps SET gaps = gaps + $2 - recorded FROM total WHERE recorded < $2
  )
  SELECT ARRAY(SELECT (sequence - (SELECT base FROM counter))::int FROM recorded) AS places,
         current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit
  FROM total`;

/** The events that others repeat: by `Idempotency-Key`, else by `webhook-id`, else by id and source. */
const FIND = `
  SELECT ordinality::int AS place, key, first.id, first.attributes, first.arrival, sequence::float8 AS position,
         first.data IS NOT DISTINCT FROM given.data AS "hasSameData",
         first.id = given.id AND first.source = given.source AND recorded_at = to_timestamp("recordedAt" / 1000)
           AND first.arrival = given.arrival AS "isOwn"
  FROM ${GIVEN} CROSS JOIN LATERAL (
    SELECT 1 AS rank, 'idempotencyKey' AS key, * FROM webhook_events WHERE idempotency_digest = ${digest('"idempotencyKey"')}
    UNION ALL SELECT 2, 'webhookId', * FROM webhook_events WHERE webhook_digest = ${digest('"webhookId"')}
    UNION ALL SELECT 3, NULL, * FROM webhook_events WHERE id_digest = ${idDigest('given.id', 'given.source')}
    ORDER BY rank LIMIT 1
  ) AS first
  ORDER BY ordinality`;

type InsertedRow = Partial<Record<'fsync' | 'commit', string> & { readonly places: number[] }>;

type FoundRow = Pick<StoredEvent, 'id' | 'attributes' | 'arrival' | 'position'> &
  Readonly<Record<'hasSameData' | 'isOwn', boolean> & { place: number; key: KeyConflict['key'] | null }>;

/** Records events as `Engine.append` promises, all of them or none. */
export async function recordEvents(
  connection: PostgresConnection,
  events: readonly NewEvent[],
  waited: number,
): Promise<Appended[]> {
  const deadline = connection.deadline(waited);
  const entries: { readonly event: NewEvent; outcome?: Appended }[] = events.map((event) => ({ event }));
  const isLeft = ({ outcome }: { readonly outcome?: Appended }) => outcome === undefined;
  // Set once an attempt may have recorded some, whose answer was lost.
  let ownPositions: Set<number> | undefined;
  // Again if the event that one repeats was forgotten before it was found.
  for (let left = entries; left.length > 0; left = left.filter(isLeft)) {
    const given = left.map(({ event }) => event);
    const places = await connection.run(async (client, isRepeated) => {
      if (isRepeated) ownPositions ??= new Set();
      return insert(connection, client, given);
    }, deadline);
    for (const [i, entry] of left.entries())
      if (places.has(i + 1)) entry.outcome = { id: entry.event.id, recorded: true };
    const repeats = left.filter(isLeft);
    if (repeats.length === 0) break;
    const rows = await rowsOf(repeats.map(({ event }) => event));
    for (const first of await connection.query<FoundRow>(FIND, [rows], deadline)) {
      const entry = repeats[first.place - 1];
      if (entry) entry.outcome = outcomeOf(entry.event, first, ownPositions);
    }
  }
  return entries.map(({ outcome }) => outcome as Appended);
}

/**
 * Checks that events could be recorded now: commits none, which needs the rights and the standbys that events need.
 *
 * @param failed - events that were not recorded, which are tried first.
 */
export async function checkRecording(connection: PostgresConnection, failed: readonly NewEvent[]): Promise<void> {
  await connection.run(async (client) => {
    if (failed.length > 0) {
      await client.query('BEGIN');
      await insert(connection, client, failed).finally(() => client.query('ROLLBACK'));
    }
    await insert(connection, client, []);
  }, performance.now() + CHECK_TIME);
}

/** Resolves to the places, from 1, of the events that are new. @throws {Error} not committed, or not as durably as the log promises. */
async function insert(
  connection: PostgresConnection,
  client: ClientBase,
  events: readonly NewEvent[],
): Promise<ReadonlySet<number>> {
  const given = [await rowsOf(events), events.length];
  const { rows, warning } = await withWarning(client, () => client.query<InsertedRow>(INSERT, given));
  // It has committed here alone, since the wait for its standby was cancelled.
  if (warning !== undefined) throw new Error(warning);
  const [{ places, fsync, commit } = {}] = rows;
  connection.requireDurable(fsync, commit);
  return new Set(places);
}

/** @param ownPositions - those found so far that this call recorded, if the answer of an attempt may have been lost; added to here. */
function outcomeOf(event: NewEvent, first: FoundRow, ownPositions: Set<number> | undefined): Appended {
  // Large data stays in the database, which has compared it.
  const compared = { ...first, data: first.hasSameData ? event.data : null };
  const conflict = first.key === null ? undefined : KeyConflict.between(first.key, event, compared);
  const isOwn = ownPositions !== undefined && first.isOwn && !ownPositions.has(first.position);
  if (isOwn) ownPositions.add(first.position);
  return { id: first.id, recorded: isOwn, conflict };
}

/** Writes events as one JSON text: of arrays the library would escape each text with regular expressions, which take seconds. */
async function rowsOf(events: readonly NewEvent[]): Promise<string> {
  const rows = events.map((event) => {
    const type = StoredEvent.typeOf(event);
    return { ...event, type: typeof type === 'string' ? type : undefined };
  });
  const json = JSON.stringify(rows, (_name, value: unknown) => (typeof value === 'string' ? storable(value) : value));
  if (json.length > LARGE_MESSAGE) await letOthersRun();
  return json;
}
