import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Finds a program, given by name or path, on this machine; undefined if it is missing. */
export function programPath(name: string): string | undefined {
  const folders = name.startsWith('/') ? ['/'] : [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, name)).find(existsSync);
}

/** Names each program or file that is missing with the package that provides it; undefined if none is. */
export function missingPrograms(programs: Readonly<Record<string, string>>): string | undefined {
  const missing = Object.entries(programs).filter(([program]) => programPath(program) === undefined);
  if (missing.length === 0) return undefined;
  return missing.map(([program, name]) => `${program} (package ${name})`).join(', ');
}

/** `describe`, unless something is missing: then the tests are skipped with a warning that says why, which `.ci/run` repeats at its end. */
export function describeUnless(missing: string | undefined, what: string, tests: () => void): void {
  (isThere(missing, what) ? describe : describe.skip)(what, tests);
}

/** As {@link describeUnless}, for one test. */
export function itUnless(missing: string | undefined, what: string, test: () => Promise<void>, timeout?: number): void {
  (isThere(missing, what) ? it : it.skip)(what, test, timeout);
}

function isThere(missing: string | undefined, what: string): boolean {
  if (missing !== undefined) console.warn(`SKIPPED: ${what}: not on this machine: ${missing}`);
  return missing === undefined;
}

/** Missing where a test cannot mount a disk. */
export const missingMount =
  process.getuid?.() === 0 && process.platform === 'linux' ? undefined : 'mount (as root, on Linux)';

/** Does something while a disk, of which mount is told how, is mounted on a folder. */
export async function whileMounted(options: string, disk: string, action: () => Promise<void>): Promise<void> {
  mkdirSync(disk);
  execFileSync('mount', [...options.split(' '), disk]);
  try {
    await action();
  } finally {
    // Even if programs use it: why the action failed must be what is reported.
    execFileSync('umount', ['-l', disk]);
  }
}

/** `describe` if all programs are installed; each is given with the package that provides it. */
export function describeWith(programs: Readonly<Record<string, string>>, what: string, tests: () => void): void {
  describeUnless(missingPrograms(programs), what, tests);
}
