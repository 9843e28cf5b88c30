import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
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
    // Without the modules of this project, which users do not have.
    const installed = join(folder.path, 'node_modules', 'asmx-webhook');
    await rm(installed);
    for (const file of ['package.json', 'dist/index.d.ts', 'dist/config/process-config.d.ts'])
      await cp(join(ROOT, file), join(installed, file));
    await writeFile(
      join(folder.path, 'program.ts'),
      `import { ConfigError, createWebHook, type WebHook } from 'asmx-webhook';
       async function main() {
         const webhook: WebHook = await createWebHook({ PORT: 0, SERVICE_ROOT: 'own' });
         const { url, events }: { url: string; events: WebHook['events'] } = webhook;
         const { id, recorded }: { id: string; recorded: boolean } = await events.record({ type: 't', data: [url] });
         for await (const { sequence, data } of events.follow({ after: 0, signal: AbortSignal.timeout(1) }))
           void [sequence.length, data, recorded];
         const [event] = await events.read({ limit: 1 });
         const time: string | undefined = event?.time;
         await webhook.close();
         // @ts-expect-error: a name that is no setting
         void createWebHook({ PORTS: 1 });
         // @ts-expect-error: an attribute of another type
         void events.record({ time: 17 });
         // @ts-expect-error: settings are texts, numbers or switches
         void createWebHook({ PORT: [url] });
       }
       main().catch((error: unknown) => { if (error instanceof ConfigError) console.log(error.code satisfies string); });`,
    );
    const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--ignoreDeprecations', '6.0'];
    const modules = ['--moduleResolution', moduleResolution, '--module', module];
    const args = [compiler, ...options, ...modules, 'program.ts'];
    const { stdout, stderr } = await run(process.execPath, args, { cwd: folder.path }).catch(
      (error: unknown) => error as { stdout: string; stderr: string },
    );
    expect([stdout, stderr]).toEqual(['', '']);
  });
});
