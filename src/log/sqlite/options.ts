import type { Retention } from '../event-log';

/** How a SQLite event log is opened. */
export interface SqliteOptions {
  /** Path of the database file, which is created if it is missing. */
  readonly file: string;
  /** Opens an existing file as `ReadOnlyConnection` does. */
  readonly readOnly?: boolean;
  /** How long a call waits for another program's lock on the database, in milliseconds; 5,000 by default. */
  readonly busyTimeout?: number;
  /** Most pages (4,096 bytes each) that the database may grow to. */
  readonly maxPages?: number;
  /** Which events are forgotten; by default none. */
  readonly retention?: Retention;
  /** How long retention pauses when nothing is due, in milliseconds; 1,000 by default. */
  readonly retentionPause?: number;
}
