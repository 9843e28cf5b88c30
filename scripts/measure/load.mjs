// Measures the service under kinds of load that the bench does not show: node scripts/measure/load.mjs [EVENTS]
// - from 1 to 5,000 connections, medians of three rounds, beside a bare node:http server;
// - how long the first requests wait of 1,000 and 5,000 connections that arrive at once, in both;
// - HelloWorld while RecordEvent is saturated on a disk that takes 10 ms to flush;
// - memory over EVENTS (1,000,000) recorded events, and a start with all of them in the log.
// Needs `npm run build` and wrk.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callOf } from '../bench/calls.mjs';
import { median } from '../bench/median.mjs';
import { SERVERS, SERVICE, start } from '../bench/process.mjs';
import { load, requireWrk } from '../bench/wrk.mjs';
import { waitsToBeLetIn } from './arrivals.mjs';

const CONNECTIONS = [1, 8, 32, 64, 256, 1000, 5000];
/** More than the service takes unless it is told to: the checks of the bench have connections too. */
const ROOM = { MAX_CONNECTIONS: '6000' };
const EVENTS = Number(process.argv[2] ?? 1_000_000);
const hello = callOf('soap11', 'HelloWorld');
const record = callOf('soap11', 'RecordEvent');

await requireWrk();
const folder = await mkdtemp(join(tmpdir(), 'webhook-load-'));
await connections();
await arrivals();
await slowDisk();
await endurance();
await rm(folder, { recursive: true });

async function connections() {
  const limit = await start(SERVERS, { argument: ['limit'], cwd: folder });
  const server = await start(SERVICE, { cwd: folder, variables: { ...ROOM, EVENT_LOG: 'sqlite:connections.db' } });
  const contenders = { limit: [limit, hello], HelloWorld: [server, hello], RecordEvent: [server, record] };
  for (const [{ url }, call] of Object.values(contenders)) await load(url, call);
  const rows = CONNECTIONS.map((count) => ({ connections: count, limit: [], HelloWorld: [], RecordEvent: [] }));
  for (let round = 0; round < 3; round++) {
    for (const row of rows) {
      for (const [name, [{ url }, call]] of Object.entries(contenders)) row[name].push(await load(url, call, row));
    }
  }
  await limit.stop();
  await server.stop();
  console.table(
    rows.map(({ connections, ...results }) =>
      Object.entries(results).reduce((row, [name, list]) => ({ ...row, ...named(name, list) }), { connections }),
    ),
  );
}

/** The medians of some rounds, and all their errors. */
function named(operation, results) {
  const middle = (name) => median(results.map((result) => result[name]));
  return {
    [`${operation}/s`]: Math.round(middle('rate')),
    [`${operation} p50 ms`]: middle('p50'),
    [`${operation} p99 ms`]: middle('p99'),
    [`${operation} max ms`]: middle('max'),
    [`${operation} errors`]: results.reduce((sum, { errors }) => sum + errors, 0),
  };
}

async function arrivals() {
  const preload = ['first-requests.cjs'];
  const contenders = {
    limit: await start(SERVERS, { argument: ['limit'], cwd: folder, preload }),
    service: await start(SERVICE, { cwd: folder, preload, variables: { ...ROOM, EVENT_LOG: 'sqlite:arrivals.db' } }),
  };
  const rows = [];
  for (const [name, server] of Object.entries(contenders)) {
    await load(server.url, hello);
    for (const connections of [1000, 5000]) {
      const rounds = [];
      for (let round = 0; round < 3; round++) rounds.push(await waitsToBeLetIn(server, hello, connections));
      const middle = (part) => Math.round(median(rounds.map((waits) => waits[Math.floor((connections - 1) * part)])));
      rows.push({ server: name, connections, 'p50 ms': middle(0.5), 'p99 ms': middle(0.99), 'max ms': middle(1) });
    }
    await server.stop();
  }
  console.log('How long the first requests waited of connections that arrived at once:');
  console.table(rows);
}

async function slowDisk() {
  const server = await start(SERVICE, {
    cwd: folder,
    variables: { EVENT_LOG: 'sqlite:slow.db' },
    preload: ['slow-flush.cjs'],
  });
  await load(server.url, hello);
  const alone = await load(server.url, hello, { connections: 4 });
  const recording = load(server.url, record, { connections: 64, seconds: 5 });
  const beside = await load(server.url, hello, { connections: 4 });
  const { rate, p50 } = await recording;
  await server.stop();
  console.log(
    `Flush of 10 ms: RecordEvent ${Math.round(rate)}/s (p50 ${p50} ms); HelloWorld p99 ${beside.p99} ms beside it, ` +
      `${alone.p99} ms alone: ${(beside.p99 / alone.p99).toFixed(1)} times`,
  );
}

async function endurance() {
  const variables = { EVENT_LOG: 'sqlite:endurance.db' };
  const server = await start(SERVICE, { cwd: folder, variables });
  const rows = [];
  let events = 0;
  let mark = EVENTS / 10;
  const begun = performance.now();
  while (events < EVENTS) {
    const { requests, errors } = await load(server.url, record, { connections: 64, seconds: 2 });
    // The checks before and after recorded two more.
    events += requests + 2;
    if (errors > 0) throw new Error(`${errors} errors`);
    if (events < mark) continue;
    rows.push({ events, 'resident MiB': Math.round(await server.residentMebibytes()) });
    mark = events + EVENTS / 10;
  }
  console.table(rows);
  console.log(`${events} events in ${Math.round((performance.now() - begun) / 1000)} s`);
  await server.stop();
  const again = await start(SERVICE, { cwd: folder, variables });
  console.log(`Start to ready with them in the log: ${Math.round(again.readyAfter)} ms`);
  await again.stop();
}
