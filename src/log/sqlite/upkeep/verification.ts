import type { Statement } from '../binding';
import type { SqliteConnection } from '../connection/connection';

interface Totals {
  readonly total: number;
  readonly found: number;
  readonly newest: number;
  readonly lastGiven: number;
}

/** Looks for damage in the file. Writes nothing; others can go on writing meanwhile. */
export class SqliteVerification {
  readonly #check: Statement;
  readonly #totals: Statement;

  constructor(connection: SqliteConnection) {
    this.#check = connection.prepare('PRAGMA integrity_check');
    this.#totals = connection.prepare(
      `SELECT events AS total, (SELECT count(*) FROM events NOT INDEXED) AS found,
              ifnull((SELECT max(sequence) FROM events), 0) AS newest,
              ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) AS "lastGiven"
       FROM totals`,
    );
  }

  /** Returns what is wrong, a line for each finding: in the pages and indexes, the total, the positions. */
  verify(): string[] {
    const damage = this.#damage();
    if (damage.length > 0) return damage.map((finding) => `The file is damaged: ${oneLine(finding)}`);
    const { total, found, newest, lastGiven } = this.#totals.get() as Totals;
    const findings: string[] = [];
    if (found !== total) {
      findings.push(`The log holds ${String(found)} events, and its total says ${String(total)}.`);
    }
    if (newest > lastGiven) {
      findings.push(
        `The newest event has position ${String(newest)}, and the last that was given is ${String(lastGiven)}.`,
      );
    }
    return findings;
  }

  /** What the check of the pages and indexes says. Some damage ends it with an error. */
  #damage(): string[] {
    const found: string[] = [];
    try {
      for (const row of this.#check.all() as { integrity_check: string }[]) found.push(row.integrity_check);
    } catch (error) {
      found.push((error as Error).message);
    }
    return found.filter((finding) => finding !== 'ok');
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
