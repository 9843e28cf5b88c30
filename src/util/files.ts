import { randomUUID } from 'node:crypto';
import { link, lstat, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Thrown when a file cannot get its name; the message is one line and says what to do. */
class NewFileError extends Error {
  override readonly name = 'NewFileError';
}

/** Characters of the final name that its temporary name begins with; file systems allow 255 bytes. */
const NAME_CHARACTERS = 40;

/**
 * Writes a new file that appears under its name only when it is whole and on disk: it is written under a temporary name in
 * the same folder and then published by {@link publishFile}. If that fails, the temporary file is removed; if the process is
 * killed, it stays behind as `NAME-….unfinished`.
 *
 * @param write - writes the content to the path that it is given; no file exists there.
 * @throws {NewFileError} the name is empty or taken.
 */
export async function writeNewFile(file: string, write: (temporary: string) => Promise<void>): Promise<void> {
  if (file === '') throw new NewFileError('The name of the new file is empty.');
  if (await exists(file)) throw taken(file);
  const temporary = temporaryName(file);
  try {
    await write(temporary);
    await publishFile(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** A name for a file that is being written, in the folder of the final one, so that publishing it copies nothing. */
export function temporaryName(file: string): string {
  return join(dirname(file), `${basename(file).slice(0, NAME_CHARACTERS)}-${randomUUID()}.unfinished`);
}

/**
 * Flushes a finished file to disk and gives it its final name in the same folder. Never replaces a file, not even one that
 * appears at the last moment.
 *
 * @throws {NewFileError} a file of the final name exists; the temporary one is left.
 */
export async function publishFile(temporary: string, final: string): Promise<void> {
  await flush(temporary);
  try {
    // Unlike a rename, a link refuses a name that is taken.
    await link(temporary, final);
    await rm(temporary);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw taken(final);
    if (code === undefined || !WITHOUT_LINKS.has(code)) throw error;
    await reserveAndRename(temporary, final);
  }
  await flushFolder(dirname(final));
}

/** The errors of file systems without hard links (FAT, some network shares). */
const WITHOUT_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL']);

async function reserveAndRename(temporary: string, final: string): Promise<void> {
  try {
    await (await open(final, 'wx')).close();
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? taken(final) : error;
  }
  await rename(temporary, final);
}

async function flush(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Flushes the name to disk, so that it survives a loss of power. Windows has no way to ask for it, and does not open folders. */
async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Whether anything has the name, a dangling symbolic link included. */
async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function taken(file: string): NewFileError {
  return new NewFileError(`${file} exists already. Choose another name or move that file away.`);
}
