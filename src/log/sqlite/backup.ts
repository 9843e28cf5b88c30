import { openDatabase } from './binding';
import type { SqliteConnection } from './connection/connection';
import { WRITE_IDENTITY } from './schema';
import { Stamps, WRITE_STAMP } from './connection/stamp';

/**
 * Writes a copy of the whole log, as it is at one moment, into a new file. Others can go on writing meanwhile. The copy gets an
 * identity and a stamp of its own: restored beside a write-ahead log of the original, it is not taken for the original.
 */
export function backUp(connection: SqliteConnection, file: string): void {
  connection.prepare('VACUUM INTO ?').run(file);
  const copy = openDatabase(file);
  try {
    copy.exec(WRITE_IDENTITY);
    copy.prepare(WRITE_STAMP).run(new Stamps().next());
  } finally {
    copy.close();
  }
}
