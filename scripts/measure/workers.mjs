// Compares RecordEvent with one and with two workers on two cores, which wrk shares: node scripts/measure/workers.mjs [ROUNDS [SECONDS]]
// Both services run all the time and are called in turns. Prints the medians, that of the ratios of neighbouring rounds, and
// where the processor time of a call goes. Needs Linux, two cores and wrk, and `npm run build` before.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { callOf } from '../bench/calls.mjs';
import { median } from '../bench/measurements.mjs';
import { start } from '../bench/process.mjs';
import { SERVICE, threadSeconds } from '../support.mjs';
import { load, requireWrk } from '../bench/wrk.mjs';

const ROUNDS = Number(process.argv[2] ?? 9);
const SECONDS = Number(process.argv[3] ?? 3);
const BOTH_CORES = '0,1';
const CONNECTIONS = [64, 256];
/** So many calls of each worker are not counted. */
const WARM_UP = 30_000;
const call = callOf('soap11', 'RecordEvent');

await requireWrk();
const folder = await mkdtemp(join(tmpdir(), 'webhook-workers-'));
try {
  const services = [await service(1), await service(2)];
  for (const connections of CONNECTIONS) await compare(services, connections);
  for (const { server } of services) await server.stop();
} finally {
  await rm(folder, { recursive: true });
}

async function service(workers) {
  const variables = { EVENT_LOG: `sqlite:${workers}.db`, WORKERS: String(workers) };
  const server = await start(SERVICE, { cwd: folder, variables, cores: BOTH_CORES });
  // The other workers may still be starting.
  await setTimeout(2000);
  return { workers, server };
}

async function compare(services, connections) {
  const results = new Map(services.map(({ workers }) => [workers, []]));
  for (const { workers, server } of services) await warmUp(server, workers, connections);
  for (let round = 0; round < ROUNDS; round++) {
    for (const { workers, server } of services) results.get(workers).push(await calls(server, connections));
  }
  console.log(`${connections} connections, ${ROUNDS} rounds of ${SECONDS} s, medians`);
  console.table(
    [...results].map(([workers, list]) => {
      const middle = (value, digits = 1) => Number(median(list.map(value)).toFixed(digits));
      return {
        workers,
        'events/s': middle(({ rate }) => rate, 0),
        'p50 ms': middle(({ p50 }) => p50),
        'p99 ms': middle(({ p99 }) => p99),
        errors: list.reduce((sum, { errors }) => sum + errors, 0),
        'main µs': middle(({ times }) => times.main),
        'database µs': middle(({ times }) => times.database),
        'supervisor µs': middle(({ times }) => times.supervisor),
        'other threads µs': middle(({ times }) => times.others),
        'service µs': middle(({ times }) => times.main + times.database + times.supervisor + times.others),
        'wrk µs': middle(({ wrk }) => wrk),
      };
    }),
  );
  const [one, two] = [...results.values()];
  const ratios = two.map(({ rate }, i) => rate / one[i].rate).sort((a, b) => a - b);
  const [lowest, highest] = [ratios[0], ratios.at(-1)].map((ratio) => ratio.toFixed(2));
  console.log(`two workers / one: ${median(ratios).toFixed(2)}, from ${lowest} to ${highest}\n`);
}

/** Calls until each worker has compiled what it runs. */
async function warmUp(server, workers, connections) {
  let requests = 0;
  while (requests < WARM_UP * workers) requests += (await calls(server, connections)).requests;
}

/** One round: rates, and microseconds of processor time for each call by who took them. */
async function calls(server, connections) {
  const before = await threads(server.child.pid);
  const result = await load(server.url, call, { connections, seconds: SECONDS, cores: BOTH_CORES });
  const after = await threads(server.child.pid);
  const times = { main: 0, database: 0, supervisor: 0, others: 0 };
  const perCall = (seconds) => (seconds / result.requests) * 1e6;
  for (const [pid, now] of after) {
    const taken = [...now].map(([id, seconds]) => [id, seconds - (before.get(pid)?.get(id) ?? 0)]);
    const main = taken.find(([id]) => id === pid)[1];
    // The database thread is the one of the others that is busiest.
    const [database = 0, ...others] = taken
      .filter(([id]) => id !== pid)
      .map(([, seconds]) => seconds)
      .sort((a, b) => b - a);
    const isSupervisor = after.size > 1 && pid === server.child.pid;
    times[isSupervisor ? 'supervisor' : 'main'] += perCall(main);
    times.database += perCall(database);
    times.others += others.reduce((sum, seconds) => sum + perCall(seconds), 0);
  }
  return { ...result, times, wrk: perCall(result.processorSeconds) };
}

/** Seconds of processor time by process and thread, of a process and its children. */
async function threads(pid) {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const pids = [pid, ...children.trim().split(' ').filter(Boolean).map(Number)];
  return new Map(await Promise.all(pids.map(async (process) => [process, await threadSeconds(process)])));
}
