import type { ClientBase } from 'pg';
import { KeyConflict } from '../../events/key-conflict';
import type { NewEvent } from '../../events/stored-event';
import { LARGE_MESSAGE, letOthersRun } from '../../util/promises';
import type { Appended } from '../engine';
import { withWarning, type PostgresConnection } from './connection';
import { DIGESTS, shown } from './schema';

/** How long a check may take, in milliseconds: `/readyz` waits for a second. */
const CHECK_TIME = 800;

/**
 * Records events in one transaction. The counter is locked until it has committed, so that no event becomes visible before one with a
 * lower position. A repetition waits for a commit, too: what it repeats is durable by then, even if that was waiting for a standby.
 */
const INSERT = `
  WITH counter AS (
    UPDATE webhook_log SET last = last + cardinality($1::float8[]) RETURNING last - cardinality($1::float8[]) AS base
  ), recorded AS (
    INSERT INTO webhook_events (sequence, recorded_at, id, source, type, idempotency_key, webhook_id, attributes, arrival, data,
                                id_digest, idempotency_digest, webhook_digest)
    SELECT (SELECT base FROM counter) + place, to_timestamp(time / 1000), id, source, type, idempotency_key, webhook_id, attributes, arrival, data,
           id_digest, idempotency_digest, webhook_digest
    FROM unnest($1::float8[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
                $10::bytea[], $11::bytea[], $12::bytea[]) WITH ORDINALITY
      AS given (time, id, source, type, idempotency_key, webhook_id, attributes, arrival, data,
                id_digest, idempotency_digest, webhook_digest, place)
    ORDER BY place
    ON CONFLICT DO NOTHING RETURNING sequence
  ), total AS (
    SELECT count(*) AS recorded FROM recorded
  ), counted AS (
    UPDATE webhook_gaps SET gaps = gaps + cardinality($1::float8[]) - recorded FROM total WHERE recorded < cardinality($1::float8[])
  )
  SELECT ARRAY(SELECT (sequence - (SELECT base FROM counter))::int FROM recorded) AS places,
         current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit
  FROM total`;

/** The events that others repeat: by id and source, by `Idempotency-Key`, by `webhook-id`. */
const FIND = `
  SELECT place::int, rank, first.id, first.arrival, sequence::float8 AS position,
         first.data IS NOT DISTINCT FROM given.data AS "hasSameData", first.type IS NOT DISTINCT FROM given.type AS "hasSameType",
         rank = 1 AND recorded_at = to_timestamp(time / 1000) AND first.arrival = given.arrival AS "isOwn"
  FROM unnest($1::float8[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::bytea[], $7::bytea[]) WITH ORDINALITY
    AS given (time, type, arrival, data, id_digest, idempotency_digest, webhook_digest, place)
  CROSS JOIN LATERAL (
    SELECT 1 AS rank, * FROM webhook_events WHERE id_digest = given.id_digest
    UNION ALL SELECT 2, * FROM webhook_events WHERE idempotency_digest = given.idempotency_digest
    UNION ALL SELECT 3, * FROM webhook_events WHERE webhook_digest = given.webhook_digest
  ) AS first
  ORDER BY place, rank`;

type InsertedRow = Partial<Record<'fsync' | 'commit', string> & { readonly places: number[] }>;

interface FoundRow {
  readonly place: number;
  readonly rank: number;
  readonly id: string;
  readonly arrival: string;
  readonly position: number;
  readonly hasSameData: boolean;
  readonly hasSameType: boolean;
  readonly isOwn: boolean;
}

/** Records events as `Engine.append` promises, all of them or none. */
export async function recordEvents(
  connection: PostgresConnection,
  events: readonly NewEvent[],
  waited: number,
): Promise<Appended[]> {
  const deadline = connection.deadline(waited);
  const outcomes: (Appended | undefined)[] = events.map(() => undefined);
  const own = new Set<number>();
  let mayBeOwn = false;
  // The event that this one repeats may be forgotten before it is found.
  for (let left = [...events.keys()]; left.length > 0; left = left.filter((i) => outcomes[i] === undefined)) {
    const given = left.map((i) => events[i] as NewEvent);
    const places = await connection.run(async (client, isRepeated) => {
      mayBeOwn ||= isRepeated;
      return insert(connection, client, given);
    }, deadline);
    for (const place of places) outcomes[left[place - 1] ?? 0] = { id: given[place - 1]?.id ?? '', recorded: true };
    left = left.filter((i) => outcomes[i] === undefined);
    if (left.length === 0) break;
    const repeats = left.map((i) => events[i] as NewEvent);
    const found = await connection.query<FoundRow>(FIND, await columnsOf(repeats, COMPARED), deadline);
    const firsts = left.map((): FoundRow[] => []);
    for (const row of found) firsts[row.place - 1]?.push(row);
    for (const [at, i] of left.entries())
      outcomes[i] = outcomeOf(events[i] as NewEvent, firsts[at] ?? [], mayBeOwn ? own : undefined);
  }
  return outcomes as Appended[];
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
): Promise<readonly number[]> {
  const columns = await columnsOf(events, INSERTED);
  const { rows, warning } = await withWarning(client, () => client.query<InsertedRow>(INSERT, columns));
  // It has committed here alone, since the wait for its standby was cancelled.
  if (warning !== undefined) throw new Error(warning);
  const [{ places, fsync, commit } = {}] = rows;
  connection.requireDurable(fsync, commit);
  return places ?? [];
}

