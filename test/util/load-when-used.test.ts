import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { useTemporaryFolder } from '../support/temporary-folder';

const LOAD_WHEN_USED = join(__dirname, '..', '..', 'dist', 'util', 'load-when-used.js');

describe('a module that is loaded when used', () => {
  const folder = useTemporaryFolder();

  /** What a program prints that puts off loading parts of a library. Jest has no `require.cache` to be changed. */
  function printed(program: string, ...parts: readonly string[]): string {
    const library = JSON.stringify(join(folder.path, 'library.js'));
    const modules = JSON.stringify(parts.length === 0 ? ['./part'] : parts);
    const script = `require(${JSON.stringify(LOAD_WHEN_USED)}).loadWhenUsed(${library}, ...${modules}); ${program}`;
    return execFileSync(process.execPath, ['-e', `${script}`], { cwd: folder.path, encoding: 'utf8' });
  }

  beforeEach(async () => {
    await writeFile(join(folder.path, 'part.js'), "console.log('loaded'); exports.half = (n) => n / 2;");
    await writeFile(
      join(folder.path, 'library.js'),
      "const part = require('./part'); exports.half = (n) => part.half(n);",
    );
  });

  it('is not loaded with the library', () => {
    expect(printed("require('./library.js'); console.log('ready');")).toBe('ready\n');
  });

  it('does what it does for whoever uses it', () => {
    expect(
      printed("const { half } = require('./library.js'); console.log(half(8), half(4), require('./part').half(2));"),
    ).toBe('loaded\n4 2 1\n');
  });

  it('is called where it is a function', async () => {
    await writeFile(join(folder.path, 'part.js'), "console.log('loaded'); module.exports = (n) => n / 2;");
    const program = "const half = require('./part'); console.log('ready'); console.log(half(8));";
    expect(printed(program)).toBe('ready\nloaded\n4\n');
  });

  it('may be missing', () => {
    expect(printed("console.log(require('./library.js').half(8));", './other')).toBe('loaded\n4\n');
  });

  it('may be one of several, some of them missing', () => {
    const program = "const { half } = require('./library.js'); console.log('ready'); console.log(half(8));";
    expect(printed(program, './other', './part')).toBe('ready\nloaded\n4\n');
  });
});
