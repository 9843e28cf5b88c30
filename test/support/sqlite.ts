import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';

/** Opens the file of a log past the log, as `sqlite3` does. */
export function openDirectly(file: string): DatabaseSyncInstance {
  return new DatabaseSync(file, { defensive: false, timeout: 5000 });
}

/** Does something with the file of a log past the log. */
export function directly(file: string, sql: string): void {
  const database = openDirectly(file);
  database.exec(sql);
  database.close();
}

/**
 * Reads from the file of a log past the log. Lets go of the file at once, which a connection with statements does not do
 * before these are collected.
 */
export function select(file: string, sql: string): unknown[] {
  const database = new DatabaseSync(':memory:', { defensive: false });
  database.prepare('ATTACH ? AS file').run(file);
  const rows: unknown[] = database.prepare(sql).all();
  database.exec('DETACH file');
  return rows;
}
