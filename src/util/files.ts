import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, statSync } from 'node:fs';
import { lstat, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Writes a new file that appears under its name only when it is whole and on disk; `write` is given a temporary name in the same
 * folder, `NAME-….unfinished`, which stays behind if the process is killed. Throws if the name is empty or taken.
 */
export async function writeNewFile(file: string, write: (temporary: string) => Promise<void>): Promise<void> {
  if (file === '') throw new Error('The name of the new file is empty.');
  await requireFree(file);
  // File systems allow 255 bytes.
  const temporary = join(dirname(file), `${basename(file).slice(0, 40)}-${randomUUID()}.unfinished`);
  try {
    await write(temporary);
    flush(temporary);
    await requireFree(file);
    await onceFree(() => rename(temporary, file));
    flush(dirname(file));
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Tries again for 2 s while another program has the file open: under Windows a scanner or a backup often has. */
export async function onceFree(action: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + 2000;
  for (;;) {
    try {
      await action();
      return;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (!['EPERM', 'EACCES', 'EBUSY'].includes(code) || performance.now() > deadline) throw error;
      await delay(50);
    }
  }
}

/** Throws if something has the name, if only a dangling symbolic link. */
async function requireFree(file: string): Promise<void> {
  const found = await lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found !== undefined) throw new Error(`${file} exists already. Choose another name or move that file away.`);
}

/**
 * Waits until a file, or the names in a folder, are on disk. Windows and some file systems cannot do that for a folder: there it returns
 * at once. Not for the file of an open database: closing it would release SQLite's locks.
 */
export function flush(path: string): void {
  const isFolder = statSync(path).isDirectory();
  try {
    const descriptor = openSync(path, isFolder ? 'r' : 'r+');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (!isFolder || !['EACCES', 'EINVAL', 'EISDIR', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error;
  }
}
