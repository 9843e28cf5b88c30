// Lets accidents happen to the service and its SQLite log under load: kills, stalls, restarts, workers, another program's lock, the folder
// of the log moved away and back, backups, exports and checks of the tool. A reader pages with `after` all the time. At the end every
// answered event is in the log once, the reader has seen each of them in the order of its position, and the log is whole:
// node scripts/chaos.mjs [MINUTES] [SEED]. Needs `npm run build`.
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { everyEvent, randomOf, retried, run, SERVICE, SERVICE_ROOT, TOOL } from './support.mjs';

const CALLERS = 8;
const [minutes = '2', seed = String(Date.now() % 1e9)] = process.argv.slice(2);
const random = randomOf(Number(seed));
const folder = mkdtempSync(join(tmpdir(), 'chaos-'));
const data = join(folder, 'data');
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
console.log(`Seed ${seed}`);

const surroundings = { cwd: folder, variables: { PORT: '0', SERVICE_ROOT, LOG_LEVEL: 'warn' } };
let service;
let url;
async function start(variables = {}) {
  service = run([process.execPath, SERVICE], { cwd: folder, variables: { ...surroundings.variables, ...variables } });
  [, url] = await service.prints(/WebHook answers at (\S+)/);
}

const answered = new Map();
let isLoading = true;

/** Calls until the service answers 200, and fails the run after a minute. Resolves to the body and the address that answered. */
async function answer(path, options) {
  return retried(async () => {
    const response = await fetch(url + path, { ...options, signal: AbortSignal.timeout(20_000) });
    const body = await response.text();
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${body}`);
    return { body, url: response.url };
  }, 60_000);
}

async function record(caller) {
  for (let n = 0; isLoading; n++) {
    const key = `${caller}-${n}`;
    const headers = { 'Idempotency-Key': key, Accept: 'application/json', 'Content-Type': 'text/plain' };
    const { body, url } = await answer('/RecordEvent', {
      method: 'POST',
      headers,
      body: 'x'.repeat(Math.floor(random() * 2000)),
    });
    answered.set(key, { id: JSON.parse(body), url, time: new Date().toISOString() });
  }
}

const read = [];
async function follow() {
  let after = '0';
  for (let isBehind = true; isLoading || isBehind;) {
    const headers = { Accept: 'application/json' };
    const events = JSON.parse((await answer(`/GetEvents?after=${after}&wait=500ms`, { headers })).body);
    isBehind = events.length > 0;
    read.push(...events.map(({ id }) => id));
    after = events.at(-1)?.sequence ?? after;
  }
}

async function tool(...args) {
  const { ended, output } = run([process.execPath, TOOL, ...args], surroundings);
  if ((await ended) !== 0) throw new Error(`${args.join(' ')}: ${output()}`);
}

let copies = 0;
const accidents = {
  async kill() {
    await service.end('SIGKILL');
    await start();
  },
  async restart() {
    const code = await service.end('SIGTERM');
    if (code !== 0) throw new Error(`SIGTERM ended the service with ${code}: ${service.output()}`);
    await start();
  },
  async workers() {
    await service.end('SIGKILL');
    await start({ WORKERS: '2', PORT: String(20_000 + Math.floor(random() * 10_000)) });
  },
  async stall() {
    service.child.kill('SIGSTOP');
    await setTimeout(random() * 3000);
    service.child.kill('SIGCONT');
  },
  async lock() {
    const other = new DatabaseSync(join(data, 'events.db'));
    other.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
    await setTimeout(random() * 8000);
    other.exec('ROLLBACK');
    other.close();
  },
  async move() {
    await rename(data, `${data}-away`);
    await setTimeout(random() * 3000);
    await rename(`${data}-away`, data);
  },
  backup: () => tool('backup', join(folder, `copy-${copies++}.db`)),
  export: () => tool('export', join(folder, `copy-${copies++}.ndjson`)),
  verify: () => tool('verify'),
};

await start();
const load = Promise.all([...Array.from({ length: CALLERS }, (_, caller) => record(caller)), follow()]);
const failed = load.then(() => undefined);
const names = Object.keys(accidents);
const happened = [];
for (const end = Date.now() + Number(minutes) * 60_000; Date.now() < end;) {
  const name = names[Math.floor(random() * names.length)];
  happened.push(name);
  await Promise.race([accidents[name](), failed]);
  const recorded = answered.size;
  await Promise.race([
    retried(() => {
      if (answered.size < recorded + CALLERS) throw new Error(`nothing is recorded after ${name}: ${service.output()}`);
    }, 60_000),
    failed,
  ]);
}
isLoading = false;
await load;
await accidents.verify();

const get = async (path, headers) => (await answer(path, { headers })).body;
const logged = [];
for await (const { id } of everyEvent(get)) logged.push(id);
const known = new Set(logged);
const lost = [...answered.values()].filter(({ id }) => !known.has(id));
const problems = {
  lost: lost.length,
  twice: logged.length - known.size,
  unread: read.join() === logged.join() ? 0 : logged.filter((id) => !read.includes(id)).length || 'in another order',
};
const counts = Object.fromEntries(names.map((name) => [name, happened.filter((one) => one === name).length]));
console.log(`${answered.size} events answered, ${logged.length} in the log; accidents: ${JSON.stringify(counts)}`);
console.log(`not in the log, twice in it, not read: ${JSON.stringify(problems)}`);
for (const { id, url, time } of lost) console.log(`lost: ${id}, which ${url} answered at ${time}`);
if (Object.values(problems).some((count) => count !== 0)) {
  process.exitCode = 1;
  console.log(`last accidents: ${happened.slice(-5).join(', ')}; open files: ${openFiles().join(', ')}`);
}
await service.end('SIGTERM');

/** The files of the log that each process has open, as Linux says: two of them write to different files if one is deleted. */
function openFiles() {
  if (process.platform !== 'linux') return ['unknown'];
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return processes.flatMap((id) => {
    try {
      const files = readdirSync(`/proc/${id}/fd`).map((fd) => readlinkSync(`/proc/${id}/fd/${fd}`));
      return files.filter((file) => file.startsWith(data)).map((file) => `${id} ${file.slice(folder.length + 1)}`);
    } catch {
      return [];
    }
  });
}
