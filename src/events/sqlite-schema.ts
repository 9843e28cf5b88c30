import type Database from 'libsql';

/** Marks the file as an event log of this program: `WHK1` in the header's application id. */
const APPLICATION_ID = 0x57484b31;

const VERSION_1 = `
  CREATE TABLE events (
    sequence        INTEGER PRIMARY KEY AUTOINCREMENT,
    id              TEXT NOT NULL,
    source          TEXT NOT NULL,
    idempotency_key TEXT,
    webhook_id      TEXT,
    head_bytes      INTEGER NOT NULL,
    data_bytes      INTEGER NOT NULL,
    attributes      TEXT NOT NULL,
    arrival         TEXT NOT NULL,
    data            TEXT
  ) STRICT;
  CREATE UNIQUE INDEX events_id ON events (id, source);
  CREATE UNIQUE INDEX events_idempotency_key ON events (idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE UNIQUE INDEX events_webhook_id ON events (webhook_id) WHERE webhook_id IS NOT NULL;
`;

/**
 * Adds when an event was recorded, in front of the columns that may be large, so that looking at it loads none of them;
 * and the number of events, so that nobody has to count them.
 */
const VERSION_2 = `
  CREATE TABLE events_2 (
    sequence        INTEGER PRIMARY KEY AUTOINCREMENT,
    recorded_at     INTEGER NOT NULL,
    id              TEXT NOT NULL,
    source          TEXT NOT NULL,
    idempotency_key TEXT,
    webhook_id      TEXT,
    head_bytes      INTEGER NOT NULL,
    data_bytes      INTEGER NOT NULL,
    attributes      TEXT NOT NULL,
    arrival         TEXT NOT NULL,
    data            TEXT
  ) STRICT;
  INSERT INTO events_2
    SELECT sequence, CAST(unixepoch(attributes ->> 'time', 'subsec') * 1000 AS INTEGER), id, source, idempotency_key,
           webhook_id, head_bytes, data_bytes, attributes, arrival, data
    FROM events ORDER BY sequence;
  UPDATE sqlite_sequence SET seq = (SELECT seq FROM sqlite_sequence WHERE name = 'events') WHERE name = 'events_2';
  DROP TABLE events;
  ALTER TABLE events_2 RENAME TO events;
  CREATE UNIQUE INDEX events_id ON events (id, source);
  CREATE UNIQUE INDEX events_idempotency_key ON events (idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE UNIQUE INDEX events_webhook_id ON events (webhook_id) WHERE webhook_id IS NOT NULL;
  CREATE TABLE totals (events INTEGER NOT NULL) STRICT;
  INSERT INTO totals SELECT count(*) FROM events;
  PRAGMA application_id = ${String(APPLICATION_ID)};
`;

/** What leads from each version of the schema to the next; a new file goes through all of it. */
const STEPS: readonly string[] = [VERSION_1, VERSION_2];

/**
 * Tells the version of the schema in a file: 0 for a new one. Changes nothing.
 *
 * @throws the file belongs to another program, or to a later version of this one.
 */
export function schemaVersion(database: Database.Database): number {
  const version = pragma(database, 'user_version');
  const application = pragma(database, 'application_id');
  if (application === APPLICATION_ID) {
    if (version <= STEPS.length) return version;
    throw new Error(
      `It has schema version ${String(version)} and this program knows versions up to ${String(STEPS.length)}: ` +
        'a later version of the program has written it. Nothing was changed.',
    );
  }
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
  if (tables.length === 0 && application === 0) return 0;
  // Version 1 did not mark its files.
  const columns = database.prepare("SELECT name FROM pragma_table_info('events')").all() as { name: string }[];
  if (application === 0 && version === 0 && columns.some(({ name }) => name === 'webhook_id')) return 1;
  throw new Error('It is a database of another program. Nothing was changed.');
}

/** Brings the schema to the current version, in one transaction. Other processes may try the same at the same time. */
export function migrate(database: Database.Database): void {
  if (schemaVersion(database) === STEPS.length) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const step of STEPS.slice(schemaVersion(database))) database.exec(step);
    database.exec(`PRAGMA user_version = ${String(STEPS.length)}; COMMIT`);
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function pragma(database: Database.Database, name: string): number {
  const row = database.prepare(`PRAGMA ${name}`).get() as Record<string, number>;
  return row[name] ?? 0;
}
