interface SqlConnection {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): { get(): unknown };
}

/** `WHK1`: marks the file as an event log of this program. */
const APPLICATION_ID = 0x57484b31;

/** The version of the schema. A change needs the next number, and a way to bring older files up to it. */
const VERSION = 5;

/** The type of an event; NULL if its attributes are damaged. Queries must write it as the index does. */
export const TYPE = `CASE WHEN json_valid(attributes) THEN json_extract(attributes, '$.type') END`;

/** The number of events, and the last position that was given. */
export const TOTAL = 'SELECT events FROM totals';
export const LAST = "SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'";

export const CREATE_TIME_INDEX = 'CREATE INDEX main.events_time ON events (recorded_at);';

const CREATE_INDEXES = `
  ${CREATE_TIME_INDEX}
  CREATE INDEX events_type ON events (${TYPE});
`;

/**
 * No two events share a key that they have. Columns that may be large come last, so that reading the others loads none of them.
 * `totals` is one row with the number of events.
 */
const SCHEMA = `
  CREATE TABLE events (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    recorded_at INTEGER NOT NULL,
    id TEXT NOT NULL,
    source TEXT NOT NULL,
    idempotency_key TEXT,
    webhook_id TEXT,
    attributes TEXT NOT NULL,
    arrival TEXT NOT NULL,
    data TEXT
  ) STRICT;
  CREATE UNIQUE INDEX events_id ON events (id, source);
  CREATE UNIQUE INDEX events_idempotency_key ON events (idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE UNIQUE INDEX events_webhook_id ON events (webhook_id) WHERE webhook_id IS NOT NULL;
  ${CREATE_INDEXES}
  CREATE TABLE totals (events INTEGER NOT NULL) STRICT;
  INSERT INTO totals VALUES (0);
  PRAGMA application_id = ${String(APPLICATION_ID)};
  PRAGMA user_version = ${String(VERSION)};
`;

/** Events of version 4 keep their column `checksum`. */
const FROM_VERSION_4 = `
  ${CREATE_INDEXES}
  DROP TABLE minutes;
  DROP TABLE identity;
  DROP TABLE IF EXISTS probe;
  ALTER TABLE totals DROP COLUMN stamp;
  ALTER TABLE totals DROP COLUMN previous_stamp;
  PRAGMA user_version = ${String(VERSION)};
`;

/** Statements that bring a file up to date, by its version. */
const UPDATES: ReadonlyMap<number, string> = new Map([
  [0, SCHEMA],
  [4, FROM_VERSION_4],
  [VERSION, ''],
]);

const OUTDATED =
  'The file has an older schema, which a restart of the service updates. Until then use the tools of the old version. Nothing was changed.';

/**
 * Creates the schema in an empty file, or brings an older one up to date, if it may. Others may do the same at the same time.
 *
 * @throws the file belongs to another program, to another version of this one, or may not be changed. Nothing was changed then.
 */
export function provideSchema(database: SqlConnection, create: boolean): void {
  database.exec('BEGIN');
  try {
    // Seen at one moment: another process that makes the schema meanwhile would be taken for another program.
    const version = versionOf(database);
    if (version === VERSION) return;
    if (!create) throw new Error(version === 0 ? 'the file holds no event log' : OUTDATED);
  } finally {
    if (database.isTransaction) database.exec('COMMIT');
  }
  // Takes effect in an empty file alone, and outside of a transaction.
  database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  database.exec('BEGIN IMMEDIATE');
  try {
    database.exec(`${UPDATES.get(versionOf(database)) ?? ''} COMMIT`);
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** Returns the version of the schema in an attached file; 0 if the file is empty. @throws as {@link provideSchema}. */
export function versionOf(database: Pick<SqlConnection, 'prepare'>, schema = 'main'): number {
  const valueOf = (sql: string): unknown => Object.values(database.prepare(sql).get() ?? {})[0];
  const application = valueOf(`PRAGMA ${schema}.application_id`);
  const version = Number(valueOf(`PRAGMA ${schema}.user_version`));
  if (application === APPLICATION_ID) {
    if (version > 0 && UPDATES.has(version)) return version;
    throw new Error(
      `The file has schema version ${String(version)}, and this program works with versions 4 and ${String(VERSION)} only. ` +
        'Use the version of the program that wrote it. Nothing was changed.',
    );
  }
  if (application === 0 && valueOf(`SELECT count(*) FROM ${schema}.sqlite_schema`) === 0) return 0;
  throw new Error('The file is a database of another program. Nothing was changed.');
}
