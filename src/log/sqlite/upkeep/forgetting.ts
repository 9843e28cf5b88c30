import type Database from 'libsql';
import type { SqliteConnection } from '../connection/connection';
import { sliceDeadline } from '../slice';
import { clearedPage, kindsOf, mapPageOf, nextMapPage } from './page-format';

/** Most pages that are written in one transaction: a millisecond or two. */
const CLEARED_PAGES = 32;

/** How long pages are looked at in one go, in milliseconds. Nobody waits for that. */
const LOOK_TIME = 50;

/** How far the clearing of pages has come. */
export interface Clearing {
  /** The next page to look at. */
  readonly page: number;
  /** How many pages the file has. */
  readonly pages: number;
  /** Whether something was written. */
  readonly wrote: boolean;
}

/**
 * Removes events so that the file does not hold them any more. SQLite overwrites what it deletes (`secure_delete`), but when it
 * moves rows from one page to another, copies may stay in the unused room of the first: that room is cleared in all pages.
 */
export class SqliteForgetting {
  readonly #connection: SqliteConnection;
  readonly #delete: Database.Statement;
  readonly #subtract: Database.Statement;
  readonly #pages: Database.Statement;
  readonly #read: Database.Statement;
  readonly #write: Database.Statement;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#delete = connection.prepare('DELETE FROM events WHERE sequence = ?');
    this.#subtract = connection.prepare('UPDATE totals SET events = events - ?');
    this.#pages = connection.prepare('PRAGMA page_count');
    this.#read = connection.prepare('SELECT data FROM sqlite_dbpage WHERE pgno = ?');
    this.#write = connection.prepare('UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?');
  }

  /**
   * Deletes the events at some positions, and with them their keys, until the slice has taken its time. Says of each of the
   * positions that it came to, from the first on, whether there was an event.
   */
  forget(positions: readonly number[]): boolean[] {
    return this.#connection.transaction(() => {
      const deadline = sliceDeadline();
      const deleted: boolean[] = [];
      for (const position of positions) {
        deleted.push(this.#delete.run(position).changes > 0);
        if (performance.now() > deadline) break;
      }
      this.#subtract.run(deleted.filter(Boolean).length);
      return deleted;
    });
  }

  /** Clears the unused room of some pages, from one on, as many as a step may take. */
  clear(page: number): Clearing {
    const { found, ...looked } = this.#connection.snapshot(() => this.#look(page));
    if (found.length > 0) this.#clearAll(found);
    return { ...looked, wrote: found.length > 0 };
  }

  /** Finds pages with something in their unused room. */
  #look(first: number): { found: number[]; page: number; pages: number } {
    const deadline = performance.now() + LOOK_TIME;
    const pages = this.#pageCount();
    const found: number[] = [];
    let page = first;
    while (page <= pages && found.length < CLEARED_PAGES && performance.now() < deadline) {
      const holdsRows = this.#map(page);
      const end = Math.min(pages + 1, nextMapPage(page));
      for (; page < end && found.length < CLEARED_PAGES && performance.now() < deadline; page++) {
        if (holdsRows(page) && clearedPage(this.#page(page)) !== undefined) found.push(page);
      }
    }
    return { found, page, pages };
  }

  /** Under the lock: others may have written the pages, or cut them off, since they were looked at. */
  #clearAll(found: readonly number[]): void {
    this.#connection.transaction(() => {
      const pages = this.#pageCount();
      for (const page of found.filter((one) => one <= pages && this.#map(one)(one))) {
        const cleared = clearedPage(this.#page(page));
        if (cleared !== undefined) this.#write.run(cleared, page);
      }
    });
  }

  /** Returns a function that says of a page whether it holds rows, for those near one page. The schema's page holds none. */
  #map(near: number): (page: number) => boolean {
    const map = mapPageOf(near);
    const kinds = kindsOf(this.#page(map));
    return (page) => kinds(page - map);
  }

  #pageCount(): number {
    return (this.#pages.get() as { page_count: number }).page_count;
  }

  #page(page: number): Buffer {
    return (this.#read.get(page) as { data: Buffer }).data;
  }
}
