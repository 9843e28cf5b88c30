import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  type Stats,
} from 'node:fs';
import { dirname } from 'node:path';
import { isDamage, withoutPath } from '../binding';
import { ForeignFileError, type FileState } from '../schema';
import type { FileStateReader } from './file-state';
import { WriteAheadLog } from './write-ahead-log';

/** Thrown when a file of the database was removed, moved, replaced or overwritten: the connection never writes again. */
export class LostFileError extends Error {
  override readonly name = 'LostFileError';
}

/**
 * The files of an open database: the file itself, its write-ahead log (`-wal`) and the index of that (`-shm`). SQLite opens
 * each once by its name and goes on with it wherever it is moved; others find the files by name. What was answered must be
 * where others find it, so:
 *
 * 1. {@link require} looks before each read and write, and again after each write, before that is answered. Others find what was
 *    written if the names lead to the open files, the write-ahead log is as long as it was, and the file has the content that
 *    was written back to it.
 * 2. If something that was read says otherwise (another file under a name, another identity or transaction in the file, bytes that
 *    are gone) it throws a {@link LostFileError}, and the connection never writes again.
 * 3. If looking itself fails (no descriptor is free, a permission is missing, a disk cannot be read), it throws the error
 *    that it met. That says nothing of the files: the call fails, nothing is changed, and the next call looks again.
 * 4. After a loss, {@link hasWal} says whether others still find all that was written. It may fail as in 3, and is asked again.
 * 5. Only where they do not, the events are saved elsewhere, and {@link setWalAside} moves a write-ahead log that would destroy
 *    the file beside it.
 */
export class DatabaseFiles {
  readonly #file: string;
  /** SQLite keeps the other two beside the file that a symbolic link leads to. */
  readonly #path: string;
  readonly #walName: string;
  readonly #shmName: string;
  readonly #stateReader: FileStateReader;
  readonly #current: () => FileState;
  readonly #identity: string;
  readonly wal: WriteAheadLog;
  /** The last transaction in the database file when that was last found to be the right one. */
  #transactionId: string | undefined;
  #fileStats: Stats;
  readonly #walStats: Stats;
  readonly #shmStats: Stats;

