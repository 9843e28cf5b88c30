// Measures RecordEvent with the event log in SQLite, in PostgreSQL, on one nats-server and on three, which take turns:
//   node scripts/measure/logs.mjs [ROUNDS [SECONDS]]
// Prints events a second and p99, and how both compare with SQLite in the same round: medians of the rounds. Needs `npm run build`, wrk, PostgreSQL and nats-server.
import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimPort } from '../../dist/workers/claim-port.js';
import { callOf } from '../bench/calls.mjs';
import { median } from '../bench/measurements.mjs';
import { load, requireWrk } from '../bench/wrk.mjs';
import { run, SERVICE } from '../support.mjs';

const ROUNDS = Number(process.argv[2] ?? 5);
const SECONDS = Number(process.argv[3] ?? 3);
const CONNECTIONS = [1, 32, 256];
const CORES = '0,1';
const PATH = `${process.env.PATH}:/usr/sbin`;

await requireWrk();
const folder = await mkdtemp(join(tmpdir(), 'webhook-logs-'));
await chmod(folder, 0o777);
const stops = [];
const freePorts = (count) =>
  Promise.all(Array.from({ length: count }, () => claimPort({ host: '127.0.0.1', port: 0 })));

async function startPostgres() {
  const root = '/usr/lib/postgresql';
  const programs = join(root, (await readdir(root)).sort((one, other) => other - one)[0], 'bin');
  // PostgreSQL refuses to run as root.
  const user = process.getuid() === 0 ? Number(execFileSync('id', ['-u', 'nobody'])) : undefined;
  const data = join(folder, 'postgres');
  const [port] = await freePorts(1);
  await run([join(programs, 'initdb'), '-D', data, '-U', 'webhook', '-A', 'trust', '-E', 'UTF8'], { user, cwd: '/' })
    .ended;
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${data}`];
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  const server = run([join(programs, 'postgres'), ...args], { user, cwd: '/' });
  await server.prints(/ready to accept/);
  stops.push(() => server.end('SIGINT'));
  return `postgres://webhook@127.0.0.1:${port}/postgres?sslmode=disable`;
}

async function startNats(count) {
  const [ports, routed] = [await freePorts(count), await freePorts(count)];
  const routes = routed.map((port) => `nats://127.0.0.1:${port}`).join(', ');
  for (const [i, port] of ports.entries()) {
    const file = join(folder, `nats-${count}-${i}.conf`);
    const cluster = count > 1 ? `cluster { name: c, listen: "127.0.0.1:${routed[i]}", routes: [${routes}] }` : '';
    const store = JSON.stringify(join(folder, `nats-${count}-${i}`));
    await writeFile(
      file,
      `server_name: n${i}\nlisten: "127.0.0.1:${port}"\njetstream { store_dir: ${store} }\n${cluster}`,
    );
    const server = run(['nats-server', '-c', file], { variables: { PATH } });
    await server.prints(/Server is ready/);
    stops.push(() => server.end());
  }
  return `nats://${ports.map((port) => `127.0.0.1:${port}`).join(',')}/EVENTS?replicas=${count}`;
}

async function startService(EVENT_LOG) {
  const service = run([process.execPath, SERVICE], {
    cwd: folder,
    variables: { EVENT_LOG, PORT: '0', NODE_ENV: 'production' },
  });
  const [, url] = await service.prints(/WebHook answers at ([^\s"]+)/);
  stops.unshift(() => service.end());
  return url;
}

const logs = {
  SQLite: 'sqlite:events.db',
  PostgreSQL: await startPostgres(),
  'one nats-server': await startNats(1),
  'three nats-servers': await startNats(3),
};
const call = callOf('soap11', 'RecordEvent');
const rows = [];
for (const [name, address] of Object.entries(logs)) rows.push({ name, url: await startService(address) });
try {
  for (const { url } of rows) await load(url, call, { seconds: 1, cores: CORES });
  for (let round = 0; round < ROUNDS; round++) {
    for (const row of rows) {
      for (const connections of CONNECTIONS) {
        (row[connections] ??= []).push(await load(row.url, call, { connections, seconds: SECONDS, cores: CORES }));
      }
    }
  }
  const [sqlite] = rows;
  const middle = (list, name) => median(list.map((result) => result[name]));
  const compared = (row, connections, name) =>
    median(row[connections].map((result, round) => result[name] / sqlite[connections][round][name])).toFixed(2);
  for (const connections of CONNECTIONS) {
    console.log(`${connections} connections:`);
    console.table(
      rows.map((row) => ({
        log: row.name,
        'events/s': Math.round(middle(row[connections], 'rate')),
        'of SQLite': compared(row, connections, 'rate'),
        'p99 ms': Math.round(middle(row[connections], 'p99')),
        'p99 of SQLite': compared(row, connections, 'p99'),
      })),
    );
  }
} finally {
  for (const stop of stops) await stop();
  await rm(folder, { recursive: true, force: true });
}
