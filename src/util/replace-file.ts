import { open, rename } from 'node:fs/promises';

/**
 * Makes a text the content of a file, which may exist. If the process is killed meanwhile, or the power fails, the file has its
 * old content or the new one, whole. After a loss of power it may be the old one even though this has resolved. Only one process
 * at a time may do this to a file: the text is first written to `NAME.unfinished` beside it, which stays behind where the
 * process is killed, and is used again.
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
}
