// Measures what a start costs: node scripts/measure/start.mjs [STARTS] [DIST ...], by default 9 starts of dist (7 minutes).
// - alone and with several workers: milliseconds to the first answer and until all workers have started, the processor time
//   until then, and memory one second later; `idle`: 15 seconds later, when V8 has given back what the start alone needed;
// - `asmx-webhook events --help`.
// Several builds take turns, so that `9 dist ../other/dist` compares two. Prints medians. Figures are those of all processes
// of a start together; `resident` and `idle` count what they share once for each, `own` once in all. Linux only; needs
// `npm run build`.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { childrenOf, freePort, median, processorSeconds, run, statusOf } from '../support.mjs';

const [starts = 9, ...builds] = process.argv.slice(2);
if (builds.length === 0) builds.push('dist');
const HELLO = {
  headers: { 'Content-Type': 'text/xml; charset=utf-8', SOAPAction: '"http://tempuri.org/HelloWorld"' },
  body: '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><HelloWorld xmlns="http://tempuri.org/"/></s:Body></s:Envelope>',
};

const WHAT = {
  'WORKERS=1': (build) => measureStart(build, 1),
  'WORKERS=2': (build) => measureStart(build, 2),
  'WORKERS=3': (build) => measureStart(build, 3),
  'events --help': measureTool,
};
const rows = builds.flatMap((build) =>
  Object.entries(WHAT).map(([what, measure]) => ({ build, what, measure: () => measure(build), results: [] })),
);
for (let i = 0; i < Number(starts); i++) {
  for (const { measure, results } of rows) results.push(await measure());
}
console.table(
  rows.map(({ build, what, results }) => {
    const names = Object.keys(results[0]);
    const medians = names.map((name) => [name, Math.round(median(results.map((result) => result[name])))]);
    return { build, what, ...Object.fromEntries(medians) };
  }),
);

/** Starts the service on a new log, calls it as soon as it says that it answers, and stops it. */
async function measureStart(build, workers) {
  const cwd = await mkdtemp(join(tmpdir(), 'webhook-start-'));
  const variables = { PORT: String(await freePort()), WORKERS: String(workers) };
  const begun = performance.now();
  const service = run([process.execPath, resolve(build, 'main.js')], { cwd, variables });
  const [, url] = await service.prints(/WebHook answers at (\S+)/);
  const first = statusOf(url, HELLO).then((status) => {
    if (status !== 200) throw new Error(`${url} answered HelloWorld with ${status}.`);
    return performance.now() - begun;
  });
  // A supervisor may say that it answers after its last worker has started.
  await service.prints(new RegExp(`(?:"msg":"started"[^]*){${workers}}`));
  const firstAnswer = await first;
  const all = performance.now() - begun;
  const pids = [service.child.pid, ...(await childrenOf(service))];
  const processor = await sum(pids, processorSeconds);
  await setTimeout(1000);
  const resident = await sum(pids, (pid) => mebibytes(pid, 'Rss'));
  await setTimeout(14_000);
  const idle = await sum(pids, (pid) => mebibytes(pid, 'Rss'));
  const own = await sum(pids, (pid) => mebibytes(pid, 'Pss'));
  await service.end();
  await rm(cwd, { recursive: true });
  return {
    'first ms': firstAnswer,
    'all ms': all,
    'cpu ms': processor * 1000,
    'resident MiB': resident,
    'idle MiB': idle,
    'idle, own MiB': own,
  };
}

/** Runs the tool for events; all of its time counts as that to the first answer. */
async function measureTool(build) {
  const begun = performance.now();
  await run([process.execPath, resolve(build, 'cli', 'events.js'), '--help']).ended;
  return { 'first ms': performance.now() - begun };
}

async function sum(pids, figure) {
  return (await Promise.all(pids.map(figure))).reduce((total, one) => total + one, 0);
}

/** A figure of the memory of a process: `Rss`, or `Pss`, which shares what several processes use among them. */
async function mebibytes(pid, figure) {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(new RegExp(`^${figure}:\\s+(\\d+)`, 'm').exec(rollup)[1]) / 1024;
}
