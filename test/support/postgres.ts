import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { openPostgresLog } from '../../src/log/postgres/event-log';
import type { EventLog } from '../../src/log/event-log';
import { eventually } from './eventually';
import { freePort, run } from './program.cjs';
import { useSharedFolder } from './temporary-folder';
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
  const idOf = (kind: string) => Number(execFileSync('id', [kind, 'nobody']));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/** Runs one of the programs of PostgreSQL. */
export function postgres(program: string, args: readonly string[]): ReturnType<typeof run> {
  return run([join(programs() ?? '', program), ...args], { ...unprivileged(), cwd: '/' });
}

/** Makes an empty cluster with the superuser `webhook`, who needs no password. */
export async function initPostgres(folder: string): Promise<void> {
  const options = '-U webhook -A trust -E UTF8 --locale=C.UTF-8 -N'.split(' ');
  const making = postgres('initdb', ['-D', folder, ...options]);
  if ((await making.ended) !== 0) throw new Error(making.output());
}

/** Starts the server of a cluster on the loopback interface, with settings as `name=value`. SIGINT ends its connections, SIGKILL is a crash. */
export async function startPostgres(
  folder: string,
  port: number,
  ...settings: readonly string[]
): Promise<ReturnType<typeof run>> {
  const given = [
    `port=${String(port)}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    ...settings,
  ];
  const server = postgres('postgres', ['-D', folder, ...given.flatMap((setting) => ['-c', setting])]);
  await server.prints(/database system is ready to accept/);
  return server;
}

/** Runs SQL past the service. */
export async function sqlAt(port: number, database: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ host: '127.0.0.1', port, user: 'webhook', database });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

type PostgresOptions = Parameters<typeof openPostgresLog>[0];

/** Starts a server before the tests of the block that calls it, and opens logs on it, which are closed after each test. */
export function usePostgres(...settings: string[]) {
  const folder = useSharedFolder();
  let cluster: string;
  let port: number;
  let server: ReturnType<typeof run>;
  const logs: EventLog[] = [];
  beforeAll(async () => {
    await chmod(folder.path, 0o777);
    cluster = join(folder.path, 'cluster');
    await initPostgres(cluster);
    port = await freePort();
    server = await startPostgres(cluster, port, ...settings);
  }, 60_000);
  afterEach(() => Promise.all(logs.splice(0).map((log) => log.close())));
  afterAll(() => server.end('SIGINT'));
  /** Runs SQL past the service. */
  const sql = (database: string, text: string) => sqlAt(port, database, text);
  return {
    /** Options for a log in a database of its own. */
    options: async (given: Partial<PostgresOptions> = {}): Promise<PostgresOptions> => {
      // No other server that gets the port of a killed one has a database of this name.
      const database = `log_${randomUUID().replaceAll('-', '')}`;
      await sql('postgres', `CREATE DATABASE ${database}`);
      return {
        hosts: [{ host: '127.0.0.1', port }],
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
    opened: async (options: PostgresOptions): Promise<EventLog> => {
      const log = await openPostgresLog(options);
      logs.push(log);
      return log;
    },
    sql,
    /** Changes a setting of the running server, and waits until it is in use. */
    async set(name: string, value: string) {
      await sql('postgres', `ALTER SYSTEM SET ${name} = '${value}'`);
      await sql('postgres', 'SELECT pg_reload_conf()');
      await eventually(`${name} is ${value}`, async () => (await sql('postgres', `SHOW ${name}`))[0]?.[name] === value);
    },
    port: () => port,
    /** The lines that the server has logged. */
    output: () => server.output(),
    /** Kills the server and starts it again. */
    async restart(pause?: () => Promise<void>) {
      await server.end('SIGKILL');
      await pause?.();
      server = await startPostgres(cluster, port, ...settings);
    },
  };
}
