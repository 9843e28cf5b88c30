import type { StoredEvent } from '../../events/stored-event';
import {
  eventOf,
  pageFiller,
  type EventRow,
  type EventQuery,
  type LogStats,
  type SearchQuery,
  type SearchResult,
} from '../queries';
import { searchStep, typePrefix } from '../search';
import type { Database, SqlValue } from './database';
import { LAST, TOTAL, TYPE } from './schema';

/** Maximum events that a search looks at together, and maximum bytes of attributes and data, unless a single event has more. */
const GROUP_EVENTS = 128;
const GROUP_BYTES = 512 * 1024;

/** How long a step of a search goes on, in milliseconds. */
const STEP_TIME = 10;

/** The sizes of an event are in its row's header: no text is loaded for them. */
const SIZES = `
  SELECT sequence AS position, octet_length(attributes) AS "attributesBytes", ifnull(octet_length(data), 0) AS "dataBytes"
  FROM events`;

type SizeRow = Readonly<Record<'position' | 'attributesBytes' | 'dataBytes', number>>;

/** Loads the events at some positions, the second parameter, in their order; those at the first without their data. */
const LOAD = `
  SELECT sequence AS position, recorded_at AS "recordedAt", id, source, idempotency_key AS "idempotencyKey",
         webhook_id AS "webhookId", attributes, arrival,
         CASE WHEN sequence IN (SELECT value FROM json_each(?)) THEN NULL ELSE data END AS data
  FROM events WHERE sequence IN (SELECT value FROM json_each(?)) ORDER BY sequence`;

/** The types from one on and before another, each found in the index after the one before. */
const TYPES = `
  WITH RECURSIVE types (type) AS (
    SELECT min(${TYPE}) FROM events WHERE ${TYPE} >= ?1 UNION ALL
    SELECT (SELECT min(${TYPE}) FROM events WHERE ${TYPE} > type) FROM types WHERE type < ?2)
  SELECT json_group_array(type) AS types FROM types WHERE type < ?2`;

/** Where the events of a span of time are, by the index of times: SQLite would look for one of the two alone by position, past all others. */
const SPAN = `
  SELECT ifnull(min(sequence) - 1, (${LAST})) AS after, ifnull(max(sequence), 0) AS last
  FROM events WHERE recorded_at >= ? AND recorded_at < ?`;

interface Selection extends EventQuery {
  readonly until?: number | undefined;
  readonly isUpwards: boolean;
}

/** A sign before a column keeps its index from being used: the order is that of the positions. */
const CONDITIONS = [
  ['id', 'id = ?'],
  ['after', 'sequence > ?'],
  ['before', 'sequence < ?'],
  ['types', `${TYPE} IN (SELECT value FROM json_each(?))`],
  ['since', '+recorded_at >= ?'],
  ['until', '+recorded_at < ?'],
] as const;

/** Has the methods of `Engine` that read. Its caller runs each, but for `search`, in a transaction. */
export class SqliteReader {
  /** A span of time, a position before all of its events, and the last one of them up to the position `newest`. */
  #span = { from: NaN, to: NaN, schema: 0, newest: 0, after: 0, last: 0 };

  constructor(private readonly database: Database) {}

  read(query: EventQuery): StoredEvent[] {
    const { after, since } = query;
    const start = since === undefined ? after : Math.max(after ?? 0, this.#boundsOf(since).after);
    return this.#page({ ...query, after: start, isUpwards: start !== undefined });
  }

  /** Looks at sizes first, so that what does not fit is never loaded. Returns events in log order. */
  #page(selection: Selection, wholeBytes?: number): StoredEvent[] {
    const kept: number[] = [];
    const omitted = new Map<number, number>();
    const add = pageFiller(selection, wholeBytes);
    for (const row of this.#sizes(selection)) {
      const added = add(row.attributesBytes, row.dataBytes);
      if (added === 'full') break;
      kept.push(row.position);
      if (added === 'without data') omitted.set(row.position, row.dataBytes);
    }
    const load = this.database.prepare(LOAD);
    return (load.all(JSON.stringify([...omitted.keys()]), JSON.stringify(kept)) as EventRow[]).map((row) => {
      const event = eventOf(row);
      const dataOmitted = omitted.get(event.position);
      return dataOmitted === undefined ? event : { ...event, dataOmitted };
    });
  }

