import type { EventLog } from '../log/event-log';
import { UsageError } from './options';

/**
 * Copies a log in SQLite, as it is at one moment, to a new file.
 *
 * @throws {UsageError} the log is not in SQLite.
 */
export async function backUp(file: string, log: EventLog): Promise<void> {
  if (log.backup === undefined) {
    throw new UsageError('--backup copies a SQLite file. Use --export for an event log on NATS JetStream.');
  }
  await log.backup(file);
}
