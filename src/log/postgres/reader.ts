import type { StoredEvent } from '../../events/stored-event';
import { eventOf, PAGE_BYTES, type EventRow, type EventQuery, type SearchQuery, type SearchResult } from '../queries';
import { searchStep, textForms, typePrefix } from '../search';
import type { PostgresConnection } from './connection';
import { idDigest, storable, TYPE_START, typeStart } from './schema';

/** Maximum events and bytes that a step of a search looks at, unless a single event has more bytes. */
const STEP_EVENTS = 512;
const STEP_BYTES = 2 * 1024 * 1024;

/** The times that `timestamptz` can hold, in milliseconds since 1970-01-01T00:00Z. */
const EARLIEST = -2e14;
const LATEST = 9e15;

const EVENT = `
  sequence::float8 AS position, id, source, attributes, arrival, idempotency_key AS "idempotencyKey",
  webhook_id AS "webhookId", round(extract(epoch FROM recorded_at) * 1000)::float8 AS "recordedAt"`;

/** The events of a query, whose first parameters are those of `placeOf`; one that is NULL does not apply. */
const PLACE = `
  ($1::bigint IS NULL OR sequence > $1) AND ($2::bigint IS NULL OR sequence < $2) AND
  ($3::float8 IS NULL OR recorded_at >= to_timestamp($3)) AND ($4::float8 IS NULL OR recorded_at < to_timestamp($4))`;
const OF_TYPE = `
  ($5::text IS NULL OR type = $5 AND ${TYPE_START} = ${typeStart('$5')}) AND
  ($6::text IS NULL OR
    starts_with(type, $6) AND ${TYPE_START} BETWEEN ${typeStart('$6')} AND ${typeStart("rtrim($6, '.') || '/'")})`;

function placeOf({ after, before, type }: Pick<EventQuery, 'after' | 'before' | 'type'>, from?: number, to?: number) {
  const prefix = typePrefix(type);
  const whole = prefix === undefined ? type : undefined;
  return [after, before, timestamp(from), timestamp(to), whole && storable(whole), prefix && storable(prefix)];
}

/** The condition for rows that fit into a number of bytes; the first one always does. */
const fitsInto = (bytes: number) => `above = 0 OR above + size <= ${String(bytes)}`;

type Sql = Readonly<Record<'columns' | 'where' | 'counted' | 'fits', string>>;
type Page = Sql & { readonly isUpwards: boolean; readonly limit: number };

/** Selects the first rows in a direction that fit, by their `size` and the bytes that are counted of those `above` it. */
function pageOf({ columns, where, isUpwards, limit, counted, fits }: Page): string {
  const order = `ORDER BY sequence ${isUpwards ? 'ASC' : 'DESC'}`;
  return `
    SELECT ${columns} FROM (
      SELECT *, sum(${counted}) OVER (${order}) - ${counted} AS above, count(*) OVER () AS total
      FROM (SELECT *, octet_length(attributes) + coalesce(octet_length(data), 0) AS size
            FROM webhook_events WHERE ${where} ${order} LIMIT ${String(limit)}) AS candidates
    ) AS page WHERE ${fits} ${order}`;
}

function timestamp(time: number | undefined): number | undefined {
  return time === undefined ? undefined : Math.max(EARLIEST, Math.min(LATEST, time)) / 1000;
}

const WITH_ID = `
  ($7::text IS NULL OR id_digest BETWEEN ${idDigest('$7')} AND ${idDigest('$7')} || decode(repeat('ff', 25), 'hex'))`;

/** As `Engine.read`. */
export async function readEvents(connection: PostgresConnection, query: EventQuery): Promise<StoredEvent[]> {
  const { id, after, since, limit, maxBytes } = query;
  const isCut = maxBytes === undefined ? 'false' : `size > ${String(maxBytes)}`;
  const fits = maxBytes === undefined ? fitsInto(PAGE_BYTES) : `above <= ${String(maxBytes)}`;
  const counted = `CASE WHEN ${isCut} THEN octet_length(attributes) ELSE size END`;
  const omitted = `CASE WHEN ${isCut} THEN coalesce(octet_length(data), 0) END AS "dataOmitted"`;
  const columns = `${EVENT}, CASE WHEN NOT (${isCut}) THEN data END AS data, ${omitted}`;
  const where = `${PLACE} AND ${OF_TYPE} AND ${WITH_ID}`;
  const isUpwards = after !== undefined;
  const page = pageOf({ columns, where, isUpwards, limit, counted, fits });
  const rows = await connection.query<EventRow>(page, [...placeOf(query, since), id && storable(id)]);
  const events = rows.map(eventOf);
  return isUpwards ? events : events.reverse();
}

const HAS_FORM = ['attributes', 'arrival', 'data']
  .map((name) => `strpos(lower(looked.${name} COLLATE "C"), lower(form COLLATE "C")) > 0`)
  .join(' OR ');
const WITH_TEXT = `($7::text[] IS NULL OR EXISTS (SELECT FROM unnest($7) AS form WHERE ${HAS_FORM}))`;

/** As `Engine.search`. The server narrows to the type and the text. */
export async function searchEvents(connection: PostgresConnection, query: SearchQuery): Promise<SearchResult> {
  const { after, limit, text, binding, type, sender, fromSender, from, to } = query;
  const forms = text === undefined ? undefined : textForms(text).map(storable);
  const isFiltered = [text, binding, type, sender, fromSender].some((one) => one !== undefined);
  const most = isFiltered ? STEP_EVENTS : limit;
  const isUpwards = after !== undefined;
  const fits = fitsInto(STEP_BYTES);
  const candidates = pageOf({ columns: '*', where: PLACE, isUpwards, limit: most + 1, counted: 'size', fits });
  // Where type or text do not match, the texts are null, which is no match either.
  const rows = await connection.query<EventRow & { total: number }>(
    `SELECT total::int, looked.sequence::float8 AS position,
            round(extract(epoch FROM looked.recorded_at) * 1000)::float8 AS "recordedAt", matched.*
     FROM (${candidates}) AS looked
     LEFT JOIN LATERAL (SELECT looked.id, looked.attributes, looked.arrival, looked.data WHERE ${OF_TYPE} AND ${WITH_TEXT}) AS matched ON true
     ORDER BY looked.sequence ${isUpwards ? 'ASC' : 'DESC'}`,
    [...placeOf(query, from, to), forms],
  );
  let events = 0;
  const step = await searchStep(rows.map(eventOf), query, () => ++events === most);
  return { ...step, more: step.more || rows.length < (rows[0]?.total ?? 0) };
}

/** As `Engine.counts`. */
export async function countEvents(connection: PostgresConnection, times: readonly number[]): Promise<number[]> {
  const rows = await connection.query<{ events: number }>(
    `SELECT (SELECT count(*) FROM webhook_events WHERE recorded_at >= to_timestamp(first) AND recorded_at < to_timestamp(next))::float8
              AS events
     FROM unnest($1::float8[], $2::float8[]) WITH ORDINALITY AS span (first, next, place) ORDER BY place`,
    [times.slice(0, -1).map(timestamp), times.slice(1).map(timestamp)],
  );
  return rows.map(({ events }) => events);
}
