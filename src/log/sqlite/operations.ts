import type { EventQuery, LoggedEvent, LogStats, ScanQuery, SearchQuery, SearchResult } from '../event-log';
import type { StoredEvent } from '../../events/stored-event';
import { backUp, verify } from './verification';
import { SqliteConnection, type SqliteOptions } from './connection/connection';
import { SqliteTimes } from './minutes';
import { SqliteReader } from './reader';
import { SqliteRecorder, type RecordedEvents } from './recorder';
import { SqliteRetention } from './retention';
import { SqliteSearch } from './search';
import { FreePages, PAGE_BYTES, SqliteForgetting } from './forgetting';

/** How long a step of a compaction should take, in milliseconds: it has a thread of its own, and only writes wait for it. */
const COMPACTION_STEP = 20;

/** What the thread of a database can be asked: each operation takes one argument, or none. */
export interface Operations {
  /** As {@link SqliteRecorder.append}. */
  append(batches: readonly Uint8Array[]): RecordedEvents[];
  /** As `EventLog.check`. */
  check(): void;
  /** As `EventLog.read`. */
  read(query: EventQuery): LoggedEvent[];
  /** As `EventLog.scan`. */
  scan(query: ScanQuery): StoredEvent[];
  /** The position of the newest event; 0 without one. */
  newest(): number;
  /** As `EventLog.stats`. */
  stats(): LogStats;
  /** As `EventLog.search`. */
  search(query: SearchQuery): SearchResult;
  /** As `LogEngine.counts`. */
  counts(times: readonly number[]): number[];
  /** As `EventLog.backup`. */
  backup(file: string): void;
  /** As `EventLog.verify`. */
  verify(): string[];
  /** As {@link SqliteForgetting.forget}. */
  forget(positions: readonly number[]): boolean[];
  /** As {@link SqliteConnection.vacuum}. */
  vacuum(): void;
  /** Bytes of free pages; undefined where another program has made the file anew so that it cannot shrink in steps. */
  freeBytes(): number | undefined;
  /** Gives some free pages back. Returns how many bytes that were; 0 once nothing is left. */
  giveBack(): number;
  /** As {@link SqliteConnection.emptyWal}. */
  emptyWal(): boolean;
  /** As {@link SqliteConnection.requireFiles}. */
  requireFiles(): void;
  /** As {@link SqliteConnection.saveLost}. */
  saveLost(): string | undefined;
  /** Forgets a few events that are past retention. Returns whether there is more to do. */
  retain(): boolean;
  close(): void;
}

/**
 * Opens a database, and makes the table of what can be done with it.
 *
 * @throws the database cannot be opened, is not a database, or not one of this program and version.
 */
export function openOperations(options: SqliteOptions): Operations {
  const connection = new SqliteConnection(options);
  const recorder = new SqliteRecorder(connection);
  const times = new SqliteTimes(connection);
  const reader = new SqliteReader(connection, times);
  const search = new SqliteSearch(connection, times);
  const forgetting = new SqliteForgetting(connection);
  const freePages = new FreePages(connection, COMPACTION_STEP);
  const retention = options.retention && new SqliteRetention(connection, options.retention);
  return {
    append: (batches) => recorder.append(batches),
    check() {
      recorder.check();
    },
    read: (query) => connection.snapshot(() => reader.read(query)),
    scan: (query) => connection.snapshot(() => reader.scan(query)),
    newest: () => connection.reading(() => reader.newest()),
    stats: () => connection.reading(() => ({ events: reader.count(), bytes: connection.bytes(), last: reader.last() })),
    search: (query) => connection.snapshot(() => search.search(query)),
    counts: (given) => connection.snapshot(() => times.counts(given)),
    backup(file) {
      connection.reading(() => {
        backUp(connection, file);
      });
    },
    verify: () => verify(connection),
    forget: (positions) => forgetting.forget(positions),
    vacuum() {
      connection.vacuum();
    },
    freeBytes: () => connection.reading(() => freePages.bytes()),
    giveBack: () => freePages.giveBack(0) * PAGE_BYTES,
    emptyWal: () => connection.emptyWal(),
    requireFiles() {
      connection.requireFiles();
    },
    saveLost: () => connection.saveLost((saved, batches) => new SqliteRecorder(saved).append(batches)),
    retain: () => retention?.step() ?? false,
    close() {
      connection.close();
    },
  };
}
