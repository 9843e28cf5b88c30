import type { Database } from './binding';
import { CREATE_EVENTS } from './table';
import { Transactions } from './connection/transaction';

/** Marks the file as an event log of this program: `WHK1` in the header's application id. */
const APPLICATION_ID = 0x57484b31;

/** Gives the file an identity of its own. */
export const WRITE_IDENTITY = 'UPDATE identity SET id = lower(hex(randomblob(16)))';

/** The version of the schema below. A change to it needs the next number, and a way to bring older files up to it. */
const VERSION = 1;

/**
 * `totals` is one row about all events: how many there are, when the most recent one ever was recorded, and the stamps of the
 * last two transactions. `identity` tells this file from every other, copies included. `probe` is empty but while a check tries whether there is room for an event.
 */
const SCHEMA = `
  ${CREATE_EVENTS}
  CREATE TABLE totals (
    events         INTEGER NOT NULL,
    newest_at      INTEGER NOT NULL,
    stamp          TEXT NOT NULL,
    previous_stamp TEXT NOT NULL
  ) STRICT;
  INSERT INTO totals VALUES (0, 0, '', '');
  CREATE TABLE identity (id TEXT NOT NULL) STRICT;
  INSERT INTO identity VALUES ('');
  ${WRITE_IDENTITY};
  CREATE TABLE probe (room BLOB NOT NULL) STRICT;
  PRAGMA application_id = ${String(APPLICATION_ID)};
  PRAGMA user_version = ${String(VERSION)};
`;

/**
 * Says whether a file is empty, so that the schema is still to be made. Changes nothing.
 *
 * @param schema - the name under which the file is attached.
 * @throws the file belongs to another program, or to another version of this one.
 */
export function isEmpty(database: Database, schema = 'main'): boolean {
  const version = pragma(database, `${schema}.user_version`);
  const application = pragma(database, `${schema}.application_id`);
  if (application === APPLICATION_ID) {
    if (version === VERSION) return false;
    throw new Error(
      `The file has schema version ${String(version)}, and this program works with version ${String(VERSION)} only. ` +
        'Use the version of the program that wrote it. Nothing was changed.',
    );
  }
  const { objects } = database.prepare(`SELECT count(*) AS objects FROM ${schema}.sqlite_schema`).get() as {
    objects: number;
  };
  if (objects === 0 && application === 0) return true;
  throw new Error('The file is a database of another program. Nothing was changed.');
}

/**
 * Makes the schema where the file is empty; others may do the same at the same time. Has to come before the file gets a
 * write-ahead log: a file without a schema then never has one with events in it.
 *
 * @param stamp - the stamp of this transaction.
 */
export function provideSchema(database: Database, stamp: string): void {
  // Deferred, and nothing outside of it: the setting would else be written to a file that another has made meanwhile, without
  // a stamp; and it has no effect once a write lock has begun the file.
  new Transactions(database).deferred(() => {
    if (!isEmpty(database)) return;
    database.exec('PRAGMA auto_vacuum = INCREMENTAL');
    database.exec(SCHEMA);
    database.prepare('UPDATE totals SET stamp = ?').run(stamp);
  });
}

function pragma(database: Database, name: string): number {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() as Record<string, number>)[0] ?? 0;
}
