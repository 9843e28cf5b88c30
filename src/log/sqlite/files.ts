import { accessSync, constants, existsSync, mkdirSync, realpathSync, statSync, type BigIntStats } from 'node:fs';
import { dirname } from 'node:path';
import { flush } from '../../util/files';

/** The files of a log, as far as they are there. */
type Files = Readonly<Record<'file' | 'wal' | 'shm', BigIntStats | undefined>>;

/** Identifies the files of a log, so that others in their place are noticed. */
export type OpenedFiles = Readonly<Record<keyof Files, Pick<BigIntStats, 'ino' | 'dev'> | undefined>>;

/** @param path - where a symbolic link leads: beside it are the other files. */
export function filesAt(name: string, path: string): Files {
  // The file numbers of NTFS can exceed safe integers.
  const [file, wal, shm] = [name, `${path}-wal`, `${path}-shm`].map((one) =>
    statSync(one, { bigint: true, throwIfNoEntry: false }),
  );
  return { file, wal, shm };
}

export function pathOf(name: string): string {
  try {
    return realpathSync.native(name);
  } catch {
    // It is not there yet, or on a drive of Windows whose names cannot be resolved.
    return name;
  }
}

function isSame(one: OpenedFiles['wal'], other: OpenedFiles['wal']): boolean {
  // A stopped log on a read-only file system has neither of the files beside it.
  return one?.ino === other?.ino && one?.dev === other?.dev;
}

/** @throws files are not those that were opened. */
export function requireSame({ file, wal, shm }: Files, opened: OpenedFiles | undefined): void {
  if (file === undefined) throw new Error('the file of the log is not there any more');
  if (!isSame(file, opened?.file)) throw new Error('another file has taken the place of the file of the log');
  if (!isSame(wal, opened?.wal)) throw new Error('the write-ahead log beside the file was removed or replaced');
  if (!isSame(shm, opened?.shm))
    throw new Error('the index of the write-ahead log (-shm) beside the file was removed or replaced');
}

/**
 * Creates a folder and missing ones above it, with their names on disk: also of those that another start made and could not sync.
 * `recursive` of `mkdirSync` never returns below /proc.
 */
export function makeFolder(folder: string): void {
  const above = dirname(folder);
  if (above === folder) return;
  makeFolder(above);
  try {
    mkdirSync(folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
  flush(above);
}

/** Whether the file system of a file is read-only. */
export function isReadOnly(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS';
  }
}
