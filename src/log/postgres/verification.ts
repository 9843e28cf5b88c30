import { sequenceOf } from '../../events/position';
import type { StoredEvent } from '../../events/stored-event';
import type { PostgresConnection } from './connection';
import type { PostgresReader } from './reader';
import { TOTAL } from './schema';

/** Events that are read at a time. */
const PART = 500;

/**
 * Looks for a total that does not agree with the events, and for texts that are not JSON. Pages of tables and indexes are the server's
 * to check (`pg_amcheck`).
 */
export async function verifyEvents(connection: PostgresConnection, reader: PostgresReader): Promise<string[]> {
  const [totals] = await connection.query<Record<'found' | 'noted', number>>(
    `SELECT (SELECT count(*) FROM webhook_events)::float8 AS found, ${TOTAL}::float8 AS noted`,
    undefined,
    Infinity,
  );
  const { found = 0, noted = 0 } = totals ?? {};
  const findings: string[] = [];
  if (found !== noted) findings.push(`The log holds ${String(found)} events, and its total says ${String(noted)}.`);
  for (let page = await reader.scan({ after: 0, limit: PART }); page.length > 0;) {
    for (const event of page) {
      if (!isReadable(event)) findings.push(`Event ${sequenceOf(event.position)} has a text that is not JSON.`);
    }
    page = await reader.scan({ after: page.at(-1)?.position ?? Infinity, limit: PART });
  }
  return findings;
}

function isReadable({ attributes, arrival, data }: StoredEvent): boolean {
  try {
    for (const text of [attributes, arrival, `{${data ?? ''}}`]) JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
