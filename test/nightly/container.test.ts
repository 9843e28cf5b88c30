import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { callOperation, eventsOf } from '../support/bindings';
import { BUILDAH, Containers, npmCache } from '../support/container';
import { eventually } from '../support/eventually';
import { freePort } from '../support/program.cjs';
import { logLines } from '../support/process';
import { temporaryFolder } from '../support/temporary-folder';
import { describeUnless, missingPrograms } from '../support/tools';

const run = promisify(execFile);
const ROOT = join(__dirname, '..', '..');
const IMAGE = 'localhost/webhook';

interface ImageConfig {
  readonly Cmd: readonly string[];
  readonly Env: readonly string[];
  readonly User: string;
  readonly StopSignal: string;
  readonly Volumes: Readonly<Record<string, unknown>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

const missing = process.getuid?.() === 0 ? missingPrograms(BUILDAH) : 'the rights of root';

describeUnless(missing, 'the container image', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let containers: Containers;
  let config: ImageConfig;
  let container: string;
  /** The container's files as this machine sees them: buildah can end before it has passed on what a program printed last. */
  let root: string;
  beforeAll(async () => {
    folder = await temporaryFolder();
    containers = new Containers(folder.path);
    const base = await containers.makeBase();
    // With npm's cache of this machine, which has all packages: `npm ci` has installed them.
    const build = ['build', '--isolation=chroot', '--format=docker', '--volume', `${await npmCache()}:/root/.npm`];
    await containers.buildah(...build, '--build-arg', `NODE_IMAGE=${base}`, '--tag', IMAGE, ROOT);
    const { Docker } = JSON.parse(await containers.buildah('inspect', '--type=image', IMAGE)) as {
      Docker: { config: ImageConfig };
    };
    config = Docker.config;
    container = await containers.buildah('from', IMAGE);
    root = await containers.buildah('mount', container);
  }, 600_000);
  afterAll(() => folder.remove(), 60_000);

  /** Starts the service as the image says; resolves when it answers. */
  async function start() {
    const port = await freePort();
    const { output, ended } = containers.start(container, { PORT: String(port), HOST: '127.0.0.1' }, config.Cmd);
    await eventually('the service has started', () => logLines(output()).some(({ msg }) => msg === 'started'));
    const [, url = ''] = /WebHook answers at (\S+)/.exec(output()) ?? [];
    const pid = logLines(output()).find(({ msg }) => msg === 'started')?.pid;
    return {
      url,
      /** The user that it runs as. */
      async user(): Promise<string | undefined> {
        return /^Uid:\t(\d+)/m.exec(await readFile(`/proc/${String(pid)}/status`, 'utf8'))?.[1];
      },
      healthcheck() {
        const [kind, ...command] = config.Healthcheck.Test;
        expect(kind).toBe('CMD');
        return containers.start(container, { PORT: String(port) }, command).ended;
      },
      stop() {
        process.kill(Number(pid), config.StopSignal);
        return ended;
      },
    };
  }

  it('listens for others, has its events in a volume and does not run as root', () => {
    expect(config.Env).toEqual(expect.arrayContaining(['HOST=0.0.0.0', 'EVENT_LOG=sqlite:/data/events.db']));
    expect(config.Volumes).toHaveProperty('/data');
    expect(config.User).toBe('1000:1000');
  });

  it('has what the package has and the production modules, and nothing else', async () => {
    const [app, modules] = await Promise.all([readdir(join(root, 'app')), readdir(join(root, 'app/node_modules'))]);
    expect(app).toEqual(expect.arrayContaining(['dist', 'node_modules', 'package.json', 'wsdl']));
    expect(app.filter((name) => ['src', 'test', 'scripts'].includes(name))).toEqual([]);
    expect(modules).toContain('soap');
    expect(modules.filter((name) => ['jest', 'typescript'].includes(name))).toEqual([]);
  });

  it('keeps its events over a stop and a new start, and writes nothing outside its volume', async () => {
    const first = await start();
    expect(await first.user()).toBe('1000');
    const id = await callOperation(first.url, 'soap12', 'RecordEvent');
    expect(await first.healthcheck()).toBe(0);
    expect(await first.stop()).toBe(0);
    expect(await first.healthcheck()).toBe(1);
    const second = await start();
    expect(eventsOf(await callOperation(second.url, 'httpget', 'GetEvents')).map((event) => event.id)).toEqual([id]);
    expect(await second.stop()).toBe(0);
    const later = ['-newer', join(root, 'app/package.json'), '-uid', '1000', '-not', '-path', join(root, 'data*')];
    expect((await run('find', [root, ...later])).stdout).toBe('');
  }, 60_000);
});
