import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { Remote } from '../../util/remote';
import { totalFindings, type Retention } from '../engine';
import type { EventQuery, SearchQuery } from '../queries';
import { Database, LOCK_TIMEOUT, withoutPath, type SqliteOptions } from './database';
import { SqliteReader } from './reader';
import { SqliteRecorder, type NewRow } from './recorder';
import { CREATE_TIME_INDEX, TOTAL, versionOf } from './schema';

/** How long a check waits for a lock, in milliseconds: shorter than its caller waits. */
const CHECK_LOCK_TIMEOUT = 500;

/** Maximum pages that a step of a compaction gives back: writers wait for it. */
const COMPACTION_PAGES = 256;

/** The columns that a backup of every version has. */
const COLUMNS = 'sequence, recorded_at, id, source, idempotency_key, webhook_id, attributes, arrival, data';

/**
 * Replaces the events by those of an attached backup. Positions that were given are not given again. Recreating an index changes
 * `schema_version`, at which readers drop their cached start of a time.
 */
const RESTORE = `
  DELETE FROM events;
  DROP INDEX main.events_time;
  ${CREATE_TIME_INDEX}
  INSERT INTO events (${COLUMNS}) SELECT ${COLUMNS} FROM backup.events ORDER BY sequence;
  UPDATE totals SET events = (SELECT count(*) FROM events);
  UPDATE sqlite_sequence SET seq = max(seq, (SELECT ifnull(max(seq), 0) FROM backup.sqlite_sequence WHERE name = 'events'))
  WHERE name = 'events';
`;

/** The functions of a database thread. Those that `Engine` has too promise the same, but for `append`: as `SqliteRecorder.insert`. */
function operationsOn(database: Database) {
  const recorder = new SqliteRecorder(database);
  const reader = new SqliteReader(database);
  return {
    append: ({ events, waited }: { readonly events: readonly NewRow[]; readonly waited: number }) =>
      database.write(() => recorder.insert(events), LOCK_TIMEOUT - waited),
    check: (failed: readonly NewRow[]) => database.write(() => recorder.tryOut(failed), CHECK_LOCK_TIMEOUT),
    read: (query: EventQuery) => database.read(() => reader.read(query)),
    search: (query: SearchQuery) => reader.search(query),
    counts: (times: readonly number[]) => database.read(() => reader.counts(times)),
    newest: () => database.read(() => reader.newest()),
    stats: () => database.read(() => reader.stats()),
    forget: (positions: readonly number[]) => database.write(() => recorder.forget(positions)),
    /** Forgets some events past retention, and says whether there were any. */
    retain: async (retention: Retention) => {
      if ((await database.read(() => recorder.due(retention))).length === 0) return false;
      // Another process may have taken the step before the lock was free.
      await database.write(() => recorder.forget(recorder.due(retention)));
      return true;
    },
    verify: () => verify(database),

    backup: (file: string) => database.outsideTransaction('VACUUM INTO ?', file),
    restore: (backup: string) => restore(database, backup),
    rewrite: () => database.outsideTransaction('VACUUM'),
    /** Gives some free pages back and returns their bytes. */
    giveBack: async () => {
      const free = database.number('PRAGMA freelist_count');
      await database.write(() => database.execute(`PRAGMA incremental_vacuum(${String(COMPACTION_PAGES)})`));
      return (free - database.number('PRAGMA freelist_count')) * database.number('PRAGMA page_size');
    },
    emptyWal: () => database.emptyWal(),
    files: () => database.files,
    verifyFiles: () => database.verifyFiles(),
    close: () => database.close(),
  };
}

async function verify(database: Database): Promise<string[]> {
  const damage = damageIn(database);
  if (damage.length > 0) return damage.map((finding) => `The file is damaged: ${finding}`);
  const found = 'SELECT count(*) FROM events NOT INDEXED';
  return database.read(() => totalFindings(database.number(found), database.number(TOTAL)));
}

/** Findings in the pages and indexes of an attached file. Some damage ends the check with an error. */
function damageIn(database: Database, schema = 'main'): string[] {
  try {
    const rows = database.prepare(`PRAGMA ${schema}.integrity_check`).all() as { integrity_check: string }[];
    const findings = rows.map((row) => row.integrity_check.replaceAll(/\s+/g, ' ').trim());
    return findings.filter((finding) => finding !== 'ok');
  } catch (error) {
    return [(error as Error).message];
  }
}

/** The backup stays attached until the database is closed. @throws the backup is damaged, or is not a log. Nothing was changed then. */
async function restore(database: Database, backup: string): Promise<void> {
  database.prepare('ATTACH ? AS backup').run(backup);
  if (versionOf(database, 'backup') === 0) throw new Error('the backup holds no event log');
  const [finding] = damageIn(database, 'backup');
  if (finding !== undefined) throw new Error(`the backup is damaged: ${finding}`);
  await database.write(() => database.execute(RESTORE));
}

export type ThreadFunctions = ReturnType<typeof operationsOn>;

/** Questions wait until the database is open. A thread that cannot open it ends with the reason. */
async function serve(port: MessagePort): Promise<void> {
  const database = await Database.open(workerData as SqliteOptions).catch((error: unknown) => {
    throw new Error(withoutPath(error));
  });
  Remote.ofThread(port, withoutPath).serve(operationsOn(database));
}

if (parentPort !== null) void serve(parentPort);
