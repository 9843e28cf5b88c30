// Sends good and bad traffic to a service of its own, for 60 minutes by default; then checks that every answered id is in
// the log once: node scripts/soak.mjs [MINUTES]
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { run, SERVICE } from './process.mjs';

const [argument = '60'] = process.argv.slice(2);
const milliseconds = Number(argument) * 60_000;
if (!(milliseconds > 0)) throw new Error(`${argument} is not a number of minutes.`);

const KEY = 'soak-key-0123456789';
const SOAP_11 = 'http://schemas.xmlsoap.org/soap/envelope/';
const SOAP_12 = 'http://www.w3.org/2003/05/soap-envelope';
const GOOD = 8;
const BAD = 4;

const folder = await mkdtemp(join(tmpdir(), 'webhook-soak-'));
const service = run([process.execPath, SERVICE], {
  cwd: folder,
  variables: { PORT: '0', RECORD_KEYS: KEY, ADMIN_PORT: '0', HEADERS_TIMEOUT: '2s', REQUEST_TIMEOUT: '3s' },
  stdio: ['inherit'],
});
const [started] = await service.prints(/^.*"msg":"started".*$/m);
const { url, adminUrl } = JSON.parse(started);

const agent = new Agent({ keepAlive: true });
function send(path, { method = 'GET', headers = {}, body = '' } = {}, address = url) {
  return new Promise((resolve, reject) => {
    const fields = { 'X-API-Key': KEY, 'Content-Length': Buffer.byteLength(body), ...headers };
    request(address + path, { method, agent, headers: fields }, (response) => {
      text(response).then((answer) => resolve({ status: response.statusCode, body: answer }), reject);
    })
      .on('error', reject)
      .end(body);
  });
}

const envelope = (namespace, inside = '') =>
  `<s:Envelope xmlns:s="${namespace}"><s:Body><RecordEvent xmlns="http://tempuri.org/">${inside}</RecordEvent></s:Body></s:Envelope>`;
const post = (type, body, headers = {}) => ({ method: 'POST', headers: { 'Content-Type': type, ...headers }, body });
const RECORDING = [
  () => send('', post('text/xml', envelope(SOAP_11, '<order>17</order>'))),
  () => send('', post('application/soap+xml', envelope(SOAP_12))),
  () => send('/RecordEvent?order=18'),
  () => send('/RecordEvent', post('application/json', '{"order":19}')),
  () => send('/RecordEvent', post('text/plain', gzipSync('x'.repeat(100_000)), { 'Content-Encoding': 'gzip' })),
];
const WRONG = [
  ['no key', () => send('/RecordEvent', { headers: { 'X-API-Key': '' } }), 401],
  ['a wrong key', () => send('', post('text/xml', envelope(SOAP_11), { 'X-API-Key': 'wrong-key-0123456789' })), 401],
  ['broken XML', () => send('', post('text/xml', '<s:Envelope')), 400],
  ['a document type', () => send('', post('text/xml', `<!DOCTYPE x>${envelope(SOAP_11)}`)), 400],
  ['deep XML', () => send('', post('text/xml', envelope(SOAP_11, '<a>'.repeat(10_000)))), 400],
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
  socket.write(`POST ${pathname}/RecordEvent HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nx`);
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

async function state(when) {
  const { body } = await send('metrics', {}, adminUrl);
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
await Promise.all([...traffic, middle]);
agent.destroy();
await pause(4000);
await state('end');

const found = new Map();
for (let after = '0'; ;) {
  const { body } = await send(`/GetEvents?after=${after}`);
  const events = JSON.parse(
    body
      .replace(/^[\s\S]*?<string[^>]*>|<\/string>\s*$/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&'),
  );
  if (events.length === 0) break;
  for (const { id, sequence } of events) {
    found.set(id, (found.get(id) ?? 0) + 1);
    after = sequence;
  }
}
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