  /**
   * Remembers the files that a connection has just opened.
   *
   * @param current - reads the state as the connection sees it.
   */
  constructor(file: string, stateReader: FileStateReader, current: () => FileState) {
    this.#file = file;
    this.#path = realpathSync(file);
    this.#walName = `${this.#path}-wal`;
    this.#shmName = `${this.#path}-shm`;
    this.#stateReader = stateReader;
    this.#current = current;
    this.#identity = current().identity;
    this.#fileStats = statSync(file);
    this.#walStats = statSync(this.#walName);
    this.#shmStats = statSync(this.#shmName);
    this.wal = new WriteAheadLog(this.#walName, 'r+');
  }

  /** Bytes of the file and of its write-ahead log. */
  bytes(): number {
    return [this.#path, this.#walName].reduce((sum, name) => sum + (statsOf(name)?.size ?? 0), 0);
  }

  /**
   * Makes sure that others find what this connection has written. Costs three `stat` calls and a short read, and about 0.2 ms
   * when the file has changed.
   *
   * @throws {LostFileError} they do not.
   * @throws it is not known whether they do, since a file cannot be looked at.
   */
  require(): void {
    try {
      this.#look();
    } catch (error) {
      const unknown = `it is not known whether the files of the log are still there: ${withoutPath(error)}`;
      throw error instanceof LostFileError ? error : new Error(unknown);
    }
  }

  #look(): void {
    const stats = statsOf(this.#file);
    if (stats === undefined) throw new LostFileError('the file is not there any more');
    if (!isSame(stats, this.#fileStats)) throw new LostFileError('another file has taken the place of the file');
    const walStats = statsOf(this.#walName);
    if (!isSame(walStats, this.#walStats)) {
      throw new LostFileError('the write-ahead log of the file was removed or replaced');
    }
    if (!isSame(statsOf(this.#shmName), this.#shmStats)) {
      throw new LostFileError('the index of the write-ahead log was removed or replaced');
    }
    const hasWalEnd = this.wal.hasEnd(walStats.size);
    if (hasWalEnd && isUnchanged(stats, this.#fileStats)) return;
    if (!this.#isWhole()) {
      const what = hasWalEnd ? 'the content of the file was replaced' : 'the write-ahead log of the file was cut off';
      throw new LostFileError(what);
    }
    this.#fileStats = stats;
    if (!hasWalEnd) this.wal.noteEnd();
  }

  /**
   * Whether the database file has the content that was written back to it, and the write-ahead log what was not. An older state
   * of the file has not: SQLite would not write the same back again.
   */
  #isWhole(): boolean {
    try {
      return this.#stateReader.isRight(this.#path, (state) => this.#leadsToNewest(state));
    } catch (error) {
      if (error instanceof ForeignFileError) return false;
      // SQLite reads zeros or nothing where the write-ahead log was cut off.
      if (isDamage(error) && !this.wal.hasEnd()) return false;
      throw error;
    }
  }

  /** Whether the file is ours, and has the newest transaction or a write-ahead log that adds it. */
  #leadsToNewest({ identity, transactionId }: FileState): boolean {
    if (identity !== this.#identity) return false;
    const newest = this.#current().transactionId;
    const leads = transactionId === newest || this.#walLeads(transactionId, newest);
    if (leads) this.#transactionId = transactionId;
    return leads;
  }

  /** Whether the write-ahead log goes on from this transaction to the newest one. Reading all of it takes milliseconds. */
  #walLeads(transactionId: string, newest: string): boolean {
    // The file had the newest at the last look: one that has another is an older state.
    if (newest === this.#transactionId) return false;
    return this.wal.search(transactionId, this.#transactionId) === 'found' && this.wal.search(newest) === 'found';
  }

  /**
   * Whether those who open the file by its name still find the events in the write-ahead log.
   *
   * @throws as {@link require}: it is not known.
   */
  get hasWal(): boolean {
    return (
      isSame(statsOf(this.#walName), this.#walStats) && isSame(statsOf(this.#file), this.#fileStats) && this.#isWhole()
    );
  }

  /** Whether the file is at its path, and no write-ahead log beside it, so that no other connection has begun to write. */
  get lacksWal(): boolean {
    return isSame(statsOf(this.#file), this.#fileStats) && statsOf(this.#walName) === undefined;
  }

  /**
   * Sets aside a write-ahead log that does not belong to the file beside it, so that this file can be opened.
   *
   * @returns its new name, if there was something in it.
   */
  setWalAside(): string | undefined {
    const wal = statsOf(this.#walName);
    const aside = `${this.#walName}.lost-${timestamp()}`;
    const isOurs = isSame(wal, this.#walStats);
    if (isOurs && wal.size > 0) {
      try {
        renameSync(this.#walName, aside);
      } catch (error) {
        // Another connection that lost the file at the same moment has set it aside.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }
    if (isOurs && isSame(statsOf(this.#shmName), this.#shmStats)) rmSync(this.#shmName, { force: true });
    return isOurs && wal.size > 0 ? aside : undefined;
  }

  /** A name beside the file for events that are in no other. */
  lostName(): string {
    for (let name = `${this.#path}.lost-${timestamp()}`; ; name += '-') if (statsOf(name) === undefined) return name;
  }

  close(): void {
    this.wal.close();
  }
}

/** The path that a name leads to; the name itself if there is nothing. @throws that cannot be looked at. */
export function pathOf(file: string): string {
  return statsOf(file) === undefined ? file : realpathSync(file);
}

/** Whether the write-ahead log beside a file and its index exist: a connection that is open has both. */
export function hasCompanions(file: string): boolean {
  return statsOf(`${file}-wal`) !== undefined && statsOf(`${file}-shm`) !== undefined;
}

/** @throws the file cannot be written, or has several names: under each of them SQLite would keep its own write-ahead log. */
export function requireUsable(file: string): void {
  const stats = statsOf(file);
  if (stats === undefined) return;
  if (stats.isFile() && stats.nlink > 1) {
    throw new Error(
      `the file has ${String(stats.nlink)} names (hard links), and services that open it under different ones would lose ` +
        'events. Remove the others',
    );
  }
  try {
    accessSync(file, constants.W_OK);
  } catch {
    throw new Error('the file cannot be written by this user');
  }
}

/**
 * The owner and mode that a new log needs which root makes: those of its folder, whose owner is to write it. Undefined where
 * that is root, and for other users, to whom what they make belongs.
 */
export function ownerOfNew(file: string): Pick<Stats, 'uid' | 'gid' | 'mode'> | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const folder = statsOf(dirname(file));
  if (folder === undefined || (folder.uid === 0 && folder.gid === 0)) return undefined;
  return { uid: folder.uid, gid: folder.gid, mode: folder.mode & 0o660 };
}

/** Makes an empty file for the owner that it needs, if that is not this user. SQLite gives the other two to the same. */
export function makeForOwner(file: string): void {
  const owner = statsOf(file) === undefined ? ownerOfNew(file) : undefined;
  if (owner === undefined) return;
  // Fails if another user of the folder has put something else there meanwhile.
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    fchownSync(descriptor, owner.uid, owner.gid);
    fchmodSync(descriptor, owner.mode);
  } finally {
    closeSync(descriptor);
  }
}

function timestamp(): string {
  return new Date().toISOString().replaceAll(/[:.]/g, '-');
}

/** Undefined if there is no such file. @throws it is not known whether there is. */
export function statsOf(name: string): Stats | undefined {
  return statSync(name, { throwIfNoEntry: false });
}

function isSame(one: Stats | undefined, other: Stats): one is Stats {
  return one?.ino === other.ino && one.dev === other.dev;
}

function isUnchanged(one: Stats, other: Stats): boolean {
  return one.mtimeMs === other.mtimeMs && one.ctimeMs === other.ctimeMs && one.size === other.size;
}
