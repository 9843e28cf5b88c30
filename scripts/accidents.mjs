// Lets accidents happen to a SQLite log beside load: restores, files removed, replaced, cut off or not to be looked at (no free
// descriptor, changed modes, read errors, a newer schema), kills and stalls of the service, with a forwarder to a slow target on the
// same file, other connections of SQLite, and `follow`, `backup` and `restore` of the tool. Afterwards every answered event is
// in the log or in a file that was kept beside it, a line of the log names each of those that hold lost events, no file is
// malformed, and the service became ready after each accident: node scripts/accidents.mjs [MINUTES] [SEED] [WORKERS] [PART OF NAMES].
// Build first. Read errors need gcc, lower limits prlimit.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { copyFile, rename } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DatabaseSync } from '@photostructure/sqlite';
import { randomOf, retried, run, SERVICE, TOOL } from './support.mjs';

const [minutes = '5', seed = String(Date.now() % 1e9), workers = '1', part = ''] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'accidents-'));
// root may read every file, so everything runs as nobody.
const user = process.getuid() === 0 ? 65534 : undefined;
if (user !== undefined) {
  chownSync(folder, user, user);
  process.setgid(user);
  process.setuid(user);
}
const file = join(folder, 'events.db');
const kept = join(folder, 'kept');
const backup = join(folder, 'backup.db');
const random = randomOf(Number(seed));
const variables = { EVENT_LOG: `sqlite:${file}`, PORT: '0', WORKERS: workers };
const surroundings = { cwd: folder, variables };
console.log(`Seed ${seed}, in ${folder}`);

/** A library that lets reads of the log fail while this file is there, as a disk does. */
const readErrors = join(folder, 'read-errors');
const library = join(folder, 'read-errors.so');
execFileSync('gcc', [
  '-shared',
  '-fPIC',
  '-O2',
  '-o',
  library,
  fileURLToPath(new URL('read-errors.c', import.meta.url)),
]);

