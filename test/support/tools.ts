import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of a program of this machine; undefined: it is not installed. */
export function programPath(name: string): string | undefined {
  for (const folder of [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      continue;
    }
  }
  return undefined;
}

/** `describe` where all programs are installed; otherwise it says what is skipped and which Debian packages bring them. */
export function describeWith(programs: Readonly<Record<string, string>>, what: string, tests: () => void): void {
  const missing = Object.entries(programs).filter(([program]) => programPath(program) === undefined);
  if (missing.length === 0) {
    describe(what, tests);
    return;
  }
  const names = missing.map(([program]) => program).join(', ');
  const packages = missing.map(([, name]) => name).join(' ');
  console.warn(`SKIPPED: ${what}: there is no ${names} here; Debian: apt-get install ${packages}`);
  describe.skip(what, tests);
}
