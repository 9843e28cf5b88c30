import type { EventQuery, LoggedEvent, LogStats, ScanQuery } from '../event-log';
import { backUp } from './backup';
import { SqliteConnection, type SqliteOptions } from './connection/connection';
import { SqliteReader, type ScannedSlice } from './reader';
import { SqliteRates, type RatesProgress } from './rates';
import type { RecordedEvents } from './insertion';
import { SqliteRecorder } from './recorder';
import { SqliteRetention } from './retention';
import { SqliteSearch, type SearchSlice, type SliceQuery } from './search';
import { SqliteTimes } from './times';
import { SqliteForgetting } from './upkeep/forgetting';
import { FreePages, PAGE_BYTES } from './upkeep/free-pages';
import { SqliteVerification } from './upkeep/verification';

/** How long a step of a compaction should take, in milliseconds: it has a thread of its own, and only writes wait for it. */
const COMPACTION_STEP = 20;

/** The parts of the engine that work on one connection, synchronously. Each method takes one argument, or none. */
export class SqliteDatabase {
  readonly #connection: SqliteConnection;
  readonly #recorder: SqliteRecorder;
  readonly #reader: SqliteReader;
  readonly #search: SqliteSearch;
  readonly #rates: SqliteRates;
  readonly #retention: SqliteRetention | undefined;
  readonly #forgetting: SqliteForgetting;
  readonly #freePages: FreePages;
  readonly #verification: SqliteVerification;

  /** @throws the database cannot be opened, is not a database, or not one of this program and version. */
  constructor(options: SqliteOptions) {
    const connection = new SqliteConnection(options);
    this.#connection = connection;
    this.#recorder = new SqliteRecorder(connection);
    const times = new SqliteTimes(connection);
    this.#reader = new SqliteReader(connection, times);
    this.#search = new SqliteSearch(connection, times);
    this.#rates = new SqliteRates(connection, times);
    this.#forgetting = new SqliteForgetting(connection);
    this.#freePages = new FreePages(connection, COMPACTION_STEP);
    this.#verification = new SqliteVerification(connection);
    this.#retention = options.retention && new SqliteRetention(connection, options.retention);
  }

  /** As {@link SqliteRecorder.append}. */
  append(batches: readonly Uint8Array[]): RecordedEvents[] {
    return this.#recorder.append(batches);
  }

  /** As `EventLog.read`. */
  read(query: EventQuery): LoggedEvent[] {
    return this.#connection.reading(() => this.#reader.read(query));
  }

  /** As {@link SqliteReader.scan}. */
  scan(query: ScanQuery): ScannedSlice {
    return this.#connection.reading(() => this.#reader.scan(query));
  }

  /** As {@link SqliteReader.newest}. */
  newest(): number {
    return this.#connection.reading(() => this.#reader.newest());
  }

  /** As {@link SqliteSearch.slice}. */
  search(query: SliceQuery): SearchSlice {
    return this.#connection.snapshot(() => this.#search.slice(query));
  }

  /** As {@link SqliteRates.slice}. */
  rates(progress: RatesProgress): RatesProgress {
    return this.#connection.snapshot(() => this.#rates.slice(progress));
  }

  /** As `EventLog.stats`. */
  stats(): LogStats {
    return this.#connection.reading(() => ({ events: this.#reader.count(), bytes: this.#connection.bytes() }));
  }

  /** As `EventLog.check`. */
  check(): void {
    this.#recorder.check();
  }

  /** As `EventLog.backup`. */
  backup(file: string): void {
    this.#connection.reading(() => {
      backUp(this.#connection, file);
    });
  }

  /** As {@link SqliteVerification.verify}. */
  verify(): string[] {
    return this.#connection.reading(() => this.#verification.verify());
  }

  /** As {@link SqliteForgetting.forget}. */
  forget(positions: readonly number[]): boolean[] {
    return this.#forgetting.forget(positions);
  }

  /** As {@link SqliteConnection.vacuum}. */
  vacuum(): void {
    this.#connection.vacuum();
  }

  /** Bytes of free pages; undefined: the file cannot shrink while it is in use. */
  freeBytes(): number | undefined {
    return this.#connection.reading(() => this.#freePages.bytes());
  }

  /** Gives some free pages back. Returns how many bytes that were; 0: nothing is left. */
  giveBack(): number {
    return this.#freePages.giveBack(0) * PAGE_BYTES;
  }

  /** As {@link SqliteConnection.emptyWal}. */
  emptyWal(): boolean {
    return this.#connection.emptyWal();
  }

  /** As {@link SqliteConnection.rebuild}. */
  rebuild(): void {
    this.#connection.rebuild();
  }

  /** Forgets a few events that are past retention. Returns whether there is more to do. */
  retain(): boolean {
    return this.#retention?.step() ?? false;
  }

  close(): void {
    this.#connection.close();
  }
}
