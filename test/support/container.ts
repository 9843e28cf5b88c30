import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, cp, mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { programPath } from './tools';

const run = promisify(execFile);

/** What building and running images without a daemon needs. */
export const BUILDAH = { buildah: 'buildah', debootstrap: 'debootstrap' };

const BASE_IMAGE = 'localhost/node-of-this-machine';

/** Images and containers in a folder, with buildah. Only root can use it. */
export class Containers {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Runs buildah and resolves to what it printed on standard output. */
  async buildah(...args: readonly string[]): Promise<string> {
    const { stdout } = await run('buildah', [...this.#storage(), ...args], { maxBuffer: 1 << 26 });
    return stdout.trim();
  }

  /** Makes an image of Debian with the Node of this machine, and resolves to its name: there may be no registry to pull from. */
  async makeBase(): Promise<string> {
    const root = join(this.#folder, 'base');
    await run('debootstrap', ['--variant=minbase', '--include=ca-certificates,libstdc++6', 'bookworm', root]);
    const npm = dirname(dirname(await resolvedNpm()));
    await copyFile(process.execPath, join(root, 'usr/bin/node'));
    await mkdir(join(root, 'usr/lib/node_modules'), { recursive: true });
    await cp(npm, join(root, 'usr/lib/node_modules/npm'), { recursive: true });
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
    const child = spawn('buildah', [...this.#storage(), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    }
    const closed = once(child, 'close') as Promise<[number | null]>;
    return { output: () => output, ended: closed.then(([code]) => code) };
  }

  #storage(): string[] {
    const { root, runroot } = { root: join(this.#folder, 'images'), runroot: join(this.#folder, 'run') };
    return ['--root', root, '--runroot', runroot, '--storage-driver', 'vfs'];
  }
}

/** Where npm's own program is. */
async function resolvedNpm(): Promise<string> {
  const { stdout } = await run(programPath('npm') ?? 'npm', ['root', '--global']);
  return join(stdout.trim(), 'npm', 'bin', 'npm-cli.js');
}
