// Compares the service with what Node can do at all: npm run bench [-- ROUNDS [SECONDS]]
// Every server runs in a process of its own on one core, wrk drives it from another; the contenders take turns, round by
// round, and the table shows medians. Do not compare figures of different runs: the machine has other things to do.
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { BINDINGS, callOf } from './calls.mjs';
import { median } from './median.mjs';
import { SERVERS, SERVICE, start } from './process.mjs';
import { load, requireWrk } from './wrk.mjs';

const rounds = Number(process.argv[2] ?? 5);
const seconds = Number(process.argv[3] ?? 3);
await requireWrk();

const folder = await mkdtemp(join(tmpdir(), 'webhook-bench-'));
const results = new Map();
const service = { ready: [], resident: [], delay: [], maxDelay: [] };

for (let round = 0; round < rounds; round++) {
  for (const name of ['limit', 'router', 'node-soap']) await other(name);
  await thisService(round);
  process.stderr.write(`round ${round + 1} of ${rounds}\n`);
}
await rm(folder, { recursive: true });
print();

async function other(name) {
  const server = await start(SERVERS, { argument: [name], cwd: folder });
  const names = {
    limit: 'limit: bare node:http',
    router: 'bare express.Router()',
    'node-soap': 'node-soap as in its README',
  };
  await measure(names[name], server, callOf('soap11', 'HelloWorld'));
  await server.stop();
}

async function thisService(round) {
  const server = await start(SERVICE, {
    cwd: folder,
    variables: { EVENT_LOG: `sqlite:${round}.db` },
    preload: ['loop-delay.cjs'],
  });
  service.ready.push(server.readyAfter);
  for (const binding of BINDINGS) await measure(`HelloWorld ${binding}`, server, callOf(binding, 'HelloWorld'));
  for (const binding of ['soap11', 'soap12']) {
    const call = callOf(binding, 'HelloWorld', { different: true });
    await measure(`HelloWorld ${binding}, no two envelopes the same`, server, call);
  }
  // Two threads share the core here, and take longer until they have compiled what they run.
  for (const binding of BINDINGS) await load(server.url, callOf(binding, 'RecordEvent'), { connections: 64, seconds });
  await server.loopDelay();
  for (const binding of BINDINGS) {
    await measure(`RecordEvent ${binding}, 64 connections`, server, callOf(binding, 'RecordEvent'), 64);
  }
  const { p99, max } = await server.loopDelay();
  service.delay.push(p99);
  service.maxDelay.push(max);
  for (const binding of BINDINGS) await measure(`GetEvents ${binding}`, server, callOf(binding, 'GetEvents'));
  service.resident.push(await server.residentMebibytes());
  await server.stop();
}

/** Calls for as long again before it measures, so that the server has compiled what it runs. */
async function measure(name, server, call, connections = 32) {
  await load(server.url, call, { connections, seconds });
  const before = await server.processorSeconds();
  const result = await load(server.url, call, { connections, seconds });
  const processor = (await server.processorSeconds()) - before;
  const list = results.get(name) ?? [];
  list.push({ ...result, microseconds: (processor / result.requests) * 1e6 });
  results.set(name, list);
}

function print() {
  console.log(
    `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}; ${rounds} rounds of ${seconds} s; medians`,
  );
  const rate = (name) => median(results.get(name).map((result) => result.rate));
  const cost = (name) => median(results.get(name).map(({ microseconds }) => microseconds));
  const limit = rate('limit: bare node:http');
  const library = rate('node-soap as in its README');
  const rows = [...results].map(([name, list]) => {
    const own = rate(name);
    return [
      name,
      own.toFixed(0),
      (own / limit).toFixed(2),
      (own / library).toFixed(1),
      cost(name).toFixed(1),
      median(list.map(({ p50 }) => p50)).toFixed(2),
      median(list.map(({ p99 }) => p99)).toFixed(2),
      String(list.reduce((sum, { errors }) => sum + errors, 0)),
    ];
  });
  table([
    ['', 'requests/s', 'of the limit', 'times node-soap', 'µs of processor', 'p50 ms', 'p99 ms', 'errors'],
    ...rows,
  ]);
  const figures = Object.fromEntries(
    Object.entries(service).map(([name, values]) => [name, median(values).toFixed(1)]),
  );
  console.log(
    `\nStart to ready ${figures.ready} ms; resident ${figures.resident} MiB at the end; ` +
      `event-loop delay under RecordEvent p99 ${figures.delay} ms, longest ${figures.maxDelay} ms`,
  );
}

function table([head, ...rows]) {
  console.log(`| ${head.join(' | ')} |\n| --- |${' ---: |'.repeat(head.length - 1)}`);
  for (const row of rows) console.log(`| ${row.join(' | ')} |`);
}
