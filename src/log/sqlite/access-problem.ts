import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { reasonOf, userName } from '../../util/reason';

/** Resolves to what keeps this process from opening an event log in a file; undefined if it is no error of the file system. */
export async function accessProblem(file: string): Promise<string | undefined> {
  const problem = await fileProblem(file);
  return problem && `The event log ${file} cannot be opened: ${problem}`;
}

async function fileProblem(file: string): Promise<string | undefined> {
  const set = 'Set EVENT_LOG to sqlite: and the path of a file.';
  const found = await stat(file).catch((error: unknown) => error as NodeJS.ErrnoException);
  if ('isDirectory' in found) {
    if (found.isDirectory()) return `it is a folder. ${set}`;
    return (await writeProblem(file, 'it')) ?? (await writeProblem(dirname(file), `its folder ${dirname(file)}`));
  }
  if (found.code !== 'ENOENT') return `${reasonOf(found)}. ${set}`;
  const folder = await nearestFolder(dirname(file));
  const problem = await writeProblem(folder, `the folder ${folder}`);
  if (problem !== undefined || folder === dirname(file)) return problem;
  return `the folder ${dirname(file)} cannot be created in ${folder}. ${set}`;
}

async function writeProblem(path: string, what: string): Promise<string | undefined> {
  try {
    await access(path, constants.R_OK | constants.W_OK);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EROFS') return `${what} is on a file system that cannot be written. Set EVENT_LOG.`;
    return `${what} cannot be written by the user ${userName()}. Give that user the right, or set EVENT_LOG.`;
  }
}

async function nearestFolder(folder: string): Promise<string> {
  const above = dirname(folder);
  if (above === folder) return folder;
  return stat(folder).then(
    () => folder,
    () => nearestFolder(above),
  );
}
