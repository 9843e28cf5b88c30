import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { callOperation } from '../support/bindings';
import { temporaryFolder } from '../support/temporary-folder';

const run = promisify(execFile);
const ROOT = join(__dirname, '..', '..');

describe('the packed package', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let archive: string;
  let files: string[];
  beforeAll(async () => {
    folder = await temporaryFolder();
    const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder.path], {
      cwd: ROOT,
    });
    const listing = JSON.parse(stdout) as unknown;
    const [packed] = Object.values(listing as Record<string, { filename: string; files: { path: string }[] }>);
    archive = join(folder.path, packed?.filename ?? '');
    files = packed?.files.map(({ path }) => path) ?? [];
  }, 120_000);
  afterAll(() => folder.remove());

  it('holds the compiled service, the WSDLs, README and licence, and nothing else', () => {
    const expected =
      /^(dist\/[\w/-]+\.js|dist\/asmx\/[\w-]+\/templates\/[\w-]+\.(eta|css|js)|wsdl\/WebHooks(\.extended)?\.wsdl|README\.md|LICENSE|package\.json)$/;
    expect(files.filter((file) => !expected.test(file))).toEqual([]);
    const wsdls = ['wsdl/WebHooks.wsdl', 'wsdl/WebHooks.extended.wsdl'];
    expect(files).toEqual(expect.arrayContaining(['dist/main.js', ...wsdls, 'README.md', 'LICENSE']));
  });

  it('runs with npx from any folder', async () => {
    const elsewhere = join(folder.path, 'elsewhere');
    await mkdir(elsewhere);
    const child = spawn('npx', ['--yes', `--package=${archive}`, 'asmx-webhook'], {
      cwd: elsewhere,
      env: { ...process.env, PORT: '0' },
      detached: true,
    });
    try {
      let output = '';
      const url = await new Promise<string>((resolve, reject) => {
        child.stdout.on('data', (chunk: Buffer) => {
          output += chunk.toString();
          const found = /WebHook answers at (\S+)/.exec(output)?.[1];
          if (found !== undefined) resolve(found);
        });
        child.stderr.on('data', (chunk: Buffer) => {
          output += chunk.toString();
        });
        child.on('close', () => {
          reject(new Error(output));
        });
      });
      expect(await callOperation(url, 'soap11', 'HelloWorld')).toBe('Hello World');
    } finally {
      // The whole group: npx starts the service through a shell.
      if (child.exitCode === null && child.pid !== undefined) {
        const ended = once(child, 'exit');
        process.kill(-child.pid, 'SIGTERM');
        await ended;
      }
    }
  }, 120_000);
});
