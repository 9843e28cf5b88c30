// Measures what a larger event log costs: node scripts/measure/log.mjs [EVENTS ...], by default 1000 100000 3000000.
// For each size: filling the log, starting the service on it, GetEvents, disk and memory. Needs `npm run build`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillLog } from './fill-log.mjs';

const ROUNDS = 400;
const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1000, 100_000, 3_000_000];

const folder = await mkdtemp(join(tmpdir(), 'webhook-measure-'));
const file = join(folder, 'events.db');
const rows = [];
for (const events of sizes.sort((a, b) => a - b)) {
  const started = performance.now();
  await fillLog(file, events);
  const filled = (performance.now() - started) / 1000;
  rows.push({ events, 'filled in s': filled.toFixed(1), ...(await measure(events)) });
}
console.table(rows);
await rm(folder, { recursive: true });

async function measure(events) {
  const { size } = await stat(file);
  const started = performance.now();
  const env = { ...process.env, PORT: '0', EVENT_LOG: `sqlite:${file}` };
  const service = spawn(process.execPath, [new URL('../../dist/main.js', import.meta.url).pathname], { env });
  const [line] = await once(service.stdout, 'data');
  const url = /http:[^\s"]+/.exec(String(line))[0];
  const ready = performance.now() - started;
  const newest = await times(`${url}/GetEvents`);
  const middle = await times(`${url}/GetEvents?after=${Math.floor(events / 2)}`);
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8').catch(() => '');
  const resident = /VmRSS:\s+(\d+)/.exec(status)?.[1];
  const ended = once(service, 'exit');
  service.kill('SIGTERM');
  await ended;
  return {
    'bytes an event': Math.round(size / events),
    'ready in ms': Math.round(ready),
    'newest p50 ms': newest,
    'after p50 ms': middle,
    'resident MiB': resident === undefined ? '?' : Math.round(Number(resident) / 1024),
  };
}

/** The median time of many calls, one after the other, in milliseconds. */
async function times(url) {
  const taken = [];
  for (let i = 0; i < ROUNDS; i++) {
    const started = performance.now();
    const response = await fetch(url);
    await response.text();
    if (response.status !== 200) throw new Error(`${url}: ${response.status}`);
    taken.push(performance.now() - started);
  }
  return taken.sort((a, b) => a - b)[ROUNDS / 2].toFixed(2);
}
