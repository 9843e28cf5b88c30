import { statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { isNoDatabase, openInMemory, pause, type Database } from '../binding';
import { ForeignFileError, readFileState, schemaState, type FileState } from '../schema';
import { searchWal } from './write-ahead-log';

/** How often, and after how many milliseconds, a state is read again while another process may be writing them. */
const LOOKS = 5;
const PAUSE = 20;

/** Reads the state of a database file itself, without what its write-ahead log adds. */
export class FileStateReader {
  // The files are attached to it: DETACH lets go of them at once, a closed connection when its statements are collected.
  readonly #database = openInMemory();

  constructor() {
    // While a reader holds back a checkpoint, pages at the end of the file may be in the write-ahead log only. Without this SQLite
    // takes the file for malformed. Nothing is ever written over this connection.
    this.#database.exec('PRAGMA writable_schema = ON');
  }

  /** @throws the write-ahead log beside a file belongs to another, or the file is no database of this program and version. */
  requirePair(file: string): void {
    const wal = `${file}-wal`;
    if (searchWal(wal) === 'empty') return;
    const exists = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
    if (exists && this.isRight(file, ({ transactionId }) => searchWal(wal, transactionId) !== 'not found')) return;
    const problem = exists ? 'was written for another file' : 'the file itself is missing or empty';
    throw new Error(
      `The write-ahead log beside the file (its name ends with -wal) holds events, but ${problem}. Opening them together ` +
        'would destroy both. Put back the file that it belongs to, or move it away to go on without the events in it. ' +
        'Nothing was changed.',
    );
  }

  /** @throws the file is not a database of this program and version. Changes nothing, not even where it throws. */
  requireKnown(file: string): void {
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0) this.isRight(file, () => true);
  }

  /**
   * Whether the state of a database file is right. Reads it again if it is not: another process may be writing the file.
   *
   * @throws {ForeignFileError} the file was read, and is not an event log.
   * @throws the file cannot be read now, or is an event log of another version.
   */
  isRight(file: string, isRight: (state: FileState) => boolean): boolean {
    for (let look = 1; ; look++) {
      try {
        const state = this.#read(file);
        if (state !== undefined && isRight(state)) return true;
        if (look === LOOKS) return false;
      } catch (error) {
        if (look === LOOKS) throw error;
      }
      pause(PAUSE);
    }
  }

  /** The last position that a file says it has given; undefined if it does not say. */
  lastPosition(file: string): number | undefined {
    try {
      return this.#attached(file, (database) => {
        const row = database.prepare("SELECT seq FROM file.sqlite_sequence WHERE name = 'events'").get();
        return (row as { seq: number } | undefined)?.seq ?? 0;
      });
    } catch {
      return undefined;
    }
  }

  #read(file: string): FileState | undefined {
    return this.#attached(file, (database) => {
      if (schemaState(database, 'file') === 'empty') return undefined;
      const [state] = database.prepare(readFileState('file')).all() as FileState[];
      return state;
    });
  }

  #attached<T>(file: string, read: (database: Database) => T): T {
    // Immutable: SQLite neither looks for a write-ahead log nor makes one.
    try {
      this.#database.prepare('ATTACH ? AS file').run(`${pathToFileURL(file).href}?immutable=1`);
    } catch (error) {
      throw isNoDatabase(error)
        ? new ForeignFileError('The file is not a SQLite database. Nothing was changed.')
        : error;
    }
    try {
      return read(this.#database);
    } finally {
      this.#database.exec('DETACH file');
    }
  }
}
