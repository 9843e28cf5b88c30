import { randomUUID } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import { lstat, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

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
    await flush(temporary, 'r+');
    await requireFree(file);
    await rename(temporary, file);
    // The name, too, must survive a loss of power. Windows has no way to ask for it, and does not open folders.
    if (process.platform !== 'win32') await flush(dirname(file), 'r');
  } finally {
    await rm(temporary, { force: true });
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

async function flush(path: string, flags: string): Promise<void> {
  const handle = await open(path, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Whether a file, or that to which a symbolic link leads, is a mount of its own. Linux alone says so: proc_pid_mountinfo(5). */
export function isMountPoint(path: string): boolean {
  try {
    const escaped = realpathSync(path).replace(
      /[ \t\n\\]/g,
      (one) => `\\${one.charCodeAt(0).toString(8).padStart(3, '0')}`,
    );
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    return mounts.some((mount) => mount.split(' ')[4] === escaped);
  } catch {
    return false;
  }
}
