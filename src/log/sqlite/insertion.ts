import type Database from 'libsql';
import { sizeFrom } from '../page';
import { wireBytesBetween } from '../../events/wire-bytes';
import { MAX_PACKED_EVENTS, TEXTS, type PackedEvents, type TextProperty } from './batch';
import type { SqliteConnection } from './connection/connection';
import { FIND_FIRST_ID, insertEvents, keysOf, type Property } from './table';

/** What came of recording a batch of events. */
export interface RecordedEvents {
  /** The first ids of those that were in the log before, by their places in the batch. */
  readonly firstIds: ReadonlyMap<number, string>;
  /** The position of the last one that was recorded; undefined: none was. */
  readonly newest: number | undefined;
}

/** The numbers in the head of an event, in their order: of a text its place, counted from 1 (0: there is none), and its length. */
const NUMBERS = ['recordedAt', 'isLate', 'headBytes', 'dataBytes'] as const;

/** What a number takes in a head: ASCII digits between spaces, which is how SQLite can read it from bytes. */
const NUMBER_BYTES = 16;
const HEAD_BYTES = (NUMBERS.length + 2 * TEXTS.length) * NUMBER_BYTES;
const SPACE = 0x20;
const MINUS = 0x2d;
const ZERO = 0x30;

/**
 * Inserts packed events (?1) with the help of their heads (?2); ?3 says how many there are. libsql takes longer to run a
 * statement and to hand over a parameter than SQLite takes for the row: one statement with three parameters inserts
 * them all.
 */
const INSERT_BATCH = insertEvents(
  valueOf,
  `(SELECT column1 AS head FROM (VALUES ${Array.from({ length: MAX_PACKED_EVENTS }, (_, i) => `(${String(i * HEAD_BYTES + 1)})`).join(', ')}) LIMIT ?3)`,
);

/** Inserts batches of events into the table. */
export class SqliteInsertion {
  readonly #insert: Database.Statement;
  readonly #lastGiven: Database.Statement;
  readonly #positionsAfter: Database.Statement;
  readonly #findFirstId: Database.Statement;
  readonly #heads = Buffer.alloc(MAX_PACKED_EVENTS * HEAD_BYTES);

  constructor(connection: SqliteConnection) {
    this.#insert = connection.prepare(INSERT_BATCH);
    this.#lastGiven = connection.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'");
    this.#positionsAfter = connection.prepare('SELECT sequence FROM events WHERE sequence > ?');
    this.#findFirstId = connection.prepare(FIND_FIRST_ID);
  }

  /**
   * Inserts the events of a batch, but for those that are in the log.
   *
   * @param newestAt - when the most recent of the events before was recorded.
   */
  insert(events: PackedEvents, newestAt: number): RecordedEvents {
    const heads = this.#writeHeads(events, newestAt);
    const { changes, lastInsertRowid } = this.#insert.run([events.bytes, heads, events.count]);
    return {
      firstIds: changes === events.count ? new Map() : this.#firstIds(events),
      newest: changes === 0 ? undefined : Number(lastInsertRowid),
    };
  }

  /** Finds the repetitions after an insertion. Each event was given a position, and they left theirs unused. */
  #firstIds(events: PackedEvents): Map<number, string> {
    const { seq } = this.#lastGiven.get() as { seq: number };
    const before = seq - events.count;
    const used = new Set((this.#positionsAfter.all(before) as { sequence: number }[]).map(({ sequence }) => sequence));
    const firstIds = new Map<number, string>();
    for (let i = 0; i < events.count; i++) {
      if (used.has(before + 1 + i)) continue;
      const { id } = this.#findFirstId.get(keysOf(events.event(i))) as { id: string };
      firstIds.set(i, id);
    }
    return firstIds;
  }

  #writeHeads(events: PackedEvents, newestAt: number): Buffer {
    const heads = this.#heads.subarray(0, events.count * HEAD_BYTES).fill(SPACE);
    let newest = newestAt;
    let end = 0;
    const write = (number: number): void => {
      end += NUMBER_BYTES;
      writeNumber(heads, number, end);
    };
    for (let i = 0; i < events.count; i++) {
      const recordedAt = events.recordedAt(i);
      const { headBytes, dataBytes } = sizeIn(events, i);
      write(recordedAt);
      write(recordedAt < newest ? 1 : 0);
      write(headBytes);
      write(dataBytes);
      for (const name of TEXTS) {
        const start = events.start(i, name);
        write(start === 0 ? 0 : start + 1);
        write(events.length(i, name));
      }
      newest = Math.max(newest, recordedAt);
    }
    return heads;
  }
}

/** The expression for the value of a property. */
function valueOf(property: Property): string {
  if (property === 'lateAt') return `CASE WHEN ${number('isLate')} THEN ${number('recordedAt')} END`;
  if (!isText(property)) return number(property);
  const first = NUMBERS.length + 2 * TEXTS.indexOf(property);
  const place = numberAt(first);
  return `CASE WHEN ${place} THEN CAST(substr(?1, ${place}, ${numberAt(first + 1)}) AS TEXT) END`;
}

function number(name: (typeof NUMBERS)[number]): string {
  return numberAt(NUMBERS.indexOf(name));
}

function numberAt(i: number): string {
  return `CAST(substr(?2, head + ${String(i * NUMBER_BYTES)}, ${String(NUMBER_BYTES)}) AS INTEGER)`;
}

function isText(property: Property): property is TextProperty {
  return (TEXTS as readonly string[]).includes(property);
}

/** Writes the digits of an integer so that they end before a place. */
function writeNumber(bytes: Uint8Array, value: number, end: number): void {
  let place = end;
  let rest = Math.abs(value);
  do {
    const tenth = Math.floor(rest / 10);
    bytes[--place] = ZERO + rest - 10 * tenth;
    rest = tenth;
  } while (rest > 0);
  if (value < 0) bytes[place - 1] = MINUS;
}

function sizeIn(events: PackedEvents, i: number): ReturnType<typeof sizeFrom> {
  return sizeFrom(
    wireBytesOf(events, i, 'attributes'),
    events.has(i, 'data') ? wireBytesOf(events, i, 'data') : undefined,
  );
}

function wireBytesOf(events: PackedEvents, i: number, name: TextProperty): number {
  const start = events.start(i, name);
  return wireBytesBetween(events.bytes, start, start + events.length(i, name));
}
