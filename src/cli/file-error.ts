import { userName } from '../config/text-file';

const REASONS: ReadonlyMap<string | undefined, string> = new Map([
  ['ENOENT', 'there is no such file or folder'],
  ['ENOTDIR', 'part of its path is a file, not a folder'],
  ['EISDIR', 'it is a folder'],
  ['ENOSPC', 'the disk is full'],
  ['EROFS', 'its file system is read-only'],
  ['ENAMETOOLONG', 'its name is too long'],
]);

/**
 * Says in one line why a file cannot be read or written. An error that did not come from the file system is returned as it
 * is.
 */
export function fileError(file: string, action: 'read' | 'written', error: unknown): unknown {
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  return new Error(
    `${file === '-' ? 'Standard input' : file} cannot be ${action}: ${reasonOf(code, action) ?? message}.`,
  );
}

function reasonOf(code: string | undefined, action: 'read' | 'written'): string | undefined {
  if (code === 'EACCES' || code === 'EPERM') return `the user ${userName()} has no permission`;
  return code === 'ENOENT' && action === 'written' ? 'its folder does not exist' : REASONS.get(code);
}
