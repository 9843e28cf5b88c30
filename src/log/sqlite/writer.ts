import type { DatabaseThread } from './database-thread';
import type { RecordedEvents } from './insertion';

/** What records the events of a log: the database thread of this process, or that of another process for several. */
export interface Writer {
  /** As `SqliteDatabase.append`. The batches are of no use to the caller any more. */
  append(batches: readonly Uint8Array<ArrayBuffer>[]): Promise<readonly RecordedEvents[]>;
  /** As `SqliteDatabase.check`. */
  check(): Promise<void>;
  /** Tells a listener the newest position after commits for other processes, as far as it knows of them. Returns what ends that. */
  watch(listener: (newest: number) => void): () => void;
  /** Finishes what was asked before, and takes nothing new. */
  close(): Promise<void>;
}

/** The writer of a process that answers alone: its own database thread, which others close. */
export function localWriter(thread: DatabaseThread): Writer {
  return {
    append(batches) {
      const buffers = batches.map(({ buffer }) => buffer);
      return thread.ask('append', batches, buffers);
    },
    check: () => thread.ask('check'),
    watch: () => () => undefined,
    close: () => Promise.resolve(),
  };
}
