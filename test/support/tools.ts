import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Finds a program, given by name or path, on this machine; undefined if it is missing. */
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

/** Names each program or file that is missing with the package that provides it; undefined if none is. */
export function missingPrograms(programs: Readonly<Record<string, string>>): string | undefined {
  const missing = Object.entries(programs).filter(([program]) => programPath(program) === undefined);
  if (missing.length === 0) return undefined;
  return missing.map(([program, name]) => `${program} (package ${name})`).join(', ');
}

/** `describe`, unless something is missing: then the tests are skipped with a warning that says why. */
export function describeUnless(missing: string | undefined, what: string, tests: () => void): void {
  if (missing === undefined) {
    describe(what, tests);
    return;
  }
  console.warn(`SKIPPED: ${what}: not on this machine: ${missing}`);
  describe.skip(what, tests);
}

/** `describe` if all programs are installed; each is given with the package that provides it. */
export function describeWith(programs: Readonly<Record<string, string>>, what: string, tests: () => void): void {
  describeUnless(missingPrograms(programs), what, tests);
}
