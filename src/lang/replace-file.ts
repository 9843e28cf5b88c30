import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { flushFolder } from './flush';

/**
 * Makes a text the content of a file, which may exist. Whatever happens meanwhile, a kill or a loss of power, the file then has
 * either its old content or the new one, whole; once this resolves, the new one. Only one process at a time may do this to a
 * file: the text is first written to `NAME.unfinished` beside it, which stays behind where the process is killed, and is used
 * again.
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  const temporary = `${file}.unfinished`;
  const handle = await open(temporary, 'w');
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
  await flushFolder(dirname(file));
}
