import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';

/**
 * Reads a text file in UTF-8, with or without a byte order mark.
 *
 * @throws {Error} the file cannot be read or is not text; the message completes a sentence that begins with the file.
 */
export function readTextFile(path: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new Error(fileProblem(error), { cause: error });
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // The error below says so.
  }
  throw new Error('is not text in UTF-8');
}

/** Says why a file cannot be used, to complete a sentence that begins with the file. */
export function fileProblem(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOENT':
      return 'does not exist';
    case 'ENOTDIR':
      return 'cannot exist, because a part of its path is a file';
    case 'EISDIR':
      return 'is a folder';
    case 'EACCES':
    case 'EPERM':
      return `cannot be read by the user ${userName()}`;
    default:
      return `cannot be used (${message})`;
  }
}

/** The name of the user whom this process runs as, or the number of one without a name. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}
