import type { FoundEvent, SearchQuery, SearchResult } from '../log-reader';
import {
  DATA_HEAD,
  DATA_TAIL,
  foundEventOf,
  READ_AFTER,
  READ_BEFORE,
  SEARCHED,
  textForms,
  textPattern,
  type MatchSurroundings,
} from '../search';
import type { ReadableConnection } from './read-only';
import type { SqliteReader } from './reader';
import { BYTES } from './schema';

/** Most events that are looked at together, and most bytes, unless a single event has more. */
const GROUP_EVENTS = 128;
const GROUP_BYTES = 512 * 1024;

/** How long a step of a search goes on, in milliseconds. A page makes several searches, each of which may wait for a step of a download. */
const STEP_TIME = 10;

/** The positions between which events are left to look at. */
interface Range {
  readonly after: number;
  readonly before: number;
}

/** Events that are looked at together. */
interface Group {
  readonly events: number;
  readonly first: number;
  readonly last: number;
  readonly bytes: number;
}

interface ListedRow {
  readonly position: number;
  readonly id: string;
  readonly recordedAt: number;
  readonly attributes: string;
  readonly arrival: string;
  readonly head: string | null;
  readonly tail: string | null;
  readonly bytes: number;
}

/** Data that is kept as base64. An import may have put spaces before its name. */
const IS_BASE64 = `substr(ltrim(substr(data, 1, 40)), 1, 13) = '"data_base64"'`;

const LISTED = `
  SELECT sequence AS position, id, recorded_at AS "recordedAt", ${jsonOr('attributes', '{"type":"damaged"}')}, ${jsonOr('arrival', '{}')},
         substr(data, 1, ${String(DATA_HEAD)}) AS head, substr(data, -${String(DATA_TAIL)}) AS tail,
         octet_length(data) AS bytes
  FROM events WHERE sequence = ?`;

const AROUND = SEARCHED.map((name) => ({ name, sql: around(name) }));

/** Searches for events. */
export class SqliteSearch {
  readonly #connection: ReadableConnection;
  readonly #reader: SqliteReader;
  #groupEvents = GROUP_EVENTS;

  /** @param reader - says at which positions a time range begins and ends. */
  constructor(connection: ReadableConnection, reader: SqliteReader) {
    this.#connection = connection;
    this.#reader = reader;
  }

  /** As `Engine.search`. */
  search(query: SearchQuery): SearchResult {
    const deadline = performance.now() + STEP_TIME;
    const order: Direction = query.after === undefined ? 'DESC' : 'ASC';
    const match = this.#matcher(query, order);
    const events: FoundEvent[] = [];
    let range = this.#rangeOf(query);
    let reached: number | undefined;
    const reach = (position: number): void => {
      reached = position;
      range = order === 'DESC' ? { ...range, before: position } : { ...range, after: position };
    };
    search: do {
      const group = this.#group(range, order);
      if (group.events === 0) break;
      for (const position of match(group)) {
        reach(position);
        events.push(this.#list(position, query.text));
        if (events.length === query.limit || performance.now() > deadline) break search;
      }
      reach(order === 'DESC' ? group.first : group.last);
    } while (performance.now() < deadline);
    const left = this.#connection.prepare('SELECT sequence FROM events WHERE sequence > ? AND sequence < ? LIMIT 1');
    const more = left.get(range.after, range.before) !== undefined;
    return { events: order === 'DESC' ? events : events.reverse(), reached: this.#place(reached), more };
  }

  #rangeOf({ after = 0, before = Infinity, from, to }: SearchQuery): Range {
    return {
      after: from === undefined ? after : Math.max(after, this.#reader.startOf(from)),
      before: to === undefined ? before : Math.min(before, this.#reader.endOf(to)),
    };
  }

  /** The next events of a range that can be looked at together. */
  #group({ after, before }: Range, order: Direction): Group {
    const statement = this.#connection.prepare(
      `SELECT count(*) AS events, min(sequence) AS first, max(sequence) AS last, sum(bytes) AS bytes
       FROM (SELECT sequence, ${BYTES} AS bytes FROM events WHERE sequence > ? AND sequence < ?
             ORDER BY sequence ${order} LIMIT ?)`,
    );
    for (;;) {
      const group = statement.get(after, before, this.#groupEvents) as Group;
      if (group.bytes <= GROUP_BYTES || group.events <= 1) {
        if (group.bytes <= GROUP_BYTES / 2) this.#groupEvents = Math.min(GROUP_EVENTS, this.#groupEvents * 2);
        return group;
      }
      this.#groupEvents = Math.ceil(group.events / 2);
    }
  }

  /** Returns a function that finds the positions of the events in a group that a search looks for. */
  #matcher(query: SearchQuery, order: Direction): (group: Group) => number[] {
    const { text, binding, type, sender, from, to } = query;
    const conditions: [sql: string, ...values: (string | number)[]][] = [];
    if (from !== undefined) conditions.push(['recorded_at >= ?', from]);
    if (to !== undefined) conditions.push(['recorded_at < ?', to]);
    if (binding !== undefined) conditions.push([memberIs('attributes', 'binding'), binding]);
    if (type !== undefined) conditions.push([memberIs('attributes', 'type'), type]);
    if (sender !== undefined) conditions.push([memberIs('arrival', 'remoteAddress'), sender]);
    if (text !== undefined) conditions.push(containsOneOf(textForms(text)));
    const where = ['sequence BETWEEN ? AND ?', ...conditions.map(([sql]) => sql)].join(' AND ');
    const statement = this.#connection.prepare(
      `SELECT sequence AS position FROM events WHERE ${where} ORDER BY sequence ${order}`,
    );
    const values = conditions.flatMap(([, ...of]) => of);
    return ({ first, last }) =>
      (statement.all(first, last, ...values) as { position: number }[]).map(({ position }) => position);
  }

