// Sends good and bad traffic to a service of its own, for 60 minutes by default; then checks that every answered id is in
// the log once: node scripts/soak.mjs [MINUTES]
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { callOf } from './bench/calls.mjs';
import { agent, ask, everyEvent, run, SERVICE } from './support.mjs';

const [argument = '60'] = process.argv.slice(2);
const milliseconds = Number(argument) * 60_000;
if (!(milliseconds > 0)) throw new Error(`${argument} is not a number of minutes.`);

const KEY = 'soak-key-0123456789';
const GOOD = 8;
const BAD = 4;
/** How long a connection is idle, in milliseconds. */
const IDLE = 61_000;

const folder = await mkdtemp(join(tmpdir(), 'webhook-soak-'));
const service = run([process.execPath, SERVICE], {
  cwd: folder,
  variables: { PORT: '0', RECORD_KEYS: KEY, ADMIN_PORT: '0', HEADERS_TIMEOUT: '2s', REQUEST_TIMEOUT: '3s' },
  stdio: ['inherit'],
});
const [started] = await service.prints(/^.*"msg":"started".*$/m);
const { url, adminUrl } = JSON.parse(started);

const send = (path, { headers, ...request } = {}) =>
  ask(url + path, { ...request, headers: { 'X-API-Key': KEY, ...headers } });

const soap = (payload, binding = 'soap11') => callOf(binding, 'RecordEvent', { payload }).body;
const post = (type, body, headers = {}) => ({ method: 'POST', headers: { 'Content-Type': type, ...headers }, body });
const RECORDING = [
  () => send('', post('text/xml', soap('<order>17</order>'))),
  () => send('', post('application/soap+xml', soap('', 'soap12'))),
  () => send('/RecordEvent?order=18'),
  () => send('/RecordEvent', post('application/json', '{"order":19}')),
  () => send('/RecordEvent', post('text/plain', gzipSync('x'.repeat(100_000)), { 'Content-Encoding': 'gzip' })),
];
const WRONG = [
  ['no key', () => send('/RecordEvent', { headers: { 'X-API-Key': '' } }), 401],
  ['a wrong key', () => send('', post('text/xml', soap(), { 'X-API-Key': 'wrong-key-0123456789' })), 401],
  ['broken XML', () => send('', post('text/xml', '<s:Envelope')), 400],
  ['a document type', () => send('', post('text/xml', `<!DOCTYPE x>${soap()}`)), 400],
  ['deep XML', () => send('', post('text/xml', soap('<a>'.repeat(10_000)))), 400],
  [
    'a gzip bomb',
    () => send('', post('text/xml', gzipSync(Buffer.alloc(20_000_000)), { 'Content-Encoding': 'gzip' })),
    413,
  ],
  ['an unknown operation', () => send('/Nothing'), 500],
  ['an unknown address', () => send('/../nowhere'), 404],
  ['a wrong parameter', () => send('/GetEvents?limit=x'), 400],
];

/** Connections that end in the middle, by a time-out or by a reset. */
async function rude(n) {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  socket.write(`POST ${pathname}/RecordEvent HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nx`);
  if (n % 2 === 0) socket.resetAndDestroy();
  else await once(socket.resume(), 'close');
}

const answered = new Set();
const counts = new Map();
const count = (what) => counts.set(what, (counts.get(what) ?? 0) + 1);
let doubled = 0;
const end = Date.now() + milliseconds;

async function good(first) {
  for (let i = first; Date.now() < end; i++) {
    const { status, body } = await RECORDING[i % RECORDING.length]();
    const id = />([0-9a-f-]{36})</.exec(body)?.[1];
    count(status === 200 && id ? 'good: answered' : `good: UNEXPECTED ${status}`);
    if (id && answered.has(id)) doubled++;
    if (id) answered.add(id);
    if (i % 50 === 0) await send('/GetEvents');
    await pause(5);
  }
}

async function bad(first) {
  for (let i = first; Date.now() < end; i++) {
    const [what, call, expected] = WRONG[i % WRONG.length];
    const { status } = await call();
    count(`bad: ${what}: ${status === expected ? '' : 'UNEXPECTED '}${status}`);
    if (i % 20 === 0) await rude(i / 20);
    await pause(10);
  }
}

/** Calls on one connection with pauses in which it must stay open: a load balancer, which closes after 60 seconds, has to be first. */
async function idle() {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (chunk) => (received += chunk)).on('error', () => undefined);
  for (let calls = 1; Date.now() + IDLE < end; calls++) {
    socket.write(`GET ${pathname}/HelloWorld? HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await pause(IDLE);
    const answers = received.split('HTTP/1.1 200 ').length - 1;
    count(answers === calls ? 'idle: answered' : 'idle: UNEXPECTED end of the connection');
  }
  socket.destroy();
}

async function state(when) {
  const { body } = await ask(new URL('/metrics', adminUrl));
  const value = (name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body)?.[1]);
  const mebibytes = (name) => `${(value(name) / 1024 / 1024).toFixed(0)} MiB`;
  const descriptors = await readdir(`/proc/${service.child.pid}/fd`).then(
    ({ length }) => length,
    () => 'unknown',
  );
  console.log(
    `${when.padEnd(9)} memory ${mebibytes('process_resident_memory_bytes')}, heap ${mebibytes('nodejs_heap_size_used_bytes')}, ` +
      `open descriptors ${descriptors}, connections ${value('webhook_connections')}, events ${value('webhook_log_events')}`,
  );
}

console.log(`${argument} minutes of mixed traffic on ${url}`);
// What the first calls load and keep does not count as growth.
for (const call of RECORDING) answered.add(/>([0-9a-f-]{36})</.exec((await call()).body)[1]);
await state('start');
const traffic = [...Array.from({ length: GOOD }, (_, i) => good(i)), ...Array.from({ length: BAD }, (_, i) => bad(i))];
const middle = pause(milliseconds / 2).then(() => state('middle'));
await Promise.all([...traffic, idle(), middle]);
agent.destroy();
await pause(4000);
await state('end');

const found = new Map();
const read = async (path, headers) => (await send(path, { headers })).body;
for await (const { id } of everyEvent(read)) found.set(id, (found.get(id) ?? 0) + 1);
agent.destroy();
const lost = [...answered].filter((id) => !found.has(id)).length;
const twice = [...found.values()].filter((times) => times > 1).length;
for (const [what, times] of [...counts].sort()) console.log(`${String(times).padStart(9)} ${what}`);
console.log(`${answered.size} answered ids: ${lost} not in the log, ${twice + doubled} more than once`);
const code = await service.end();
await rm(folder, { recursive: true });
const unexpected = [...counts.keys()].filter((what) => what.includes('UNEXPECTED'));
if (lost + twice + doubled + unexpected.length + code > 0) process.exitCode = 1;
console.log(
  process.exitCode === 1
    ? `FAILED ${unexpected.join(', ')}`
    : 'nothing lost, nothing doubled, every answer as expected',
);
