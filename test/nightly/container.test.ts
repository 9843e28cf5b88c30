import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { callOperation, newestEvents } from '../support/bindings';
import { eventually } from '../support/eventually';
import { freePort, run as start } from '../support/program.cjs';
import { logLines } from '../support/process';
import { useSharedFolder } from '../support/temporary-folder';
import { describeUnless, missingPrograms, programPath } from '../support/tools';

const run = promisify(execFile);
const ROOT = join(__dirname, '..', '..');
const IMAGE = 'localhost/webhook';
const BASE = 'localhost/node-of-this-machine';

/** The programs of this machine that an image has, beside Node and npm. */
const PROGRAMS = 'sh env mkdir cp rm tar gzip'.split(' ');

interface ImageConfig {
  readonly Cmd: readonly string[];
  readonly Env: readonly string[];
  readonly User: string;
  readonly StopSignal: string;
  readonly Volumes: Readonly<Record<string, unknown>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

const npm = async (...args: string[]) => (await run(programPath('npm') ?? 'npm', args)).stdout.trim();

/** Makes a folder with the Node and a few programs of this machine: there may be no registry to pull an image from. */
async function fillBase(root: string): Promise<void> {
  await mkdir(join(root, 'usr/bin'), { recursive: true });
  await mkdir(join(root, 'usr/lib/node_modules'), { recursive: true });
  await mkdir(join(root, 'tmp'), { mode: 0o1777 });
  const programs = [process.execPath, ...PROGRAMS.map((name) => programPath(name) ?? name)];
  for (const program of programs) await copyFile(program, join(root, 'usr/bin', basename(program)));
  await symlink('usr/bin', join(root, 'bin'));
  const { stdout } = await run('ldd', programs);
  await run('cp', ['--dereference', '--parents', ...new Set(stdout.match(/\/\S+(?= \(0x)/g)), root]);
  await cp(join(await npm('root', '--global'), 'npm'), join(root, 'usr/lib/node_modules/npm'), { recursive: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/bin/npm'));
}

const missing = process.getuid?.() === 0 ? missingPrograms({ buildah: 'buildah' }) : 'the rights of root';

describeUnless(missing, 'the container image', () => {
  const folder = useSharedFolder();
  let storage: string[];
  let config: ImageConfig;
  let container: string;
  /** The container's files as this machine sees them: buildah can end before it has passed on what a program printed last. */
  let root: string;
  const buildah = async (...args: string[]) =>
    (await run('buildah', [...storage, ...args], { maxBuffer: 1 << 26 })).stdout.trim();
  /** Runs a program in the container, with these variables added to those of its image. */
  const inContainer = (variables: Readonly<Record<string, string>>, command: readonly string[]) => {
    const environment = Object.entries(variables).map(([name, value]) => `--env=${name}=${value}`);
    const args = ['run', '--isolation=chroot', ...environment, container, '--', ...command];
    return start(['buildah', ...storage, ...args], { variables: process.env });
  };
  beforeAll(async () => {
    const at = (name: string) => join(folder.path, name);
    storage = ['--root', at('images'), '--runroot', at('run'), '--storage-driver', 'vfs'];
    await fillBase(at('base'));
    const base = await buildah('from', 'scratch');
    await buildah('add', '--quiet', base, at('base'), '/');
    // A network that has a certificate authority of its own tells Node so.
    const { NODE_EXTRA_CA_CERTS: authorities } = process.env;
    if (authorities !== undefined) {
      await buildah('add', '--quiet', base, authorities, '/etc/ssl/extra.pem');
      await buildah('config', '--env', 'NODE_EXTRA_CA_CERTS=/etc/ssl/extra.pem', base);
    }
    await buildah('commit', '--quiet', '--rm', base, BASE);
    // With npm's cache of this machine, which has all packages: `npm ci` has installed them.
    const cache = `${await npm('config', 'get', 'cache')}:/root/.npm`;
    const options = ['--isolation=chroot', '--format=docker', '--volume', cache, '--build-arg', `NODE_IMAGE=${BASE}`];
    await buildah('build', ...options, '--tag', IMAGE, ROOT);
    const image = JSON.parse(await buildah('inspect', '--type=image', IMAGE)) as { Docker: { config: ImageConfig } };
    ({ config } = image.Docker);
    container = await buildah('from', IMAGE);
    root = await buildah('mount', container);
  }, 600_000);

  /** Starts the service as the image says; resolves when it answers. */
  async function startService() {
    const PORT = String(await freePort());
    const { output, ended } = inContainer({ PORT, HOST: '127.0.0.1' }, config.Cmd);
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
        return inContainer({ PORT }, command).ended;
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
    const first = await startService();
    expect(await first.user()).toBe('1000');
    const id = await callOperation(first.url, 'soap12', 'RecordEvent');
    expect(await first.healthcheck()).toBe(0);
    expect(await first.stop()).toBe(0);
    expect(await first.healthcheck()).toBe(1);
    const second = await startService();
    expect(await newestEvents(second.url)).toMatchObject([{ id }]);
    expect(await second.stop()).toBe(0);
    const later = ['-newer', join(root, 'app/package.json'), '-uid', '1000', '-not', '-path', join(root, 'data*')];
    expect((await run('find', [root, ...later])).stdout).toBe('');
  }, 60_000);
});
