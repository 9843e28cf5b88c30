import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const SRC = join(__dirname, '..', 'src');

/** The files of src that a file imports, also as a type or later. */
function importedBy(file: string): string[] {
  const names = readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']*?)(?:\.js)?'/g);
  return [...names].map(([, name = '']) => `${join(dirname(file), name)}.ts`).filter((target) => existsSync(target));
}

// ESLint sees to the direction of imports between folders (`LAYERS` in its configuration), but not to circles within one.
it('the files of src do not import each other in circles, not even their types', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => /(?<!\.d)\.ts$/.test(file));
  const imports = new Map(files.map((file) => [join(SRC, file), importedBy(join(SRC, file))]));
  // A file that imports none of those that are left, or that none of them imports, is in no circle.
  for (let before = Infinity; imports.size < before;) {
    before = imports.size;
    const wanted = new Set([...imports.values()].flat());
    for (const [file, imported] of imports)
      if (!wanted.has(file) || !imported.some((one) => imports.has(one))) imports.delete(file);
  }
  expect([...imports.keys()].map((file) => relative(SRC, file))).toEqual([]);
});
