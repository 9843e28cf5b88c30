import { randomBytes } from 'node:crypto';
import type { NewEvent, StoredEvent } from '../../events/stored-event';
import type { PackedEvent } from './batch';
import type { Database, SqlValue } from './binding';
import { TEXTS } from './checksum';

/**
 * Creates the table `events` and its indexes: no two events share a key that they have. Columns that may be large come last, so that
 * reading the others loads none of them. The checksum is NULL for events that earlier versions recorded.
 */
const CREATE_EVENTS = `
  CREATE TABLE events (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    recorded_at INTEGER NOT NULL,
    id TEXT NOT NULL,
    source TEXT NOT NULL,
    idempotency_key TEXT,
    webhook_id TEXT,
    checksum INTEGER,
    attributes TEXT NOT NULL,
    arrival TEXT NOT NULL,
    data TEXT
  ) STRICT;
  CREATE UNIQUE INDEX events_id ON events (id, source);
  CREATE UNIQUE INDEX events_idempotency_key ON events (idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE UNIQUE INDEX events_webhook_id ON events (webhook_id) WHERE webhook_id IS NOT NULL;
`;

/** A parameter that takes a text as bytes in UTF-8. */
const TEXT = 'CAST(? AS TEXT)';

/**
 * Returns the statement that inserts an event, or nothing where an event with one of its keys is there. Takes the values of
 * {@link rowOf}.
 *
 * Files that were made before version 4 have two more columns, which nothing reads but processes of an earlier version that still
 * have the file open: they take them for the most bytes of the event in an answer.
 */
export function insertEvent(database: Pick<Database, 'prepare'>): string {
  const isOld = database.prepare("SELECT name FROM pragma_table_info('events') WHERE name = 'head_bytes'").get();
  const [columns, values] = isOld
    ? [', head_bytes, data_bytes', ', 5 * length(?7) + 64, 5 * ifnull(length(?9), 0) + 64']
    : ['', ''];
  return `
    INSERT INTO events
      (recorded_at, id, source, idempotency_key, webhook_id, checksum, attributes, arrival, data${columns})
    VALUES (?1, ${text(2)}, ${text(3)}, ${text(4)}, ${text(5)}, ?6, ${text(7)}, ${text(8)}, ${text(9)}${values})
    ON CONFLICT DO NOTHING`;
}

function text(parameter: number): string {
  return TEXT.replace('?', `?${String(parameter)}`);
}

export function rowOf(event: PackedEvent): SqlValue[] {
  const { recordedAt, id, source, idempotencyKey, webhookId, attributes, arrival, data } = event;
  return [recordedAt, id, source, idempotencyKey, webhookId, event.checksum, attributes, arrival, data];
}

/** Finds the event with an idempotency key. */
export const FIND_BY_IDEMPOTENCY_KEY = `SELECT id, attributes, data FROM events WHERE idempotency_key = ${TEXT}`;

/** Finds the first event that has one of the keys of another: its id and source, its idempotency key, its webhook id. */
export const FIND_FIRST_ID = `
  SELECT id FROM events
  WHERE (id = ${TEXT} AND source = ${TEXT}) OR (idempotency_key = ${TEXT}) OR (webhook_id = ${TEXT})
  ORDER BY sequence LIMIT 1`;

