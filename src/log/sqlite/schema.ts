import { Transactions, type Database } from './binding';
import { CREATE_EVENTS } from './table';

/** Marks the file as an event log of this program: `WHK1` in the header's application id. */
const APPLICATION_ID = 0x57484b31;

/** Gives the file an identity of its own. */
export const WRITE_IDENTITY = 'UPDATE identity SET id = lower(hex(randomblob(16)))';

/** Writes the stamp of a transaction, its one parameter; see `Stamps`. */
export const WRITE_STAMP = 'UPDATE totals SET previous_stamp = stamp, stamp = ?';

/** The version of the schema below. A change to it needs the next number, and a way to bring older files up to it. */
const VERSION = 2;

/**
 * How many events of each minute since 1970-01-01T00:00Z the log holds, positions between which all of them are, and the sum of
 * the milliseconds of the minute at which they were recorded.
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
 * `totals` is one row about all events: how many there are, and the stamps of the last two transactions. `identity` tells this
 * file from every other, copies included. `probe` is empty but while a check tries whether there is room for an event.
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

/** Brings a file of version 1 up to date. Its events keep their column `late_at`, which nothing reads: they stay where they are. */
const FROM_VERSION_1 = `
  ${CREATE_MINUTES}
  INSERT INTO minutes ${COUNT_MINUTES};
  DROP INDEX events_late_at;
  ALTER TABLE totals DROP COLUMN newest_at;
  PRAGMA user_version = ${String(VERSION)};
`;

/** What there is to do before a file can be used. */
type SchemaState = 'current' | 'empty' | 'version 1';

/**
 * Says which schema a file has. Changes nothing.
 *
 * @param schema - the name under which the file is attached.
 * @throws the file belongs to another program, or to a later version of this one.
 */
export function schemaState(database: Database, schema = 'main'): SchemaState {
  const version = pragma(database, `${schema}.user_version`);
  const application = pragma(database, `${schema}.application_id`);
  if (application === APPLICATION_ID) {
    if (version === VERSION) return 'current';
    if (version === 1) return 'version 1';
    throw new Error(
      `The file has schema version ${String(version)}, and this program works with versions 1 and ${String(VERSION)} only. ` +
        'Use the version of the program that wrote it. Nothing was changed.',
    );
  }
  const { objects } = database.prepare(`SELECT count(*) AS objects FROM ${schema}.sqlite_schema`).get() as {
    objects: number;
  };
  if (objects === 0 && application === 0) return 'empty';
  throw new Error('The file is a database of another program. Nothing was changed.');
}

/**
 * Makes the schema where the file is empty, and brings an older one up to date; others may do the same at the same time. Has to
 * come before an empty file gets a write-ahead log: a file without a schema then never has one with events in it.
 *
 * @param stamp - the stamp of this transaction.
 */
export function provideSchema(database: Database, stamp: string): void {
  // Deferred, and nothing outside of it: the setting would else be written to a file that another has made meanwhile, without
  // a stamp; and it has no effect once a write lock has begun the file.
  new Transactions(database).deferred(() => {
    const state = schemaState(database);
    if (state === 'current') return;
    if (state === 'empty') database.exec('PRAGMA auto_vacuum = INCREMENTAL');
    database.exec(state === 'empty' ? SCHEMA : FROM_VERSION_1);
    database.prepare(WRITE_STAMP).run(stamp);
  });
}

function pragma(database: Database, name: string): number {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() as Record<string, number>)[0] ?? 0;
}
