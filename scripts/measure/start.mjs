// Measures what a start costs: node scripts/measure/start.mjs [STARTS] [DIST ...], by default 9 starts of dist (7 minutes).
// - alone and with several workers: milliseconds to the first answer and until all workers have started, the processor time
//   until then, and memory one second later; `idle`: 15 seconds later, when V8 has given back what the start alone needed;
// - `asmx-webhook events --help`.
// Several builds take turns, so that `9 dist ../other/dist` compares two. Prints medians. Figures are those of all processes
// of a start together; `resident` and `idle` count what they share once for each, `own` once in all. Linux only; needs
// `npm run build`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { freePort, median, threadSeconds } from '../support.mjs';

const starts = Number(process.argv[2] ?? 9);
const builds = process.argv.length > 3 ? process.argv.slice(3) : ['dist'];
const HELLO = {
  method: 'POST',
  headers: { 'Content-Type': 'text/xml; charset=utf-8', SOAPAction: '"http://tempuri.org/HelloWorld"' },
  body: '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><HelloWorld xmlns="http://tempuri.org/"/></s:Body></s:Envelope>',
};

const WHAT = {
  'WORKERS=1': (build) => startService(build, 1),
  'WORKERS=2': (build) => startService(build, 2),
  'WORKERS=3': (build) => startService(build, 3),
  'events --help': runTool,
};
const rows = builds.flatMap((build) =>
  Object.entries(WHAT).map(([what, run]) => ({ build, what, run: () => run(build), results: [] })),
);
for (let i = 0; i < starts; i++) {
  for (const { run, results } of rows) results.push(await run());
}
console.table(
  rows.map(({ build, what, results }) => {
    const medians = Object.keys(results[0]).map((name) => [name, median(results.map((result) => result[name]))]);
    return { build, what, ...Object.fromEntries(medians.map(([name, value]) => [name, Math.round(value)])) };
  }),
);

/** Starts the service on a new log, calls it as soon as it says that it answers, and stops it. */
async function startService(build, workers) {
  const cwd = await mkdtemp(join(tmpdir(), 'webhook-start-'));
  const env = { PATH: process.env.PATH, PORT: String(await freePort()), WORKERS: String(workers) };
  const begun = performance.now();
  const stdio = ['ignore', 'pipe', 'inherit'];
  const child = spawn(process.execPath, [resolve(build, 'main.js')], { cwd, env, stdio });
  const ended = once(child, 'exit');
  const pids = new Set([child.pid]);
  let started = 0;
  let first;
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^WebHook answers at (\S+)/.exec(line)?.[1];
    if (url !== undefined) first = answered(url).then(() => performance.now() - begun);
    if (line.includes('"msg":"started"')) {
      started++;
      pids.add(JSON.parse(line).pid);
    }
    // A supervisor may say that it answers after its last worker has started.
    if (first !== undefined && started === workers) break;
  }
  const firstAnswer = await first;
  const all = performance.now() - begun;
  const processor = await sum(pids, processorMilliseconds);
  await setTimeout(1000);
  const resident = await sum(pids, (pid) => mebibytes(pid, 'Rss'));
  await setTimeout(14_000);
  const idle = await sum(pids, (pid) => mebibytes(pid, 'Rss'));
  const own = await sum(pids, (pid) => mebibytes(pid, 'Pss'));
  child.kill('SIGTERM');
  await ended;
  await rm(cwd, { recursive: true });
  return {
    'first ms': firstAnswer,
    'all ms': all,
    'cpu ms': processor,
    'resident MiB': resident,
    'idle MiB': idle,
    'idle, own MiB': own,
  };
}

async function answered(url) {
  const response = await fetch(url, HELLO);
  if (!(await response.text()).includes('Hello World')) throw new Error(`${url} did not answer HelloWorld.`);
}

/** Runs the tool for events; all of its time counts as that to the first answer. */
async function runTool(build) {
  const begun = performance.now();
  const child = spawn(process.execPath, [resolve(build, 'cli', 'events.js'), '--help'], { stdio: 'ignore' });
  await once(child, 'exit');
  return { 'first ms': performance.now() - begun };
}

async function sum(pids, figure) {
  const figures = await Promise.all([...pids].map(figure));
  return figures.reduce((total, one) => total + one, 0);
}

/** The processor time of all threads of a process so far, in milliseconds. */
async function processorMilliseconds(pid) {
  return [...(await threadSeconds(pid)).values()].reduce((total, seconds) => total + seconds * 1000, 0);
}

/** A figure of the memory of a process: `Rss`, or `Pss`, which shares what several processes use among them. */
async function mebibytes(pid, figure) {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(new RegExp(`^${figure}:\\s+(\\d+)`, 'm').exec(rollup)[1]) / 1024;
}
