import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const PAGE = readFileSync(join(ROOT, 'docs', 'promises.md'), 'utf8');

describe('docs/promises.md', () => {
  const promises = PAGE.split(/^(?=\d+\. )/m).slice(1);

  it('numbers its promises from 1', () => {
    expect(promises.length).toBeGreaterThan(10);
    expect(promises.map((text) => parseInt(text))).toEqual(promises.map((_, i) => i + 1));
  });

  it('names a test for each promise, and only files that exist', () => {
    for (const text of promises) {
      const [, paths = ''] = /\bproved by ([^]*?)(?:\n\n|$)/i.exec(text) ?? [];
      expect(paths).toMatch(/`(?:test\/[\w/.-]+\.ts|scripts\/[\w-]+\.mjs)`/);
    }
    const named = [...PAGE.matchAll(/`((?:src|test|scripts)\/[^`]*)`/g)].map(([, path = '']) => path);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});