  #list(position: number, text: string | undefined): FoundEvent {
    const { head, tail, bytes, ...event } = this.#connection.prepare(LISTED).get(position) as ListedRow;
    const matched =
      text === undefined ? {} : { around: this.#surroundings(position, text), pattern: textPattern(text) };
    if (head === null || tail === null) return foundEventOf({ ...event, data: undefined }, matched);
    try {
      return foundEventOf({ ...event, data: { head, tail, bytes } }, matched);
    } catch {
      // Its data is damaged.
      return foundEventOf({ ...event, data: undefined }, matched);
    }
  }

  /** Reads what is around a text in an event, which may be large. */
  #surroundings(position: number, text: string): MatchSurroundings | undefined {
    const forms = JSON.stringify(textForms(text));
    for (const { name, sql } of AROUND) {
      const row = this.#connection.prepare(sql).get(forms, position) as
        { start: number; text: string; isEnd: number } | undefined;
      if (row !== undefined) return { in: name, text: row.text, isStart: row.start === 1, isEnd: row.isEnd === 1 };
    }
    return undefined;
  }

  #place(position: number | undefined): SearchResult['reached'] {
    if (position === undefined) return undefined;
    const row = this.#connection.prepare('SELECT recorded_at AS "recordedAt" FROM events WHERE sequence = ?');
    const { recordedAt } = row.get(position) as { recordedAt: number };
    return { position, recordedAt };
  }
}

type Direction = 'ASC' | 'DESC';

/** A column of JSON, or what stands in for damaged JSON. */
function jsonOr(column: string, json: string): string {
  return `CASE WHEN json_valid(${column}) THEN ${column} ELSE '${json}' END AS ${column}`;
}

/** Columns are valid JSON as far as this program wrote them; others match nothing and end no search. */
function member(column: string, name: string): string {
  return `CASE WHEN json_valid(${column}) THEN json_extract(${column}, '$.${name}') END`;
}

function memberIs(column: string, name: string): string {
  return `${member(column, name)} = ?`;
}

/** Reads the characters of a column around the first of some texts in it; no row: it has none of them. */
function around(column: string): string {
  const searched = column === 'data' ? `CASE WHEN ${IS_BASE64} THEN NULL ELSE data END` : column;
  return `
    SELECT start, substr(text, start, place - start + ${String(READ_AFTER)}) AS text,
           length(text) < place + ${String(READ_AFTER)} AS "isEnd"
    FROM (SELECT text, place, max(1, place - ${String(READ_BEFORE)}) AS start
          FROM (SELECT text, (SELECT min(nullif(instr(lower(text), lower(value)), 0)) FROM json_each(?)) AS place
                FROM (SELECT ${searched} AS text FROM events WHERE sequence = ?))
          WHERE place IS NOT NULL)`;
}

/** LIKE would be faster for most texts, but takes a second for 4 MiB of one letter. */
function containsOneOf(texts: readonly string[]): [sql: string, ...values: string[]] {
  const contains = (column: string) => texts.map(() => `instr(lower(${column}), lower(?))`).join(' OR ');
  const sql = `(${contains('attributes')} OR ${contains('arrival')}
                OR CASE WHEN ${IS_BASE64} THEN 0 ELSE ${contains('data')} END)`;
  return [sql, ...texts, ...texts, ...texts];
}
