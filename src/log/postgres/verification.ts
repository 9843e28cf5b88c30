import { sequenceOf } from '../../events/position';
import type { StoredEvent } from '../../events/stored-event';
import type { PostgresConnection } from './connection';
import type { PostgresReader } from './reader';
import { DIGESTS, TOTAL } from './schema';

/** Events whose names are compared at a time. */
const PART = 500;

/**
 * Looks for totals that do not agree with the events, for names that do not lead to their event, and for texts that are not JSON.
 * Pages of tables and indexes are the server's to check (`pg_amcheck`).
 */
export async function verifyEvents(connection: PostgresConnection, reader: PostgresReader): Promise<string[]> {
  const [totals] = await connection.query<Record<'found' | 'noted' | 'newest' | 'last', number>>(
    `SELECT found::float8, ${TOTAL}::float8 AS noted, newest::float8, last::float8 FROM webhook_log,
            (SELECT count(*) AS found, coalesce(max(sequence), 0) AS newest FROM webhook_events) AS events`,
    undefined,
    Infinity,
  );
  const { found = 0, noted = 0, newest = 0, last = 0 } = totals ?? {};
  const findings: string[] = [];
  if (found !== noted) findings.push(`The log holds ${String(found)} events, and its total says ${String(noted)}.`);
  if (newest > last)
    findings.push(`The newest event has position ${String(newest)}, and the last that was given is ${String(last)}.`);
  for (let page = await reader.scan({ after: 0, limit: PART }); page.length > 0;) {
    const rows = await connection.query<{ position: number }>(
      `SELECT sequence::float8 AS position FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bytea[]) AS given (position, of_id, of_key, of_webhook)
       JOIN webhook_events ON sequence = position AND id_digest = of_id
         AND idempotency_digest IS NOT DISTINCT FROM of_key AND webhook_digest IS NOT DISTINCT FROM of_webhook`,
      [page.map(({ position }) => position), ...DIGESTS.map((digest) => page.map(digest))],
    );
    const named = new Set(rows.map(({ position }) => position));
    for (const event of page) {
      const problem = named.has(event.position) ? problemOf(event) : 'is not found by its names';
      if (problem !== undefined) findings.push(`Event ${sequenceOf(event.position)} ${problem}.`);
    }
    page = await reader.scan({ after: page.at(-1)?.position ?? Infinity, limit: PART });
  }
  return findings;
}

function problemOf({ attributes, arrival, data }: StoredEvent): string | undefined {
  try {
    for (const text of [attributes, arrival, `{${data ?? ''}}`]) JSON.parse(text);
    return undefined;
  } catch {
    return 'has a text that is not JSON';
  }
}
