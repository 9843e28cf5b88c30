import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { useTemporaryFolder } from '../../support/temporary-folder';

const run = promisify(execFile);
const ROOT = join(__dirname, '..', '..', '..');

describe('a program with the package', () => {
  const folder = useTemporaryFolder();

  beforeEach(async () => {
    await mkdir(join(folder.path, 'node_modules'));
    await symlink(ROOT, join(folder.path, 'node_modules', 'asmx-webhook'), 'dir');
  });

  /** Runs a program in a module, and resolves to the lines that it prints. */
  async function printed(program: string, variables: Readonly<Record<string, string>> = {}): Promise<string[]> {
    await writeFile(join(folder.path, 'program.mjs'), program);
    const options = { cwd: folder.path, env: { PATH: process.env.PATH ?? '', ...variables } };
    const { stdout, stderr } = await run(process.execPath, ['program.mjs'], options);
    expect(stderr).toBe('');
    return stdout.trim().split('\n');
  }

  /** The parts of docs/embedding.md that a pattern catches. */
  const onPage = async (pattern: RegExp) =>
    pattern.exec(await readFile(join(ROOT, 'docs', 'embedding.md'), 'utf8'))?.slice(1) ?? [];

  it('starts and ends the service as docs/embedding.md shows, whatever the environment says', async () => {
    const [example = ''] = await onPage(/```js\n(.*?)```/s);
    const lines = await printed(example, { SERVICE_ROOT: 'other', PORT: 'http' });
    expect(lines).toEqual([
      expect.stringMatching(/^WebHook answers at http:\/\/127\.0\.0\.1:\d+\/webhooks\/Services\/WebHooks\.asmx$/),
      '200',
    ]);
    expect(await readdir(join(folder.path, 'data'))).toEqual(['events.db']);
  });

  it('has a log in memory for the tests of others, as docs/embedding.md shows', async () => {
    const [example = ''] = await onPage(/## In your tests.*?```js\n(.*?)```/s);
    await writeFile(join(folder.path, 'orders.test.js'), example);
    await writeFile(join(folder.path, 'package.json'), '{}');
    const jest = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
    const { stderr } = await run(process.execPath, [jest, '--rootDir', folder.path], { cwd: folder.path });
    expect(stderr).toMatch(/an order is sent once[^]*Tests: +1 passed, 1 total/);
    expect((await readdir(folder.path)).sort()).toEqual(['node_modules', 'orders.test.js', 'package.json']);
  });

  it('has the events of its service, as docs/embedding.md shows', async () => {
    const [example = '', output] = await onPage(/## Its events.*?```js\n(.*?)```.*?```text\n(.*?)\n```/s);
    expect(await printed(example)).toEqual(output?.split('\n'));
  });

  it.each([
    ['node10', 'commonjs'],
    ['nodenext', 'nodenext'],
  ])('finds its types with moduleResolution %s', async (moduleResolution, module) => {
    const program = `import { ConfigError, createWebHook } from 'asmx-webhook';
      createWebHook({ PORT: 0 }).catch((error: unknown) => { if (error instanceof ConfigError) console.log(error.code satisfies string); });`;
    await writeFile(join(folder.path, 'program.ts'), program);
    const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const options = ['--noEmit', '--strict', '--lib', 'es2023', '--ignoreDeprecations', '6.0'];
    const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules', '@types')];
    const modules = ['--moduleResolution', moduleResolution, '--module', module];
    const args = [compiler, ...options, ...types, ...modules, join(folder.path, 'program.ts')];
    const { stdout, stderr } = await run(process.execPath, args, { cwd: folder.path }).catch(
      (error: unknown) => error as { stdout: string; stderr: string },
    );
    expect([stdout, stderr]).toEqual(['', '']);
  });
});