/** The columns of all texts, as the bytes that stand in the file. */
export const TEXTS_AS_BYTES = TEXTS.map((name) => {
  const column = name.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`);
  return `CAST(${column} AS BLOB) AS "${name}"`;
}).join(', ');

/** The bytes of the large texts of an event. They are in the rows' headers: no text is loaded for them. */
export const BYTES = ['attributes', 'arrival', 'data'].map((name) => `ifnull(octet_length(${name}), 0)`).join(' + ');

/** The columns of a {@link StoredRow}. */
export const STORED_COLUMNS = `
  sequence AS position, recorded_at AS "recordedAt", id, source, idempotency_key AS "idempotencyKey", webhook_id AS "webhookId",
  attributes, arrival, data`;

export interface StoredRow extends Omit<NewEvent, 'idempotencyKey' | 'webhookId' | 'data'> {
  readonly position: number;
  readonly idempotencyKey: string | null;
  readonly webhookId: string | null;
  readonly data: string | null;
}

export function storedEvent(row: StoredRow): StoredEvent {
  const { position, recordedAt, id, source, idempotencyKey, webhookId, attributes, arrival, data } = row;
  return {
    recordedAt,
    id,
    source,
    idempotencyKey: idempotencyKey ?? undefined,
    webhookId: webhookId ?? undefined,
    attributes,
    arrival,
    data: data ?? undefined,
    position,
  };
}

/** Marks the file as an event log of this program: `WHK1` in the header's application id. */
const APPLICATION_ID = 0x57484b31;

/** Gives the file an identity of its own. */
const WRITE_IDENTITY = 'UPDATE identity SET id = lower(hex(randomblob(16)))';

/** Writes the id of a transaction, its one parameter; see `TransactionIds`. */
export const WRITE_TRANSACTION_ID = 'UPDATE totals SET previous_stamp = stamp, stamp = ?';

/** The version of the schema. A change needs the next number, and a way to bring older files up to it. */
const VERSION = 4;

/**
 * For each minute since 1970-01-01T00:00Z the number of its events, positions between which all of them are, and the sum of the
 * milliseconds of the minute at which they were recorded.
 */
const CREATE_MINUTES = `
  CREATE TABLE minutes (
    minute INTEGER PRIMARY KEY,
    events INTEGER NOT NULL,
    first  INTEGER NOT NULL,
    last   INTEGER NOT NULL,
    milliseconds INTEGER NOT NULL
  ) STRICT;
`;

/**
 * `totals` is one row: the number of events, and the ids of the last two transactions. `identity` tells this file from every
 * other, copies included. `probe` is empty except while a check tries whether there is room for an event.
 */
const SCHEMA = `
  ${CREATE_EVENTS}
  ${CREATE_MINUTES}
  CREATE TABLE totals (
    events         INTEGER NOT NULL,
    stamp          TEXT NOT NULL,
    previous_stamp TEXT NOT NULL
  ) STRICT;
  INSERT INTO totals VALUES (0, '', '');
  CREATE TABLE identity (id TEXT NOT NULL) STRICT;
  INSERT INTO identity VALUES ('');
  ${WRITE_IDENTITY};
  CREATE TABLE probe (room BLOB NOT NULL) STRICT;
  PRAGMA application_id = ${String(APPLICATION_ID)};
  PRAGMA user_version = ${String(VERSION)};
`;

/** The minute of a time, as in `minutes`. */
export function minuteOf(milliseconds: number): number {
  return Math.floor(milliseconds / MINUTE);
}

/** A minute, in milliseconds. */
export const MINUTE = 60_000;

/** Counts the events of each minute one by one. A division of SQLite rounds towards zero. */
export const COUNT_MINUTES = `
  SELECT minute, count(*) AS events, min(sequence) AS first, max(sequence) AS last,
         sum(recorded_at - minute * ${String(MINUTE)}) AS milliseconds
  FROM (SELECT sequence, recorded_at,
               (recorded_at - ${String(MINUTE - 1)} * (recorded_at < 0)) / ${String(MINUTE)} AS minute FROM events)
  GROUP BY minute`;

/** Brings a file of version 3 up to date. It keeps the columns of {@link insertEvent}: without them every row would be written anew. */
const FROM_VERSION_3 = `PRAGMA user_version = ${String(VERSION)};`;

/** Brings a file of version 2 up to date. */
const FROM_VERSION_2 = `
  ALTER TABLE events ADD COLUMN checksum INTEGER;
  ${FROM_VERSION_3}
`;

/** Brings a file of version 1 up to date. Its events keep their column `late_at`, which nothing reads. */
const FROM_VERSION_1 = `
  ${CREATE_MINUTES}
  INSERT INTO minutes ${COUNT_MINUTES};
  DROP INDEX events_late_at;
  ALTER TABLE totals DROP COLUMN newest_at;
  ${FROM_VERSION_2}
`;

/** Thrown when a file was read and is not an event log of this program, of whatever version. */
export class ForeignFileError extends Error {
  override readonly name = 'ForeignFileError';
}

/** The step that is needed before a file can be used. Readers take one of version 2, whose events have no checksums, or 3 as it is. */
type SchemaState = 'current' | 'empty' | 'version 1' | 'version 2' | 'version 3';

const UPDATES: Readonly<Record<Exclude<SchemaState, 'current'>, string>> = {
  empty: SCHEMA,
  'version 1': FROM_VERSION_1,
  'version 2': FROM_VERSION_2,
  'version 3': FROM_VERSION_3,
};

/**
 * Says which schema a file has. Changes nothing.
 *
 * @param schema - the name under which the file is attached.
 * @throws {ForeignFileError} the file belongs to another program.
 * @throws it belongs to a later version of this one.
 */
export function schemaState(database: Database, schema = 'main'): SchemaState {
  const version = pragma(database, `${schema}.user_version`);
  const application = pragma(database, `${schema}.application_id`);
  if (application === APPLICATION_ID) {
    if (version === VERSION) return 'current';
    if (version === 1 || version === 2 || version === 3) return `version ${version}`;
    throw new Error(
      `The file has schema version ${String(version)}, and this program works with versions 1 to ${String(VERSION)} only. ` +
        'Use the version of the program that wrote it. Nothing was changed.',
    );
  }
  const { objects } = database.prepare(`SELECT count(*) AS objects FROM ${schema}.sqlite_schema`).get() as {
    objects: number;
  };
  if (objects === 0 && application === 0) return 'empty';
  throw new ForeignFileError('The file is a database of another program. Nothing was changed.');
}

/**
 * Creates the schema in an empty file, and brings an older one up to date; others may do the same at the same time. Has to
 * come before an empty file gets a write-ahead log: a file without a schema then never has one with events in it.
 *
 * The caller's transaction must be deferred, and nothing outside of it: the setting would else be written to a file that another
 * has made meanwhile, without the id of a transaction; and it has no effect once a write lock has begun the file.
 *
 * @param transactionId - the id of this transaction.
 */
export function provideSchema(database: Database, transactionId: string): void {
  const state = schemaState(database);
  if (state === 'current') return;
  if (state === 'empty') database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  database.exec(UPDATES[state]);
  database.prepare(WRITE_TRANSACTION_ID).run(transactionId);
}

function pragma(database: Database, name: string): number {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() as Record<string, number>)[0] ?? 0;
}

/**
 * Each transaction writes an id of its own into `totals`, beside that of the one before. SQLite applies whatever
 * write-ahead log lies beside a file, even that of another file, which destroys both. The ids tell whether they belong
 * together: the one in the file, of the last transaction written back, also stands in its write-ahead log, as that of one of its
 * transactions or of the one before the first.
 */
export class TransactionIds {
  readonly #connection = randomBytes(9).toString('base64url');
  #made = 0;

  /** A text of 22 ASCII characters that no other transaction has. */
  next(): string {
    return `${this.#connection}${(this.#made++).toString(36).padStart(10, '0')}`;
  }
}

/** The ids of a transaction and of the one before, as they stand beside each other in a page. */
export const TRANSACTION_IDS = /(?:[\w-]{12}0[\da-z]{9}){2}/;

/** Gives a copy its own identity and transaction, so that the original's write-ahead log is not taken for the copy's. */
export function makeDistinct(copy: Database): void {
  copy.exec(`${WRITE_IDENTITY}; ${WRITE_TRANSACTION_ID.replace('?', `'${new TransactionIds().next()}'`)}`);
}

/** Which file a database file is, and in which state. */
export interface FileState {
  /** Tells the file from every other. Its page is never written again, so that no later transaction covers up a foreign one. */
  readonly identity: string;
  /** The id of the last transaction. */
  readonly transactionId: string;
}

/** Reads the {@link FileState} of an attached file. */
export function readFileState(schema = 'main'): string {
  return `SELECT id AS identity, stamp AS transactionId FROM ${schema}.identity, ${schema}.totals`;
}
