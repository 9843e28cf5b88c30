import { execFile } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { useTemporaryFolder } from '../support/temporary-folder';

const run = promisify(execFile);

const ROOT = join(__dirname, '..', '..');
/** The recorded cases, the service as a process, its workers, the tools, and HTTP, which builds on Node's insides. */
const SUITES = ['cases.test', 'main/', 'workers/', 'process/tool/events', 'http/', 'process/http/'];

const folder = useTemporaryFolder();

// Newer versions than the oldest one, on which every other test runs. npm's package `node` brings each.
it.each(['22', '24', '26'])(
  'the service and its tools pass their tests on Node %s, and all attacks at once over TLS leave it below 512 MB',
  async (version) => {
    const kinds = ['--no-audit', '--no-fund', '--ignore-scripts=false'];
    await run('npm', ['install', '--prefix', folder.path, ...kinds, `node@${version}`]);
    const bin = join(folder.path, 'node_modules', 'node', 'bin');
    const node = join(bin, 'node');
    expect((await run(node, ['--version'])).stdout).toMatch(new RegExp(`^v${version}\\.`));
    const options = ['--config', 'jest.config.mjs', '--maxWorkers', '2', '--testTimeout', '120000'];
    const jest = [join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js'), ...options];
    const env = { PATH: [bin, process.env.PATH].join(delimiter) };
    await run(node, [...jest, ...SUITES.map((name) => `test/${name}`)], { cwd: ROOT, env });
    const attacks = { PATH: process.env.PATH, NODE: node, OVER: 'TLS', SECONDS: '8' };
    const { stdout } = await run(node, [join(ROOT, 'scripts/measure/attacks.mjs'), '^everything$'], { env: attacks });
    expect(Number(/ (\d+) MiB/.exec(stdout)?.[1])).toBeLessThan(488);
  },
  600_000,
);
