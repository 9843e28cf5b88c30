import { open } from 'node:fs/promises';

/** Resolves once what was written to a file is on disk. */
export async function flushFile(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Makes the names in a folder survive a loss of power. Windows has no way to ask for it, and does not open folders.
 */
export async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
