import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BINDINGS, callOperation, eventsOf } from '../support/bindings';
import { eventually } from '../support/eventually';
import { send } from '../support/http';
import { startProcess, type ServiceProcess } from '../support/process';
import { itAnswersRecordedCases } from '../support/recorded-service';
import { temporaryFolder } from '../support/temporary-folder';
import { MAIN, TOOL } from '../support/tool';

const run = promisify(execFile);

/** Newer versions than the oldest one, on which every other test runs. */
const VERSIONS = ['22', '24', '26'];

/** npm's package `node` brings the program of each version. */
describe('on another version of Node', () => {
  let packages: Awaited<ReturnType<typeof temporaryFolder>>;
  const nodeOf = (version: string): string => join(packages.path, 'node_modules', `node-${version}`, 'bin', 'node');
  beforeAll(async () => {
    packages = await temporaryFolder();
    await writeFile(join(packages.path, 'package.json'), '{}');
    const names = VERSIONS.map((version) => `node-${version}@npm:node@${version}`);
    await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts=false', ...names], {
      cwd: packages.path,
    });
  }, 300_000);
  afterAll(() => packages.remove());

  describe.each(VERSIONS)('%s', (version) => {
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let service: ServiceProcess;
    beforeAll(async () => {
      folder = await temporaryFolder();
      service = await startProcess({ WORKERS: '2', ADMIN_PORT: '0' }, folder.path, nodeOf(version));
    });
    afterAll(async () => {
      await service.end('SIGTERM');
      await folder.remove();
    });

    it('is what the service runs on', async () => {
      const { stdout } = await run(nodeOf(version), ['--version']);
      expect(stdout).toMatch(new RegExp(`^v${version}\\.`));
      const { adminUrl } = await service.logged('supervising');
      await eventually('a worker on that version has joined', async () => {
        const { body } = await send(new URL('/metrics', String(adminUrl)).href);
        return body.includes(`nodejs_version_info{version="${stdout.trim()}"`);
      });
    });

    describe('the service answers as the original', () => {
      itAnswersRecordedCases(() => service.url);
    });

    it('the service records over every binding, and the tool prints, verifies, exports, imports and compares', async () => {
      const ids: string[] = [];
      for (const binding of BINDINGS) ids.push(await callOperation(service.url, binding, 'RecordEvent'));
      const events = eventsOf(await callOperation(service.url, 'httpget', 'GetEvents'));
      expect(events.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));

      const node = nodeOf(version);
      const tool = (program: string, args: readonly string[], variables = {}) =>
        run(node, [program, ...args], { cwd: folder.path, env: { PATH: process.env.PATH ?? '', ...variables } });
      const printed = (await tool(TOOL, ['print'])).stdout.trim().split('\n');
      expect(printed.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(expect.arrayContaining(ids));
      expect((await tool(TOOL, ['verify'])).stderr).toContain('The log is whole.');
      await tool(TOOL, ['export', 'events.ndjson']);
      await tool(TOOL, ['backup', 'copy.db']);
      const imported = await tool(TOOL, ['import', 'events.ndjson'], { EVENT_LOG: 'sqlite:other.db' });
      expect(imported.stderr).toBe(`${String(printed.length)} recorded, 0 already in the log.\n`);
      expect((await readFile(join(folder.path, 'copy.db'))).subarray(0, 15).toString()).toBe('SQLite format 3');
      const compared = await tool(MAIN, ['compare', service.url, service.url]);
      expect(compared.stdout).toContain('A client sees no difference.');
    }, 60_000);
  });
});
