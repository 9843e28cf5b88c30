import { execFile } from 'node:child_process';
import {
  access,
  constants,
  cp,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder, useSharedFolder } from '../support/temporary-folder';

const run = promisify(execFile);
const ROOT = join(__dirname, '..', '..');
const TEMPLATE = 'pages/templates/style.css';

it('a clone by Git for Windows has no CRLF', async () => {
  const folder = await temporaryFolder();
  await run('git', ['-c', 'core.autocrlf=true', 'clone', '--quiet', '--depth', '1', `file://${ROOT}`, folder]);
  const { stdout } = await run('git', ['ls-files', '--eol'], { cwd: folder });
  expect(stdout).toContain('w/lf');
  expect(stdout).not.toMatch(/w\/(?:crlf|mixed)/);
});

/** A small project beside the build script, compiled with this project's settings. */
describe('the build', () => {
  const folder = useSharedFolder();
  const at = (path: string): string => join(folder.path, path);
  const write = async (path: string, content: string): Promise<void> => {
    await mkdir(dirname(at(path)), { recursive: true });
    await writeFile(at(path), content);
  };
  const build = (...options: string[]) => run(process.execPath, [at('scripts/build.mjs'), ...options]);
  const built = async (): Promise<string[]> =>
    (await readdir(at('dist'), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(at('dist/').length))
      .filter((file) => !file.startsWith('.'))
      .sort();
  const read = (path: string) => readFile(at(path), 'utf8');

  beforeAll(async () => {
    await symlink(join(ROOT, 'node_modules'), at('node_modules'));
    for (const file of ['scripts/build.mjs', 'tsconfig.json']) await cp(join(ROOT, file), at(file));
    await write('package.json', '{"type":"commonjs","bin":{"tool":"dist/main.js"}}');
    await write('src/main.ts', "import { value } from './inner/value';\nexport const twice = value * 2;\n");
    await write('src/inner/value.ts', 'export const value = 1;\n');
    await write(`src/${TEMPLATE}`, 'a {}');
    await build();
  });

  it('compiles the sources, copies the templates and lets its tools be run', async () => {
    await access(at('dist/main.js'), constants.X_OK);
    expect(await built()).toEqual(['inner/value.js', 'inner/value.js.map', 'main.js', 'main.js.map', TEMPLATE]);
    expect(await read(`dist/${TEMPLATE}`)).toBe('a {}');
  });

  it('builds nothing anew if nothing has changed and that is asked for', async () => {
    await write('dist/main.js', 'throw new Error();');
    await build('--if-changed');
    expect(await read('dist/main.js')).not.toContain('exports.twice');
    await build();
    expect(await read('dist/main.js')).toContain('exports.twice');
  });

  it('sees a source and a template that are as old as before and of the same length', async () => {
    for (const [source, content, output] of [
      ['src/inner/value.ts', 'export const value = 2;\n', 'dist/inner/value.js'],
      [`src/${TEMPLATE}`, 'b {}', `dist/${TEMPLATE}`],
    ] as const) {
      const { atimeMs, mtimeMs } = await stat(at(source));
      await write(source, content);
      await utimes(at(source), atimeMs / 1000, mtimeMs / 1000);
      await build('--if-changed');
      expect(await read(output)).toMatch(/value = 2|b \{\}/);
    }
  });

  it('removes what has no source, while a file of dist is open for a moment as under Windows', async () => {
    await write(
      'hold.cjs',
      `const fs = require('node:fs');
      const { renameSync } = fs;
      let tries = 0;
      fs.renameSync = (from, to) => { if (tries++ % 3 < 2) throw new Error('held'); renameSync(from, to); };
      require('node:module').syncBuiltinESMExports();`,
    );
    await rm(at('src/inner'), { recursive: true });
    await rm(at(`src/${TEMPLATE}`));
    await write('src/value.ts', 'export const value = 3;\n');
    await write('src/main.ts', "export { value } from './value';\n");
    await run(process.execPath, ['--require', at('hold.cjs'), at('scripts/build.mjs'), '--if-changed']);
    expect(await built()).toEqual(['main.js', 'main.js.map', 'value.js', 'value.js.map']);
    expect((await readdir(folder.path)).filter((name) => name.startsWith('dist'))).toEqual(['dist']);
  });

  it('fails as long as a source does not compile, and leaves dist as it was', async () => {
    await write('src/value.ts', "export const value: number = '3';\n");
    const error = { code: 2, stdout: expect.stringContaining('src/value.ts(1,14)') as string };
    for (let tries = 0; tries < 2; tries++) await expect(build('--if-changed')).rejects.toMatchObject(error);
    expect(await built()).toEqual(['main.js', 'main.js.map', 'value.js', 'value.js.map']);
    await write('src/value.ts', 'export const value = 3;\n');
    await build();
  });

  it('names the commit of its sources, and the next one without compiling', async () => {
    const git = async (...args: string[]) =>
      (await run('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: folder.path })).stdout.trim();
    await git('init', '--quiet');
    await git('add', 'src', 'scripts');
    await git('commit', '--quiet', '--message', 'first');
    await build();
    expect(await read('dist/commit')).toBe(await git('rev-parse', '--short', 'HEAD'));
    await git('commit', '--quiet', '--allow-empty', '--message', 'second');
    await build('--if-changed');
    expect(await read('dist/commit')).toBe(await git('rev-parse', '--short', 'HEAD'));
    await rm(at('.git'), { recursive: true });
  });

  it('says what to run where TypeScript is not installed, and takes what was built before', async () => {
    await rm(at('node_modules'));
    expect((await build()).stderr).toBe('TypeScript is not installed: dist stays as it was built.\n');
    await rm(at('dist'), { recursive: true });
    const stderr = expect.stringContaining('Run `npm ci && npm run build`') as string;
    await expect(build()).rejects.toMatchObject({ code: 1, stderr });
  });
});
