import type { StoredEvent } from '../../events/stored-event';
import { typePrefix } from '../engine';
import { eventOf, PAGE_BYTES, type EventRow, type EventQuery, type SearchQuery, type SearchResult } from '../queries';
import { searchStep, textForms } from '../search';
import type { PostgresConnection } from './connection';
import { digestRange, shown, TYPE_CHARACTERS, TYPE_START } from './schema';

/** Maximum events and bytes that a step of a search looks at, unless a single event has more bytes. */
const STEP_EVENTS = 512;
const STEP_BYTES = 2 * 1024 * 1024;

/** The times that `timestamptz` can hold, in milliseconds since 1970-01-01T00:00Z. */
const EARLIEST = -2e14;
const LATEST = 9e15;

const EVENT = `
  sequence::float8 AS position, id, source, attributes, arrival, idempotency_key AS "idempotencyKey",
  webhook_id AS "webhookId", round(extract(epoch FROM recorded_at) * 1000)::float8 AS "recordedAt"`;

type Row = EventRow & Pick<StoredEvent, 'position' | 'recordedAt'>;

class Conditions {
  readonly values: unknown[] = [];
  readonly #sql: string[] = [];

  /** Adds a condition, in which `?` stands for the value, unless that is undefined. */
  add(sql: string, value: unknown): this {
    this.#sql.push(this.filled(sql, value));
    return this;
  }

  filled(sql: string, value: unknown): string {
    return value === undefined ? 'true' : sql.replaceAll('?', this.value(value));
  }

  value(value: unknown): string {
    return `$${String(this.values.push(value))}`;
  }

  toString(): string {
    return this.#sql.map((sql) => `(${sql})`).join(' AND ');
  }
}

/** Selects the first rows in a direction, until they have more bytes than a limit. */
function pageOf(columns: string, where: Conditions, isUpwards: boolean, limit: number, counted: string, bytes: number) {
  const order = `ORDER BY sequence ${isUpwards ? 'ASC' : 'DESC'}`;
  return `
    SELECT ${columns} FROM (
      SELECT *, sum(${counted}) OVER (${order}) - ${counted} AS above, count(*) OVER () AS total
      FROM (SELECT *, octet_length(attributes) + coalesce(octet_length(data), 0) AS size
            FROM webhook_events WHERE ${String(where)} ${order} LIMIT ${String(limit)}) AS candidates
    ) AS page WHERE above <= ${String(bytes)} ${order}`;
}

function timestamp(time: number | undefined): number | undefined {
  return time === undefined ? undefined : Math.max(EARLIEST, Math.min(LATEST, time)) / 1000;
}

function ofType(type: string | undefined): [sql: string, value: string | undefined] {
  const most = String(TYPE_CHARACTERS);
  const prefix = typePrefix(type);
  return prefix === undefined
    ? [`type = ? AND ${TYPE_START} = left(?, ${most})`, type && shown(type)]
    : [
        `starts_with(type, ?) AND ${TYPE_START} BETWEEN left(?, ${most}) AND left(rtrim(?, '.') || '/', ${most})`,
        shown(prefix),
      ];
}

/** As `Engine.read`. */
export async function readEvents(connection: PostgresConnection, query: EventQuery): Promise<StoredEvent[]> {
  const { id, type, after, before, since, limit, maxBytes } = query;
  const where = new Conditions()
    .add('recorded_at >= to_timestamp(?)', timestamp(since))
    .add('sequence > ?', after)
    .add('sequence < ?', before)
    .add(...ofType(type));
  if (id !== undefined) {
    const [start, end] = digestRange(id);
    where.add('id_digest >= ?', start).add('id_digest < ?', end);
  }
  const most = maxBytes ?? PAGE_BYTES;
  const isCut = maxBytes === undefined ? 'false' : `size > ${String(most)}`;
  const counted = `CASE WHEN ${isCut} THEN octet_length(attributes) ELSE size END`;
  const omitted = `CASE WHEN ${isCut} THEN coalesce(octet_length(data), 0) END AS "dataOmitted"`;
  const columns = `${EVENT}, CASE WHEN NOT (${isCut}) THEN data END AS data, ${omitted}`;
  const isUpwards = after !== undefined;
  const rows = await connection.query<Row & { readonly dataOmitted: number | null }>(
    pageOf(columns, where, isUpwards, limit, counted, most),
    where.values,
  );
  const events = rows.map(({ dataOmitted, ...row }) =>
    dataOmitted === null ? eventOf(row) : { ...eventOf(row), dataOmitted },
  );
  return isUpwards ? events : events.reverse();
}

/** As `Engine.search`. The server narrows to the type and the text. */
export async function searchEvents(connection: PostgresConnection, query: SearchQuery): Promise<SearchResult> {
  const { after, before, limit, text, binding, type, sender, fromSender, from, to } = query;
  const where = new Conditions()
    .add('sequence > ?', after)
    .add('sequence < ?', before)
    .add('recorded_at >= to_timestamp(?)', timestamp(from))
    .add('recorded_at < to_timestamp(?)', timestamp(to));
  const forms = text === undefined ? undefined : where.value(textForms(text).map((form) => shown(inLowerCase(form))));
  const isTyped = where.filled(...ofType(type));
  const hasText =
    forms === undefined ? 'true' : `EXISTS (SELECT FROM unnest(${forms}::text[]) AS form WHERE ${HAS_FORM})`;
  const isFiltered = [text, binding, type, sender, fromSender].some((one) => one !== undefined);
  const most = isFiltered ? STEP_EVENTS : limit;
  const candidates = pageOf('*', where, after !== undefined, most + 1, 'size', STEP_BYTES);
  // Where type or text do not match, the texts are null, which is no match either.
  const rows = await connection.query<Row & { total: number }>(
    `SELECT total::int, looked.sequence::float8 AS position,
            round(extract(epoch FROM looked.recorded_at) * 1000)::float8 AS "recordedAt", matched.*
     FROM (${candidates}) AS looked
     LEFT JOIN LATERAL (SELECT looked.id, looked.attributes, looked.arrival, looked.data WHERE ${isTyped} AND ${hasText}) AS matched ON true
     ORDER BY looked.sequence ${after === undefined ? 'DESC' : 'ASC'}`,
    where.values,
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

const HAS_FORM = ['attributes', 'arrival', 'data']
  .map((name) => `strpos(lower(looked.${name} COLLATE "C"), form) > 0`)
  .join(' OR ');

function inLowerCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
