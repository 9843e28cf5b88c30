import { open, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { positionIn, sequenceOf, type StoredEvent } from '../../events/stored-event';
import { fileError } from '../terminal';
import type { LogChange, ReadableLog } from '../../log/readable-log';
import { flush, onceFree } from '../../util/files';

/** The position up to which a log has been forwarded. */
export interface ForwardPosition {
  /** Everything up to this position was forwarded, or was not meant to be. */
  readonly sequence: number;
  /** The event at the position, if there was one, which identifies the log. */
  readonly event: Pick<StoredEvent, 'id' | 'recordedAt'> | undefined;
}

/** A file that holds a {@link ForwardPosition}, as one line of JSON. */
export class PositionFile {
  constructor(private readonly file: string) {}

  /** Keeps other forwarders from this position until the lock is closed, or this process ends. Throws if another one does. */
  async lock(): Promise<{ close(): void }> {
    const { isBusy, lockFile } = await import('../../log/sqlite/database.js');
    try {
      // The reasons of the file system say more than those of SQLite.
      await (await open(`${this.file}.lock`, 'a')).close();
      return lockFile(`${this.file}.lock`);
    } catch (error) {
      const busy = `${this.file} is the --position of another forwarder that is running. Stop that one first.`;
      throw isBusy(error) ? new Error(busy) : fileError(this.file, 'written', error);
    }
  }

  /** Reads the position, if there is such a file. Throws if it does not hold one. */
  async read(): Promise<ForwardPosition | undefined> {
    const text = await readFile(this.file, 'utf8').catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw fileError(this.file, 'read', error);
    });
    if (text === undefined) return undefined;
    try {
      const { sequence: digits, event } = JSON.parse(text) as { sequence: unknown; event?: ForwardPosition['event'] };
      const sequence = positionIn(String(digits));
      // An invalid event never equals that of the log.
      if (sequence !== undefined) return { sequence, event: event ?? undefined };
    } catch {
      // Refused below, as any text without a position is.
    }
    const advice = 'Choose another name, or remove it and say with --since where to begin.';
    throw new Error(`${this.file} does not hold a position, or is damaged. ${advice}`);
  }

  /**
   * Keeps a position. Whenever the process is killed or the power fails, the file has a whole one: this one once this resolves.
   * `NAME.unfinished` beside it may stay behind, and is used again.
   */
  async write({ sequence, event }: ForwardPosition): Promise<void> {
    const kept = event && { id: event.id, recordedAt: event.recordedAt };
    const temporary = `${this.file}.unfinished`;
    try {
      const line = `${JSON.stringify({ sequence: sequenceOf(sequence), event: kept })}\n`;
      await onceFree(() => writeFile(temporary, line, { flush: true }));
      await onceFree(() => rename(temporary, this.file));
      flush(dirname(this.file));
    } catch (error) {
      throw fileError(this.file, 'written', error);
    }
  }
}

/** Throws, since the log is not the one that a position came from; the message is one line. */
export function refuseChange(change: LogChange, position: number): never {
  const problem =
    change === 'another event'
      ? `Event ${String(position)} of this event log is not the one that was forwarded.`
      : `This event log ends before event ${String(position)}, after which forwarding was to go on.`;
  throw new Error(`${problem} Name the log that was forwarded (EVENT_LOG, --from), or another --position or --since.`);
}

/**
 * Says which positions between the one that was forwarded last and the next event retention has taken. It takes the lowest
 * first: holes above the oldest event are those of repetitions, or of events that were removed on purpose.
 */
export async function missingBetween(log: ReadableLog, sequence: number, next: number): Promise<string | undefined> {
  if (next === sequence + 1) return undefined;
  const [found] = await log.scan({ after: 0, limit: 1 });
  const oldest = found?.position ?? next;
  if (oldest <= sequence + 1) return undefined;
  const [first, last] = [sequence + 1, Math.min(oldest, next) - 1];
  return `The log no longer has the events ${String(first)} to ${String(last)} (retention): they were not forwarded.`;
}
