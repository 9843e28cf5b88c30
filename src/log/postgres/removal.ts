import type { ClientBase } from 'pg';
import type { RetentionSteps } from '../engine';
import type { PostgresConnection } from './connection';
import { TOTAL } from './schema';

/** Events that one statement removes: commits that repeat one of them wait for it. */
const STEP = 500;

/** Removes the events that a condition names, and counts them; commits lock the counter after all else, and so does this. */
function removal(condition: string): string {
  return `
    WITH removed AS (
      DELETE FROM webhook_events WHERE sequence IN (
        SELECT sequence FROM webhook_events WHERE ${condition} LIMIT ${String(STEP)} FOR UPDATE
      ) RETURNING sequence
    ), total AS (SELECT count(*) AS events FROM removed), counted AS (
      UPDATE webhook_gaps SET gaps = gaps + events FROM total WHERE events > 0
    )
    SELECT sequence::float8 AS position FROM removed`;
}

const GIVEN = removal('sequence = ANY($1::bigint[]) ORDER BY sequence');
const OLD = removal('recorded_at < to_timestamp($1) ORDER BY recorded_at');
const SURPLUS = removal(`sequence <= (
  SELECT max(sequence) FROM (
    SELECT sequence FROM webhook_events ORDER BY sequence
    LIMIT (SELECT greatest(0, least(${String(STEP)}, ${TOTAL} - $1::bigint)))
  ) AS surplus
) ORDER BY sequence`);

/** As `EventLog.forget`. */
export async function forgetEvents(connection: PostgresConnection, positions: readonly number[]): Promise<number[]> {
  const removed = new Set<number>();
  for (let done = 0; done < positions.length; done += STEP) {
    const given = positions.slice(done, done + STEP);
    for (const { position } of await connection.query<{ position: number }>(GIVEN, [given])) removed.add(position);
  }
  const warning = removed.size > 0 ? await connection.run(vacuum, Infinity) : undefined;
  if (warning !== undefined) throw new Error(`they are deleted, but pages of the table still hold them: ${warning}`);
  return positions.filter((position) => removed.has(position));
}

/** Resolves to the warning of a server that skips it for a role that does not own the table. */
async function vacuum(client: ClientBase): Promise<string | undefined> {
  let warning: string | undefined;
  const warned = ({ message }: { message: string | undefined }) => (warning = message);
  client.on('notice', warned);
  await client.query('VACUUM (INDEX_CLEANUP TRUE) webhook_events').finally(() => client.off('notice', warned));
  return warning;
}

/** Returns how events past retention are forgotten; several instances may do so at once. */
export function retentionIn(connection: PostgresConnection): RetentionSteps {
  const removed = async (sql: string, limit: number) => (await connection.query(sql, [limit])).length;
  return {
    busyPause: 20,
    idlePause: 1000,
    async step({ maxEvents, maxAge }) {
      const old = maxAge === undefined ? 0 : await removed(OLD, (Date.now() - maxAge) / 1000);
      const surplus = maxEvents === undefined ? 0 : await removed(SURPLUS, maxEvents);
      return Math.max(old, surplus) === STEP;
    },
  };
}
