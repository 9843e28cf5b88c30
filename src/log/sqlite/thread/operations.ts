import type { EventQuery, LogStats, ScanQuery, SearchQuery } from '../../event-log';
import { SqliteConnection, type SqliteOptions } from '../connection/connection';
import { SqliteTimes } from '../minutes';
import { SqliteReader } from '../reader';
import { SqliteRecorder } from '../recorder';
import { SqliteSearch } from '../search';
import { Deletion, FreePages, PAGE_BYTES } from '../upkeep/forgetting';
import { SqliteRetention } from '../upkeep/retention';
import { backUp, verify } from '../upkeep/verification';

/** How long a step of a compaction should take, in milliseconds: it has a thread of its own, and only writes wait for it. */
const COMPACTION_STEP = 20;

/** What the thread of a database can be asked; those that `LogEngine` names too do the same. */
export type Operations = ReturnType<typeof openOperations>;

/**
 * Opens a database, and makes the table of what can be done with it: each operation takes one argument, or none.
 *
 * @throws the database cannot be opened, is not a database, or not one of this program and version.
 */
export function openOperations(options: SqliteOptions) {
  const connection = new SqliteConnection(options);
  const recorder = new SqliteRecorder(connection);
  const times = new SqliteTimes(connection);
  const reader = new SqliteReader(connection, times);
  const search = new SqliteSearch(connection, times);
  const deletion = new Deletion(connection);
  const freePages = new FreePages(connection, COMPACTION_STEP);
  const retention = options.retention && new SqliteRetention(connection, options.retention, deletion);
  const stats = (): LogStats => ({ events: reader.count(), bytes: connection.bytes(), last: reader.last() });
  return {
    append: (batches: readonly Uint8Array[]) => recorder.append(batches),
    check: () => {
      recorder.check();
    },
    read: (query: EventQuery) => connection.snapshot(() => reader.read(query)),
    scan: (query: ScanQuery) => connection.snapshot(() => reader.scan(query)),
    newest: () => connection.reading(() => reader.newest()),
    stats: () => connection.reading(stats),
    search: (query: SearchQuery) => connection.snapshot(() => search.search(query)),
    counts: (given: readonly number[]) => connection.snapshot(() => times.counts(given)),
    backup: (file: string) => {
      connection.reading(() => {
        backUp(connection, file);
      });
    },
    verify: () => verify(connection),
    /** Deletes the events at some positions, and returns those that had one. */
    forget: (positions: readonly number[]) => connection.transaction(() => deletion.delete(positions)),
    vacuum: () => {
      connection.vacuum();
    },
    /** Bytes of free pages; undefined where another program has made the file anew so that it cannot shrink in steps. */
    freeBytes: () => connection.reading(() => freePages.bytes()),
    /** Gives some free pages back. Returns how many bytes that were; 0 once nothing is left. */
    giveBack: () => freePages.giveBack(0) * PAGE_BYTES,
    emptyWal: () => connection.emptyWal(),
    requireFiles: () => {
      connection.requireFiles();
    },
    saveLost: () => connection.saveLost((saved, batches) => new SqliteRecorder(saved).append(batches)),
    /** Takes a step of retention. Returns whether there is more to do. */
    retain: () => retention?.step() ?? false,
    close: () => {
      connection.close();
    },
  };
}