  search(query: SearchQuery): Promise<SearchResult> {
    const deadline = performance.now() + STEP_TIME;
    return searchStep(this.#candidates(query), query, () => performance.now() > deadline);
  }

  /** The events that a search looks at, each group read in a transaction of its own. */
  async *#candidates(query: SearchQuery): AsyncGenerator<StoredEvent> {
    const { after = 0, before = Number.MAX_SAFE_INTEGER, from: since, to: until, type } = query;
    const isUpwards = query.after !== undefined;
    let selection: Selection = { since, until, type, isUpwards, after, before, limit: GROUP_EVENTS };
    if (since !== undefined || until !== undefined) {
      const bounds = await this.database.read(() => this.#boundsOf(since, until));
      selection = { ...selection, after: Math.max(after, bounds.after), before: Math.min(before, bounds.before) };
    }
    for (let isLeft = true; isLeft;) {
      const group = await this.database.read(() => this.#page(selection, GROUP_BYTES));
      const inOrder = isUpwards ? group : group.reverse();
      yield* inOrder;
      const position = inOrder.at(-1)?.position;
      selection = { ...selection, [isUpwards ? 'after' : 'before']: position };
      isLeft = position !== undefined;
    }
  }

  #sizes(selection: Selection): SizeRow[] {
    const asked = { ...selection, types: this.#types(selection.type) };
    const given = CONDITIONS.filter(([name]) => asked[name] !== undefined);
    const where = given.length === 0 ? '' : `WHERE ${given.map(([, sql]) => sql).join(' AND ')}`;
    const values = given.map(([name]) => asked[name] as SqlValue);
    return this.database
      .prepare(`${SIZES} ${where} ORDER BY sequence ${selection.isUpwards ? 'ASC' : 'DESC'} LIMIT ?`)
      .all(...values, selection.limit) as SizeRow[];
  }

  /** The types that a query's `type` stands for, as JSON. */
  #types(type: string | undefined): string | undefined {
    const prefix = typePrefix(type);
    if (prefix === undefined) return type && JSON.stringify([type]);
    const row = this.database.prepare(TYPES).get(prefix, `${prefix.slice(0, -1)}/`);
    return (row as { types: string }).types;
  }

  /** Positions between which all events are that were recorded from a time on and before another. */
  #boundsOf(from = -Infinity, to = Infinity): { readonly after: number; readonly before: number } {
    // Each step and page asks for them. A restore changes the version.
    const [schema, newest] = [this.database.number('PRAGMA schema_version'), this.newest()];
    let span = this.#span;
    if (from !== span.from || to !== span.to || schema !== span.schema) {
      const found = this.database.prepare(SPAN).get(from, to) as Pick<typeof span, 'after' | 'last'>;
      span = { from, to, schema, newest, ...found };
    } else if (newest > span.newest) {
      const later = 'SELECT max(sequence) FROM events WHERE sequence > ? AND recorded_at < ?';
      span = { ...span, newest, last: Math.max(span.last, this.database.number(later, span.newest, to)) };
    }
    this.#span = span;
    return { after: span.after, before: span.last + 1 };
  }

  newest(): number {
    return this.database.number(LAST);
  }

  stats(): LogStats {
    return { events: this.database.number(TOTAL), bytes: this.database.bytes() };
  }

  counts(times: readonly number[]): number[] {
    const count = 'SELECT count(*) FROM events WHERE recorded_at >= ? AND recorded_at < ?';
    return times.slice(1).map((to, i) => this.database.number(count, times[i] ?? to, to));
  }
}
