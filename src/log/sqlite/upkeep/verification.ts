import { sequenceOf } from '../../../events/position';
import { isUtf8 } from 'node:buffer';
import { openDatabase } from '../binding';
import { checksumOf, TEXTS } from '../checksum';
import type { SqliteConnection } from '../connection';
import type { ReadableConnection } from '../read-only';
import { COUNT_MINUTES, makeDistinct, TEXTS_AS_BYTES } from '../schema';

interface Totals {
  readonly total: number;
  readonly found: number;
  readonly newest: number;
  readonly lastGiven: number;
  readonly minutes: number;
}

/** Returns what is wrong with the file, a line for each finding: in pages and indexes, totals, positions and times. */
export function verify(connection: ReadableConnection): string[] {
  // Outside of a transaction, which could not be ended where damage ends the check.
  const damage = connection.reading(() => damageIn(connection));
  if (damage.length > 0) return damage.map((finding) => `The file is damaged: ${oneLine(finding)}`);
  return connection.snapshot(() => wrongCounts(connection).concat([...damagedEvents(connection)]));
}

/** Totals, positions and times that do not agree with the events. */
function wrongCounts(connection: ReadableConnection): string[] {
  const { total, found, newest, lastGiven, minutes } = connection
    .prepare(
      `SELECT events AS total, (SELECT count(*) FROM events NOT INDEXED) AS found,
              ifnull((SELECT max(sequence) FROM events), 0) AS newest,
              ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) AS "lastGiven",
              (SELECT count(*) FROM (${COUNT_MINUTES}) AS counted FULL JOIN minutes USING (minute)
               WHERE counted.events IS NOT minutes.events OR counted.milliseconds IS NOT minutes.milliseconds OR counted.first < minutes.first
                     OR counted.last > minutes.last) AS minutes
       FROM totals`,
    )
    .get() as Totals;
  const findings: string[] = [];
  if (found !== total) findings.push(`The log holds ${String(found)} events, and its total says ${String(total)}.`);
  if (newest > lastGiven) {
    findings.push(
      `The newest event has position ${String(newest)}, and the last that was given is ${String(lastGiven)}.`,
    );
  }
  if (minutes > 0) {
    findings.push(`The times of the events do not agree with the counts of ${String(minutes)} minutes.`);
  }
  return findings;
}

/** An event as its bytes stand in the file. */
type EventBytes = Readonly<Record<(typeof TEXTS)[number], Uint8Array | null>> & {
  readonly sequence: number;
  readonly recordedAt: number;
  /** Null for an event that an earlier version recorded. */
  readonly checksum: number | null;
};

/** Events with a text that is not UTF-8, or whose checksum is not the one that was noted. */
function* damagedEvents(connection: ReadableConnection): Generator<string> {
  const next = connection.prepare(
    `SELECT sequence, recorded_at AS "recordedAt", ${checksumIn(connection)}, ${TEXTS_AS_BYTES}
     FROM events WHERE sequence > ? ORDER BY sequence LIMIT 1`,
  );
  for (let row = next.get(0) as EventBytes | undefined; row; row = next.get(row.sequence) as EventBytes | undefined) {
    const problem = problemOf(row);
    if (problem !== undefined) yield `Event ${sequenceOf(row.sequence)} ${problem}.`;
  }
}

/** The column of the checksums; a log that is only read may be of a version without it. */
function checksumIn(connection: ReadableConnection): string {
  const column = connection.prepare("SELECT name FROM pragma_table_info('events') WHERE name = 'checksum'").get();
  return column === undefined ? 'NULL AS checksum' : 'checksum';
}

function problemOf(row: EventBytes): string | undefined {
  const { checksum, recordedAt } = row;
  const texts = TEXTS.map((name) => row[name]);
  if (!texts.every((bytes) => bytes === null || isUtf8(bytes))) return 'has a text that is not UTF-8';
  const isOther = checksum !== null && checksum !== checksumOf(recordedAt, texts);
  return isOther ? 'is not as it was recorded: it has another checksum than was noted' : undefined;
}

/** Findings in the pages and indexes. Some damage ends it with an error. */
function damageIn(connection: ReadableConnection): string[] {
  const found: string[] = [];
  try {
    const rows = connection.prepare('PRAGMA integrity_check').all() as { integrity_check: string }[];
    found.push(...rows.map((row) => row.integrity_check));
  } catch (error) {
    found.push((error as Error).message);
  }
  return found.filter((finding) => finding !== 'ok');
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/**
 * Writes a copy of the whole log, as it is at one moment, into a new file. Others can go on writing meanwhile.
 */
export function backUp(connection: SqliteConnection, file: string): void {
  connection.prepare('VACUUM INTO ?').run(file);
  const copy = openDatabase(file);
  try {
    makeDistinct(copy);
  } finally {
    copy.close();
  }
}