/** @param own - the positions that the events of a commit have whose answer was lost; filled here. */
function outcomeOf(event: NewEvent, found: readonly FoundRow[], own: Set<number> | undefined): Appended | undefined {
  const [first] = found;
  if (first === undefined) return undefined;
  for (const other of found.filter(({ rank }) => rank > 1)) {
    const key = other.rank === 2 ? 'idempotencyKey' : 'webhookId';
    // Large data stays in the database, which has compared it.
    const attributes = other.hasSameType ? event.attributes : '{}';
    const same = { arrival: other.arrival, attributes, data: other.hasSameData ? event.data : null };
    const conflict = KeyConflict.between(key, event, same);
    if (conflict !== undefined) return { id: other.id, recorded: false, conflict };
  }
  const isOwn = own !== undefined && first.isOwn && !own.has(first.position);
  if (isOwn) own.add(first.position);
  return { id: first.id, recorded: isOwn };
}

/** The object identifiers of types (`pg_type.dat`). */
const BYTEA = 17;
const TEXT = 25;
const FLOAT8 = 701;

/** Returns a column of events as an array in the binary format. */
type Column = (events: readonly NewEvent[]) => Buffer;

const column =
  (type: number, of: (event: NewEvent) => Buffer | undefined): Column =>
  (events) =>
    binaryArray(type, events.map(of));
const texts = (of: (event: NewEvent) => string | undefined) =>
  column(TEXT, (event) => {
    const text = of(event);
    return text === undefined ? undefined : Buffer.from(text);
  });

const time = column(FLOAT8, ({ recordedAt }) => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(recordedAt);
  return bytes;
});
const type = texts(({ attributes }) => {
  const { type: given } = JSON.parse(attributes) as { readonly type?: unknown };
  return typeof given === 'string' ? shown(given) : undefined;
});
const arrival = texts((event) => event.arrival);
const data = texts((event) => event.data);
const digests = DIGESTS.map((digest) => column(BYTEA, digest));

/** The parameters of `INSERT` and of `FIND`. */
const INSERTED: readonly Column[] = [
  time,
  texts(({ id }) => shown(id)),
  texts(({ source }) => shown(source)),
  type,
  texts(({ idempotencyKey }) => idempotencyKey && shown(idempotencyKey)),
  texts(({ webhookId }) => webhookId && shown(webhookId)),
  texts(({ attributes }) => attributes),
  arrival,
  data,
  ...digests,
];
const COMPARED: readonly Column[] = [time, type, arrival, data, ...digests];

async function columnsOf(events: readonly NewEvent[], columns: readonly Column[]): Promise<Buffer[]> {
  const made: Buffer[] = [];
  for (const column of columns) {
    const bytes = column(events);
    made.push(bytes);
    if (events.length > MANY || bytes.length > LARGE_MESSAGE) await letOthersRun();
  }
  return made;
}

/** Events whose columns take more than some milliseconds. */
const MANY = 1000;

/** Writes an array as `array_recv` reads it: the library would escape each text with regular expressions, which take seconds. */
function binaryArray(type: number, elements: readonly (Buffer | undefined)[]): Buffer {
  const { length } = elements;
  // Dimensions, whether there are nulls, the type; of the dimension its length and lower bound.
  const head = length === 0 ? [0, 1, type] : [1, 1, type, length, 1];
  const bytes = elements.reduce((sum, element) => sum + (element?.length ?? 0), 4 * (head.length + length));
  const array = Buffer.allocUnsafe(bytes);
  let end = 0;
  for (const number of head) end = array.writeInt32BE(number, end);
  for (const element of elements) {
    end = array.writeInt32BE(element?.length ?? -1, end);
    end += element?.copy(array, end) ?? 0;
  }
  return array;
}
