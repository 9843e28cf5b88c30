import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../support/temporary-folder';

const run = promisify(execFile);
const ROOT = join(__dirname, '..', '..');
const TEMPLATE = 'pages/templates/style.css';

it('a clone by Git for Windows has no CRLF', async () => {
  const folder = await temporaryFolder();
  await run('git', ['-c', 'core.autocrlf=true', 'clone', '--quiet', '--depth', '1', `file://${ROOT}`, folder.path]);
  const { stdout } = await run('git', ['ls-files', '--eol'], { cwd: folder.path });
  expect(stdout).toContain('w/lf');
  expect(stdout).not.toMatch(/w\/(?:crlf|mixed)/);
  await folder.remove();
});

it('the nightly suites refuse an option that they do not know', async () => {
  const given = [join(ROOT, 'scripts/nightly.mjs'), '--chagned'];
  // Without PATH no suite could start.
  const refused = expect.stringContaining('"--chagned"') as string;
  await expect(run(process.execPath, given, { env: {} })).rejects.toMatchObject({ code: 2, stderr: refused });
});

/** A small project beside the build script, compiled with this project's settings. */
describe('the build', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
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
  const timesOfOutputs = async (): Promise<number[]> =>
    Promise.all((await built()).map(async (file) => (await stat(at(join('dist', file)))).mtimeMs));

  beforeAll(async () => {
    folder = await temporaryFolder();
    await symlink(join(ROOT, 'node_modules'), at('node_modules'));
    for (const file of ['scripts/build.mjs', 'tsconfig.json']) await cp(join(ROOT, file), at(file));
    await write('package.json', '{"type":"commonjs"}');
    await write('src/main.ts', "import { value } from './inner/value';\nexport const twice = value * 2;\n");
    await write('src/inner/value.ts', 'export const value = 1;\n');
    await write(`src/${TEMPLATE}`, 'a {}');
    await build();
  });
  afterAll(() => folder.remove());

  const ALL = ['inner/value.js', 'inner/value.js.map', 'main.js', 'main.js.map', TEMPLATE];

  it('compiles the sources and copies the templates', async () => {
    expect(await built()).toEqual(ALL);
    expect(await readFile(at(`dist/${TEMPLATE}`), 'utf8')).toBe('a {}');
  });

  it('builds nothing anew if nothing has changed and that is asked for', async () => {
    const before = await timesOfOutputs();
    await build('--if-changed');
    expect(await timesOfOutputs()).toEqual(before);
    await write('dist/main.js', 'throw new Error();');
    await build();
    expect(await readFile(at('dist/main.js'), 'utf8')).toContain('exports.twice');
  });

  it('sees a source and a template that are as old as before and of the same length', async () => {
    for (const [file, content] of [
      ['inner/value.ts', 'export const value = 2;\n'],
      [TEMPLATE, 'b {}'],
    ] as const) {
      const { atimeMs, mtimeMs } = await stat(at(`src/${file}`));
      await write(`src/${file}`, content);
      await utimes(at(`src/${file}`), atimeMs / 1000, mtimeMs / 1000);
    }
    await build('--if-changed');
    expect(await readFile(at('dist/inner/value.js'), 'utf8')).toContain('exports.value = 2');
    expect(await readFile(at(`dist/${TEMPLATE}`), 'utf8')).toBe('b {}');
  });

  it('replaces dist while one of its files is open as under Windows, and deletes the old one later', async () => {
    await write(
      'hold.cjs',
      `const fs = require('node:fs');
      const { renameSync, rmSync } = fs;
      const held = () => { throw Object.assign(new Error('held'), { code: 'EBUSY' }); };
      let tries = 0;
      fs.renameSync = (from, to) => (from === 'dist' && tries++ < 3 ? held() : renameSync(from, to));
      fs.rmSync = (path, options) => (fs.existsSync(path + '/main.js') ? held() : rmSync(path, options));
      require('node:module').syncBuiltinESMExports();`,
    );
    await write('src/main.ts', 'export const twice = 4;\n');
    await run(process.execPath, ['--require', at('hold.cjs'), at('scripts/build.mjs')]);
    expect(await readFile(at('dist/main.js'), 'utf8')).toContain('twice = 4');
    expect(await readdir(folder.path)).toContain('dist.old');
    await build();
    expect(await readdir(folder.path)).not.toContain('dist.old');
  });

  it('removes what has no source', async () => {
    await rm(at('src/inner'), { recursive: true });
    await rm(at(`src/${TEMPLATE}`));
    await write('src/value.ts', 'export const value = 3;\n');
    await write('src/main.ts', "export { value } from './value';\n");
    await build('--if-changed');
    expect(await built()).toEqual(['main.js', 'main.js.map', 'value.js', 'value.js.map']);
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
    const commit = () => readFile(at('dist/commit'), 'utf8');
    await git('init', '--quiet');
    await git('add', 'src', 'scripts');
    await git('commit', '--quiet', '--message', 'first');
    await build();
    expect(await commit()).toBe(await git('rev-parse', '--short', 'HEAD'));
    await git('commit', '--quiet', '--allow-empty', '--message', 'second');
    await build('--if-changed');
    expect(await commit()).toBe(await git('rev-parse', '--short', 'HEAD'));
    await rm(at('.git'), { recursive: true });
  });

  it('says what to run where TypeScript is not installed, and takes what was built before', async () => {
    await rm(at('node_modules'));
    const said = async () =>
      build().then(
        ({ stderr }) => [0, stderr],
        ({ code, stderr }: { code: number; stderr: string }) => [code, stderr],
      );
    expect(await said()).toEqual([0, 'TypeScript is not installed: dist stays as it was built.\n']);
    await rm(at('dist'), { recursive: true });
    expect(await said()).toEqual([1, expect.stringContaining('Run `npm ci && npm run build`')]);
  });
});
