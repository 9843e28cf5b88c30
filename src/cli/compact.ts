import type { EventLog } from '../log/event-log';
import { UsageError } from './options';
import { followProgress } from './progress';

/**
 * Gives the space of forgotten events back, and says how much that was.
 *
 * @throws {UsageError} the log is not in SQLite.
 */
export async function compact(log: EventLog): Promise<void> {
  const giveBack = log.compact?.bind(log);
  if (giveBack === undefined) {
    throw new UsageError('--compact works on a SQLite file. NATS servers give space back by themselves.');
  }
  console.error(`${String(await followProgress('bytes given back', giveBack))} bytes given back.`);
}
