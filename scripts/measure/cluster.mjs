// Compares the event logs on NATS JetStream and SQLite: node scripts/measure/cluster.mjs [EVENTS], a million by default.
// Measures RecordEvent over HTTP POST from 50 connections, then the start and GetEvents at 1,000 and at EVENTS events, and
// the memory of the server. Needs `npm run build`, nats-server and wrk.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { JetStreamEventLog } from '../../dist/log/jetstream/event-log.js';
import { startInstance, startNats } from '../cluster/start.mjs';
import { fill } from './fill-log.mjs';

const CONNECTIONS = 50;
const SECONDS = 8;
const ROUNDS = 400;
const SMALL = 1000;

const run = promisify(execFile);
const events = Number(process.argv[2] ?? 1_000_000);
const folder = await mkdtemp(join(tmpdir(), 'webhook-measure-'));
try {
  console.table(await throughput());
  console.table(await sizes());
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

async function throughput() {
  const rows = [];
  rows.push(...(await recordEvents('SQLite', { EVENT_LOG: `sqlite:${join(folder, 'events.db')}` })));
  for (const [name, servers] of [
    ['one nats-server', 1],
    ['three nats-servers, replicas=3', 3],
  ]) {
    const path = join(folder, `nats${servers}`);
    await mkdir(path);
    const nats = await startNats(path, servers);
    rows.push(...(await recordEvents(name, { EVENT_LOG: nats.eventLog })));
    await nats.stop();
  }
  return rows;
}

async function recordEvents(name, variables) {
  const instance = await startInstance({ ...variables, EVENT_LOG_TIMEOUT: '30s' });
  const rows = [];
  for (const [keys, header] of [
    ['no key', ''],
    ['Idempotency-Key', `wrk.headers["Idempotency-Key"] = run .. "-" .. count`],
  ]) {
    const script = join(folder, 'post.lua');
    await writeFile(
      script,
      `local count = 0
       local run = "${name} ${Date.now()}"
       wrk.method = "POST"
       wrk.headers["Content-Type"] = "application/json"
       wrk.body = '{"order":17,"text":"${'x'.repeat(100)}"}'
       request = function()
         count = count + 1
         ${header}
         return wrk.format()
       end`,
    );
    const options = ['-t', '1', '-c', String(CONNECTIONS), '-d', `${SECONDS}s`, '--latency', '-s', script];
    await run('wrk', [...options.with(5, '2s'), `${instance.url}/RecordEvent`]);
    const { stdout } = await run('wrk', [...options, `${instance.url}/RecordEvent`]);
    const value = (pattern) => pattern.exec(stdout)?.[1] ?? '';
    rows.push({
      'event log': name,
      'sender gives': keys,
      'RecordEvent/s': Math.round(Number(value(/Requests\/sec:\s+([\d.]+)/))),
      p50: value(/^\s+50%\s+(\S+)/m),
      p99: value(/^\s+99%\s+(\S+)/m),
      'not 200': Number(value(/Non-2xx or 3xx responses: (\d+)/) || 0),
    });
  }
  await instance.process.end('SIGTERM');
  return rows;
}

async function sizes() {
  const path = join(folder, 'sizes');
  await mkdir(path);
  const nats = await startNats(path, 1);
  const rows = [];
  for (const size of [SMALL, events]) {
    const log = await JetStreamEventLog.open({
      ...nats.address,
      tls: false,
      password: nats.address.pass,
      stream: 'EVENTS',
      replicas: 1,
      timeout: 60_000,
      retention: { maxEvents: undefined, maxAge: undefined },
      source: '/webhooks/Services/WebHooks.asmx',
      create: true,
    });
    const started = performance.now();
    await fill(log, size);
    const filled = (performance.now() - started) / 1000;
    await log.close();
    const full = await memory(nats);
    const restarted = await restart(nats);
    rows.push({
      events: size,
      'filled in s': filled.toFixed(1),
      ...(await reads(nats)),
      'stream MiB': mebibytes(await streamBytes(nats, 'EVENTS')),
      'nats-server MiB': mebibytes(full),
      'after its restart': mebibytes(restarted.memory),
      'its restart s': restarted.seconds.toFixed(1),
    });
  }
  await nats.stop();
  rows.push(await oneSubject());
  return rows;
}

/** Stores as many messages of the same size on one subject, which tells what a subject for each event costs. */
async function oneSubject() {
  const path = join(folder, 'one');
  await mkdir(path);
  const nats = await startNats(path, 1);
  const connection = await connect(nats.address);
  const { streams } = await jetstreamManager(connection);
  await streams.add({ name: 'ONE', subjects: ['ONE.*'], duplicate_window: 100_000_000 });
  const client = jetstream(connection);
  const body = Buffer.alloc(700, 'x');
  for (let done = 0; done < events; done += 5000) {
    await Promise.all(Array.from({ length: 5000 }, () => client.publish('ONE.one', body)));
  }
  await connection.close();
  const full = await memory(nats);
  const restarted = await restart(nats);
  const bytes = await streamBytes(nats, 'ONE');
  await nats.stop();
  return {
    events: `${events} on one subject`,
    'stream MiB': mebibytes(bytes),
    'nats-server MiB': mebibytes(full),
    'after its restart': mebibytes(restarted.memory),
    'its restart s': restarted.seconds.toFixed(1),
  };
}

async function reads(nats) {
  const started = performance.now();
  const instance = await startInstance({ EVENT_LOG: nats.eventLog });
  const start = performance.now() - started;
  const newest = await timed(`${instance.url}/GetEvents`);
  const first = await timed(`${instance.url}/GetEvents?after=0`);
  const [middle] = await list(`${instance.url}/GetEvents?after=500&limit=1`);
  const byId = await timed(`${instance.url}/GetEvents?id=${middle.id}`);
  await instance.process.end('SIGTERM');
  return { 'start ms': Math.round(start), 'GetEvents ms (p50, p99)': newest, 'after=0': first, 'id=': byId };
}

async function timed(url) {
  const times = [];
  for (let i = 0; i < ROUNDS; i++) {
    const started = performance.now();
    await (await fetch(url)).text();
    times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  return `${times[ROUNDS / 2].toFixed(1)}, ${times[Math.floor(ROUNDS * 0.99)].toFixed(1)}`;
}

async function list(url) {
  const text = await (await fetch(url)).text();
  return JSON.parse(/>(\[.*\])</s.exec(text)[1]);
}

async function restart({ servers: [server] }) {
  await server.process.end('SIGTERM');
  const started = performance.now();
  await server.start();
  return { seconds: (performance.now() - started) / 1000, memory: await memory({ servers: [server] }) };
}

/** Resident bytes of the server. */
async function memory({ servers: [server] }) {
  const status = await readFile(`/proc/${server.process.child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)[1]) * 1024;
}

async function streamBytes(nats, name) {
  const connection = await connect(nats.address);
  const { state } = await (await jetstreamManager(connection)).streams.info(name);
  await connection.close();
  return state.bytes;
}

function mebibytes(bytes) {
  return Math.round(bytes / 1024 / 1024);
}
