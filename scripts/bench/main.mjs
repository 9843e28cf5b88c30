// Compares builds of the service with each other and with bare node:http: npm run bench [-- ROUNDS [DIST ...]]
// Two processes of each run on one core, a client that never sleeps drives them from another, and they take turns in random order, a
// burst of 100 ms each. Prints a table. Needs Linux with two cores, taskset and gcc. Do not compare figures of different runs.
import { execFile, execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { median, run, SERVICE } from '../support.mjs';

const BURST = 100;
const CONNECTIONS = 32;
const PROCESSES = 2;
const LOADS = {
  soap11: 'HelloWorld, the same envelope',
  vary: 'HelloWorld, every envelope different',
  get: 'HelloWorld over HTTP GET',
  record: 'RecordEvent, durable',
};

const [rounds = '30', ...others] = process.argv.slice(2);
const builds = {
  'bare node:http': join(import.meta.dirname, 'limit.mjs'),
  'this build': SERVICE,
  ...Object.fromEntries(others.map((dist) => [dist, resolve(dist, 'main.js')])),
};

const folder = await mkdtemp(join(tmpdir(), 'webhook-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true }));
const client = join(folder, 'busy-client');
execFileSync('gcc', ['-O2', '-o', client, join(import.meta.dirname, 'busy-client.c')]);

const servers = [];
for (const [name, script] of Object.entries(builds)) {
  for (let i = 0; i < PROCESSES; i++) servers.push({ name, ...(await start(script)) });
}

console.log(
  `\`npm run bench -- ${[rounds, ...others].join(' ')}\`: Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}; ` +
    `medians of ${rounds} bursts of ${BURST} ms for each of ${PROCESSES} processes, ${CONNECTIONS} connections.\n`,
);
console.log(
  '|  | µs a call | of this build | lowest 15 % | main thread | calls/s | p50 ms | p99 ms | p99.9 ms | longest ms | errors |',
);
console.log('| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |');
for (const [mode, title] of Object.entries(LOADS)) {
  const measured = servers.filter(({ name }) => mode !== 'record' || name !== 'bare node:http');
  const bursts = await measure(mode, measured);
  for (const name of new Set(measured.map((server) => server.name))) {
    const burstsOf = (build) => bursts.filter(({ server }) => measured[server].name === build);
    const own = burstsOf(name);
    const quantile = (column, share) =>
      own.map((burst) => burst[column]).sort((a, b) => a - b)[Math.floor(own.length * share)];
    // Of the bursts of one round, since the machine may be slower in another.
    const inRound = (build, round) =>
      burstsOf(build).reduce((sum, one) => sum + (one.round === round ? one.all : 0), 0);
    const ratio = median(own.map(({ round }) => inRound(name, round) / inRound('this build', round)));
    const worst = (column) => Math.max(...own.map((burst) => burst[column]));
    const figures = [
      quantile('all', 0.5).toFixed(1),
      ratio.toFixed(3),
      quantile('all', 0.15).toFixed(1),
      quantile('main', 0.5).toFixed(1),
      quantile('rate', 0.5).toFixed(0),
      quantile('p50', 0.5).toFixed(2),
      quantile('p99', 0.5).toFixed(2),
      quantile('p999', 0.5).toFixed(2),
      worst('longest').toFixed(1),
      own.reduce((sum, { bad }) => sum + bad, 0),
    ];
    console.log(`| ${title}: ${name} | ${figures.join(' | ')} |`);
  }
}
for (const { end } of servers) await end();

/** Starts a server on the first core, in a folder of its own, and waits for its address. */
async function start(script) {
  const cwd = join(folder, String(servers.length));
  await mkdir(cwd);
  const server = run(['taskset', '-c', '0', process.execPath, script], {
    cwd,
    variables: { PORT: '0', NODE_ENV: 'production' },
  });
  const [, port] = await server.prints(/http:\/\/127\.0\.0\.1:(\d+)/);
  return { target: `${server.child.pid}:${port}`, end: () => server.end() };
}

async function measure(mode, measured) {
  const targets = measured.map(({ target }) => target);
  const command = ['-c', '1', client, rounds, String(BURST), String(CONNECTIONS), mode, ...targets];
  const { stdout } = await promisify(execFile)('taskset', command, { maxBuffer: 1 << 26 });
  return stdout
    .trim()
    .split('\n')
    .map((line) => {
      const [round, server, , bad, all, main, rate, p50, p99, p999, longest] = line.split(' ').map(Number);
      return { round, server, bad, all, main, rate, p50, p99, p999, longest };
    });
}
