import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { run } from './program.cjs';
import { programPath } from './tools';

const execute = promisify(execFile);

/** What building and running images without a daemon needs. */
export const BUILDAH = { buildah: 'buildah' };

/** The programs of this machine that an image has, beside Node and npm. */
const PROGRAMS = 'sh env mkdir cp rm tar gzip'.split(' ');

const BASE_IMAGE = 'localhost/node-of-this-machine';

/** Images and containers in a folder, with buildah. Only root can use it. */
export class Containers {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Runs buildah and resolves to what it printed on standard output. */
  async buildah(...args: readonly string[]): Promise<string> {
    const { stdout } = await execute('buildah', [...this.#storage(), ...args], { maxBuffer: 1 << 26 });
    return stdout.trim();
  }

  /** Makes an image of the Node and a few programs of this machine, and resolves to its name: there may be no registry to pull from. */
  async makeBase(): Promise<string> {
    const root = join(this.#folder, 'base');
    await mkdir(join(root, 'usr/bin'), { recursive: true });
    await mkdir(join(root, 'usr/lib/node_modules'), { recursive: true });
    await mkdir(join(root, 'tmp'), { mode: 0o1777 });
    const programs = PROGRAMS.map((name) => programPath(name) ?? name);
    for (const program of [process.execPath, ...programs])
      await copyFile(program, join(root, 'usr/bin', basename(program)));
    await symlink('usr/bin', join(root, 'bin'));
    const { stdout } = await execute('ldd', [process.execPath, ...programs]);
    const libraries = new Set(stdout.match(/\/\S+(?= \(0x)/g));
    await execute('cp', ['--dereference', '--parents', ...libraries, root]);
    await cp(join(await npm('root', '--global'), 'npm'), join(root, 'usr/lib/node_modules/npm'), { recursive: true });
    await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/bin/npm'));
    const container = await this.buildah('from', 'scratch');
    await this.buildah('add', '--quiet', container, root, '/');
    // A network that has a certificate authority of its own tells Node so.
    const { NODE_EXTRA_CA_CERTS: authorities } = process.env;
    if (authorities !== undefined) {
      await this.buildah('add', '--quiet', container, authorities, '/etc/ssl/extra.pem');
      await this.buildah('config', '--env', 'NODE_EXTRA_CA_CERTS=/etc/ssl/extra.pem', container);
    }
    await this.buildah('commit', '--quiet', '--rm', container, BASE_IMAGE);
    return BASE_IMAGE;
  }

  /** Runs a program in a container, with these variables added to those of its image. */
  start(container: string, variables: Readonly<Record<string, string>>, command: readonly string[]) {
    const environment = Object.entries(variables).map(([name, value]) => `--env=${name}=${value}`);
    const args = ['run', '--isolation=chroot', ...environment, container, '--', ...command];
    return run(['buildah', ...this.#storage(), ...args], { variables: process.env });
  }

  #storage(): string[] {
    const { root, runroot } = { root: join(this.#folder, 'images'), runroot: join(this.#folder, 'run') };
    return ['--root', root, '--runroot', runroot, '--storage-driver', 'vfs'];
  }
}

/** The folder in which npm keeps what it has downloaded. */
export function npmCache(): Promise<string> {
  return npm('config', 'get', 'cache');
}

async function npm(...args: readonly string[]): Promise<string> {
  const { stdout } = await execute(programPath('npm') ?? 'npm', args);
  return stdout.trim();
}
