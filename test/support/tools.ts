import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of a program of this machine, or a path itself; undefined: it is not there. */
export function programPath(name: string): string | undefined {
  if (name.startsWith('/')) return isThere(name, constants.F_OK) ? name : undefined;
  return [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
    .map((folder) => join(folder, name))
    .find((path) => isThere(path, constants.X_OK));
}

function isThere(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** Names each program or file that is not on this machine with the package that brings it; undefined: all are there. */
export function missingPrograms(programs: Readonly<Record<string, string>>): string | undefined {
  const missing = Object.entries(programs).filter(([program]) => programPath(program) === undefined);
  if (missing.length === 0) return undefined;
  return missing.map(([program, name]) => `${program} (package ${name})`).join(', ');
}

/** `describe`, unless something is missing: then the tests are skipped, and what for is said. */
export function describeUnless(missing: string | undefined, what: string, tests: () => void): void {
  if (missing === undefined) {
    describe(what, tests);
    return;
  }
  console.warn(`SKIPPED: ${what}: not on this machine: ${missing}`);
  describe.skip(what, tests);
}

/** `describe` where all programs are installed; they are given with the packages that bring them. */
export function describeWith(programs: Readonly<Record<string, string>>, what: string, tests: () => void): void {
  describeUnless(missingPrograms(programs), what, tests);
}