let service;
let url;
/** The files with lost events that a line of the log named. */
const named = new Set();
async function start() {
  const preload = { LD_PRELOAD: library, READ_ERRORS: readErrors };
  service = run([process.execPath, SERVICE], { cwd: folder, variables: { ...variables, ...preload } });
  service.child.stdout.on('data', (text) => {
    for (const [name] of String(text).matchAll(/events\.db\.lost-[\w-]+/g)) named.add(name);
  });
  [url] = await service.prints(/http:\/\/127\.0\.0\.1:\d+\/[^\s"\\]*/);
}

const answered = new Set();
let isLoading = true;
async function load(i) {
  for (let n = 0; isLoading; n++) {
    const id = `${seed}-${i}-${n}`;
    try {
      const response = await fetch(`${url}/RecordEvent`, {
        method: 'POST',
        headers: { 'Idempotency-Key': id, 'Content-Type': 'text/plain' },
        body: 'x'.repeat(Math.floor(random() * 2000)),
        signal: AbortSignal.timeout(20_000),
      });
      const text = await response.text();
      if (response.ok) answered.add(id);
      else if (response.status < 500) throw new Error(`${response.status} ${text}`);
    } catch (error) {
      if (error.message.startsWith('4')) throw error;
    }
    await delay(random() * 20);
  }
}

/** Resolves once the service is ready, to the milliseconds that it took. */
async function ready() {
  const started = Date.now();
  await retried(async () => {
    const { status } = await fetch(new URL('/readyz', url));
    if (status !== 200) throw new Error(`${status}: not ready within a minute:\n${service.output().slice(-2000)}`);
  }, 60_000).catch((error) => {
    const losses = service.output().match(/^.*a file of the event log was lost.*$/gm) ?? [];
    console.log(happened.slice(-10), losses.slice(-3));
    throw error;
  });
  return Date.now() - started;
}

async function tool(...args) {
  const { ended, output } = run([process.execPath, TOOL, ...args], surroundings);
  return { code: await ended, errors: output() };
}

/** Keeps a copy of the events that are readable now, for what an accident is about to replace on purpose. */
let copies = 0;
async function keep() {
  const { code, errors } = await tool('backup', `${kept}-${copies++}.db`);
  if (code !== 0) throw new Error(`backup: ${errors}`);
}

/**
 * Takes a file away and waits until the service says that it has saved what only its descriptor leads to: a process that is killed
 * before loses that.
 */
async function untilSaved(takeAway) {
  const losses = () => service.output().split('a file of the event log was lost').length;
  const before = losses();
  await takeAway();
  for (let i = 0; i < 600 && losses() === before; i++) await delay(50);
}

/** The process that last followed the log. */
let other;

/** A slow target for the forwarder. */
const target = createServer((request, response) => {
  forwarded++;
  request.resume();
  setTimeout(() => response.writeHead(204).end(), random() * 500);
});
let forwarded = 0;
let forwarder;
let isForwarding = true;

/** Restarts the forwarder whenever it ends, as systemd does, and removes its position where the log is another one, as an operator would. */
async function forward() {
  const { port } = target.address();
  const position = join(folder, 'position.json');
  while (isForwarding) {
    const options = ['forward', `http://127.0.0.1:${port}/`, '--follow', '--position', position, '--since', '0'];
    forwarder = run([process.execPath, TOOL, ...options], surroundings);
    try {
      if ((await forwarder.ended) === 1) rmSync(position, { force: true });
    } catch {
      // The folder cannot be read now.
    }
    await delay(1000);
  }
}

async function stopForwarder() {
  isForwarding = false;
  await forwarder.end();
  await forwarding;
}

/** The processes of the service that have the log open: it and its workers. */
function processes() {
  const { pid } = service.child;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return [String(pid), ...children];
}

/** Changes the schema's version past the log, and returns the one before once the new one is written back to the file. */
async function setVersion(version) {
  const database = new DatabaseSync(file, { timeout: 5000 });
  const [{ user_version: before }] = database.prepare('PRAGMA user_version').all();
  database.exec(`PRAGMA user_version = ${version}`);
  // A reader that is behind keeps it in the write-ahead log.
  await retried(async () => {
    const [{ log, checkpointed }] = database.prepare('PRAGMA wal_checkpoint(PASSIVE)').all();
    if (log !== checkpointed) throw new Error('the version cannot be written back');
  }, 60_000);
  database.close();
  return before;
}

/** Some seconds, in which the service records nothing. */
const aWhile = () => delay(500 + random() * 4000);

const ACCIDENTS = {
  async 'no descriptor is free'() {
    const limit = (pid, nofile) => execFileSync('prlimit', ['--pid', pid, `--nofile=${nofile}:`]);
    const pids = processes();
    for (const pid of pids) limit(pid, readdirSync(`/proc/${pid}/fd`).length - Math.floor(random() * 5));
    await aWhile();
    for (const pid of pids) limit(pid, 10_000);
  },
  async 'the mode of the file is changed'() {
    chmodSync(file, 0);
    await aWhile();
    chmodSync(file, 0o600);
  },
  async 'the mode of the folder is changed'() {
    chmodSync(folder, 0);
    await aWhile();
    chmodSync(folder, 0o700);
  },
  async 'reads fail'() {
    writeFileSync(readErrors, '');
    await aWhile();
    rmSync(readErrors);
  },
  async 'a newer schema beside it'() {
    const before = await setVersion(99);
    await aWhile();
    await setVersion(before);
  },
  async '-wal cut off'() {
    await untilSaved(() => truncateSync(`${file}-wal`));
  },
  async 'kill -9'() {
    await service.end('SIGKILL');
    await start();
  },
  async restart() {
    await service.end('SIGTERM');
    await start();
  },
  async 'kill -9 after sqlite3 wrote'() {
    const database = new DatabaseSync(file, { timeout: 5000 });
    database.exec('PRAGMA wal_checkpoint(TRUNCATE); ANALYZE');
    await service.end('SIGKILL');
    database.close();
    await start();
  },
  async 'restore while it runs'() {
    await tool('backup', `${backup}-${copies}`);
    const { code, errors } = await tool('restore', `${backup}-${copies++}`);
    if (code === 0 || !/is open in/.test(errors)) throw new Error(`restore did not refuse: ${errors}`);
  },
  async restore() {
    await service.end('SIGTERM');
    await other?.ended;
    await stopForwarder();
    await tool('backup', `${backup}-${copies}`);
    const { code, errors } = await tool('restore', `${backup}-${copies++}`);
    if (code !== 0) throw new Error(`restore: ${errors}`);
    isForwarding = true;
    forwarding = forward();
    await start();
  },
  async 'restored by cp beside a process that is stopped'() {
    const follower = (other = run([process.execPath, TOOL, 'follow'], surroundings));
    await delay(500 + random() * 500);
    const { child } = random() < 0.5 ? follower : forwarder;
    child.kill('SIGSTOP');
    await service.end('SIGTERM');
    await keep();
    await copyFile(`${kept}-${copies - 1}.db`, file);
    for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
    setTimeout(() => child.kill('SIGCONT'), random() * 2000);
    setTimeout(() => follower.child.kill('SIGKILL'), 4000);
    await start().catch(async () => start());
  },
  async 'kill -9 of the forwarder'() {
    await forwarder.end('SIGKILL');
  },
  async '-shm removed'() {
    await untilSaved(() => rmSync(`${file}-shm`, { force: true }));
  },
  async '-wal removed'() {
    await untilSaved(() => rmSync(`${file}-wal`, { force: true }));
  },
  async '-wal and -shm removed while it is stopped'() {
    await untilSaved(async () => {
      service.child.kill('SIGSTOP');
      for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
      await delay(random() * 1500);
      service.child.kill('SIGCONT');
    });
  },
  async 'moved away'() {
    await untilSaved(() => rename(file, `${kept}-${copies++}.db`));
  },
};

await start();
await once(target.listen(0, '127.0.0.1'), 'listening');
let forwarding = forward();
const loads = Array.from({ length: 8 }, (_, i) => load(i));
const end = Date.now() + Number(minutes) * 60_000;
const counts = {};
/** What happened last, and when: where events are missing, their times say between which accidents. */
const happened = [];
let slowest = 0;
while (Date.now() < end) {
  await delay(random() * 1500);
  const names = Object.keys(ACCIDENTS).filter((accident) => accident.includes(part));
  const name = names[Math.floor(random() * names.length)];
  counts[name] = (counts[name] ?? 0) + 1;
  happened.push(`${new Date().toISOString()} ${name}`);
  await ACCIDENTS[name]();
  slowest = Math.max(slowest, await ready());
}
isLoading = false;
await Promise.all(loads);
await stopForwarder();
await service.end('SIGTERM');

const found = new Set();
let malformed = 0;
const logs = readdirSync(folder).filter((name) => !/-wal|-shm|^backup/.test(name) && /\.db/.test(name));
for (const name of logs) {
  try {
    const database = new DatabaseSync(join(folder, name));
    const [check] = database.prepare('PRAGMA integrity_check').all();
    if (check.integrity_check !== 'ok') throw new Error(check.integrity_check);
    for (const row of database.prepare('SELECT idempotency_key AS key FROM events').all()) found.add(row.key);
  } catch (error) {
    malformed++;
    console.log(`${name}: ${error.message}`);
  }
}
const unnamed = logs.filter((name) => name.includes('.lost-') && !named.has(name));
const missing = [...answered].filter((id) => !found.has(id));
console.log({
  counts,
  answered: answered.size,
  forwarded,
  logs: logs.length,
  malformed,
  unnamed: unnamed.length,
  missing: missing.length,
  slowest,
});
if (missing.length + unnamed.length > 0) console.log(missing.slice(0, 10), unnamed, happened);
if (missing.length + malformed + unnamed.length === 0) rmSync(folder, { recursive: true });
process.exit(missing.length + malformed + unnamed.length > 0 ? 1 : 0);
