import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const SRC = join(__dirname, '..', 'src');

/** ESLint sees to the direction of imports between folders (`LAYERS` in its configuration), but not to circles within one. */
describe('the files of src', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?<!\.d)\.ts$/.test(file))
    .map((file) => join(SRC, file));
  const imports = new Map(files.map((file) => [file, importedBy(file)]));

  it('do not import each other in circles, not even their types', () => {
    const circular = files.filter((file) => reached(file).has(file)).map((file) => relative(SRC, file));
    expect(circular).toEqual([]);
  });

  function reached(start: string): ReadonlySet<string> {
    const found = new Set<string>();
    const open = [start];
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      for (const next of imports.get(file) ?? []) {
        if (!found.has(next)) open.push(next);
        found.add(next);
      }
    }
    return found;
  }
});

/** The files of src that a file imports, also as a type or later. */
function importedBy(file: string): string[] {
  const names = readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']*?)(?:\.js)?'/g);
  return [...names].map(([, name = '']) => `${join(dirname(file), name)}.ts`).filter((target) => existsSync(target));
}
