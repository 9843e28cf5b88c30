// Measures the service under kinds of load that the bench does not show: node scripts/measure/load.mjs [EVENTS]
// - from 1 to 5,000 connections, medians of three rounds, beside a bare node:http server;
// - memory over EVENTS (1,000,000) recorded events, and a start with all of them in the log.
// Needs `npm run build` and wrk.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callOf } from '../bench/calls.mjs';
import { median } from '../bench/measurements.mjs';
import { SERVERS, start } from '../bench/process.mjs';
import { SERVICE } from '../support.mjs';
import { load, requireWrk } from '../bench/wrk.mjs';

const CONNECTIONS = [1, 8, 32, 64, 256, 1000, 5000];
/** More than the service takes by default: the checks of the bench have connections too. */
const ROOM = { MAX_CONNECTIONS: '6000' };
const EVENTS = Number(process.argv[2] ?? 1_000_000);
const hello = callOf('soap11', 'HelloWorld');
const record = callOf('soap11', 'RecordEvent');

await requireWrk();
const folder = await mkdtemp(join(tmpdir(), 'webhook-load-'));
await connections();
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
