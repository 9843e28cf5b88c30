import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdir } from 'node:fs/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { openPostgresLog } from '../../src/log/postgres/event-log';
import type { EventLog } from '../../src/log/event-log';
import { freePort } from './free-port';
import { temporaryFolder } from './temporary-folder';
import { describeUnless } from './tools';

/** The folder of the newest installed release's programs. */
function programs(): string | undefined {
  const root = '/usr/lib/postgresql';
  try {
    const newest = readdirSync(root).sort((one, other) => Number(other) - Number(one))[0];
    return newest === undefined ? undefined : join(root, newest, 'bin');
  } catch {
    return undefined;
  }
}

/** `describe` if PostgreSQL is installed. */
export function describeWithPostgres(what: string, tests: () => void): void {
  describeUnless(programs() === undefined ? 'postgres (package postgresql)' : undefined, what, tests);
}

/** PostgreSQL refuses to run as root. */
export function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [, , uid, gid] =
    readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((line) => line.startsWith('nobody:'))
      ?.split(':') ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

/** A server on the loopback interface with its files in a folder. */
interface PostgresServer {
  readonly port: number;
  /** The lines that the server has logged. */
  readonly output: () => string;
  /** Sends a signal and resolves when the process has ended. SIGINT ends connections, SIGKILL is a crash. */
  end(signal: NodeJS.Signals): Promise<void>;
}

const running = new Set<ChildProcess>();

/** Makes an empty cluster with the superuser `webhook`, who needs no password. */
async function initPostgres(folder: string): Promise<void> {
  await mkdir(folder);
  const user = unprivileged();
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const options = '-U webhook -A trust -E UTF8 --locale=C.UTF-8 -N'.split(' ');
  await promisify(execFile)(join(programs() ?? '', 'initdb'), ['-D', folder, ...options], { ...user, cwd: '/' });
}

/** Starts the server of a cluster, with settings as `name=value`. */
async function startPostgres(folder: string, port: number, ...settings: string[]): Promise<PostgresServer> {
  const given = [
    `port=${String(port)}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    ...settings,
  ];
  const args = ['-D', folder, ...given.flatMap((setting) => ['-c', setting])];
  const child = spawn(join(programs() ?? '', 'postgres'), args, {
    ...unprivileged(),
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: '/',
  });
  running.add(child);
  const ended = once(child, 'exit').then(() => void running.delete(child));
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('database system is ready to accept')) resolve();
    });
    void ended.then(() => {
      reject(new Error(`postgres ended: ${output}`));
    });
  });
  return {
    port,
    output: () => output,
    async end(signal) {
      child.kill(signal);
      await ended;
    },
  };
}

type PostgresOptions = Parameters<typeof openPostgresLog>[0];

/** A server for the tests of a block, and logs on it that are closed after each test. */
export interface PostgresUnderTest {
  /** Options for a log in a database of its own. */
  readonly options: (given?: Partial<PostgresOptions>) => Promise<PostgresOptions>;
  readonly opened: (options: PostgresOptions) => Promise<EventLog>;
  /** Runs SQL past the service. */
  readonly sql: (database: string, text: string) => Promise<Record<string, unknown>[]>;
  readonly port: () => number;
  /** The lines that the server has logged. */
  readonly output: () => string;
  /** Kills the server and starts it again. */
  readonly restart: (pause?: () => Promise<void>) => Promise<void>;
}

/** Starts a server before the tests of the block that calls it. */
export function usePostgres(...settings: string[]): PostgresUnderTest {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let cluster: string;
  let server: PostgresServer;
  const logs: EventLog[] = [];
  beforeAll(async () => {
    folder = await temporaryFolder();
    await chmod(folder.path, 0o755);
    cluster = join(folder.path, 'cluster');
    await initPostgres(cluster);
    server = await startPostgres(cluster, await freePort(), ...settings);
  }, 60_000);
  afterEach(() => Promise.all(logs.splice(0).map((log) => log.close())));
  afterAll(async () => {
    await server.end('SIGINT');
    for (const child of running) child.kill('SIGKILL');
    await folder.remove();
  });
  const sql = async (database: string, text: string) => {
    const client = new Client({ host: '127.0.0.1', port: server.port, user: 'webhook', database });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    async options(given = {}) {
      // No other server that gets the port of a killed one has a database of this name.
      const database = `log_${randomUUID().replaceAll('-', '')}`;
      await sql('postgres', `CREATE DATABASE ${database}`);
      return {
        hosts: [{ host: '127.0.0.1', port: server.port }],
        database,
        user: 'webhook',
        sslmode: 'disable',
        sslrootcert: undefined,
        connections: 4,
        isRelaxed: false,
        timeout: 5000,
        retention: { maxEvents: undefined, maxAge: undefined },
        create: true,
        ...given,
      };
    },
    async opened(options) {
      const log = await openPostgresLog(options);
      logs.push(log);
      return log;
    },
    sql,
    port: () => server.port,
    output: () => server.output(),
    async restart(pause) {
      await server.end('SIGKILL');
      await pause?.();
      server = await startPostgres(cluster, server.port, ...settings);
    },
  };
}
