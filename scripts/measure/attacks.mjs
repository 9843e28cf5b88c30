// Measures what attacks with headers, and readers who take nothing, cost: node scripts/measure/attacks.mjs [PATTERN]
// For each attack, over HTTP and TLS: the most memory (VmHWM) that a process of the service had, and what ordinary callers saw beside it:
// HelloWorld on new connections, HelloWorld on one that is kept, RecordEvent with 20 KB, as answered of all (longest wait).
// SERVICE=path/to/dist/main.js measures another build, NODE=path another Node, OVER=^HTTP$ one transport, WORKERS=3 several processes,
// SECONDS=20 how long. The service is started as the image and the systemd unit start it. Needs `npm run build`, Linux and openssl, and `ulimit -n 12000`.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connect as secureConnect } from 'node:tls';
import { certificateIn, peakMemory, SERVICE, startService, statusOf } from '../support.mjs';

const PATH = '/webhooks/Services/WebHooks.asmx';
const SECONDS = Number(process.env.SECONDS ?? 15);
const LARGE = 4_000_000;

const lines = (count, line) => Array.from({ length: count }, (_, i) => `${line(i)}\r\n`).join('');
const SHORT_FIELDS = lines(2860, (i) => `${i.toString(36)}:`);
const LONG_FIELDS = lines(97, (i) => `x-${i.toString(36)}: ${'v'.repeat(155)}`);
const post = (fields, length) =>
  `POST ${PATH}/RecordEvent HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n${fields}`;
const get = (query, fields = '') => `GET ${PATH}${query} HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n`;
const WAIT = get('/GetEvents?wait=60s&after=999999999');
const pages = { connections: 240, bytes: () => get('?event=1&with=2') };
const followers = { connections: 900, bytes: () => get('?events=export&wait=60&after=3') };
const exports = { connections: 60, bytes: () => get('?events=export') };
const headers = (fields) => ({ connections: 4800, bytes: () => `${post(fields, 10)}\r\n` });
const unfinished = { connections: 4800, bytes: () => post(SHORT_FIELDS, 10) };
const bodies = { connections: 40, bytes: () => `${post('', LARGE)}\r\n${'x'.repeat(LARGE - 100_000)}` };
const pipelined = { connections: 64, bytes: () => WAIT + get('/HelloWorld', SHORT_FIELDS).repeat(62) };

/**
 * Connections on each of which these bytes are sent; one that the service closes is opened again if `again` says so. With `records` an
 * event of so many bytes is recorded afterwards; `reads`: they take their answers.
 */
const ATTACKS = {
  headers: [headers(SHORT_FIELDS)],
  'headers, unfinished': [unfinished],
  'headers, pipelined': [pipelined],
  pages: [pages],
  exports: [exports],
  followers: [{ ...followers, records: LARGE }],
  'followers who read': [{ ...followers, reads: true, records: LARGE }],
  'events by id': ['?events=export&id=large', '?event&id=large', '?events=find&text=large', '/GetEvents?id=large'].map(
    (query) => ({ connections: 300, bytes: () => get(query).repeat(20) }),
  ),
  'headers, pages': [pages, { ...headers(SHORT_FIELDS), connections: 4500 }],
  everything: [pages, exports, { ...followers, records: LARGE }, bodies, pipelined, headers(LONG_FIELDS), unfinished],
  'long fields': [headers(LONG_FIELDS)],
  'long fields, unfinished': [{ connections: 4800, bytes: () => post(LONG_FIELDS, 10) }],
  'long fields, pipelined': [{ connections: 1500, bytes: () => WAIT + get('/HelloWorld', LONG_FIELDS).repeat(62) }],
  'bodies, pipelined': [{ connections: 1500, bytes: () => WAIT + `${post('', 60_000)}\r\n${'x'.repeat(60_000)}` }],
  'requests, pipelined': [{ connections: 1000, again: true, bytes: () => get('/HelloWorld').repeat(5000) }],
  'smallest requests': [
    { connections: 1000, again: true, bytes: () => WAIT + 'GET / HTTP/1.1\r\n\r\n'.repeat(20_000) },
  ],
  'one that pipelines': [{ connections: 1, again: true, bytes: () => 'GET / HTTP/1.1\r\n\r\n'.repeat(20_000) }],
  'one beside 80 that wait': [
    { connections: 80, bytes: () => WAIT.repeat(64) },
    { connections: 1, again: true, bytes: () => 'GET / HTTP/1.1\r\n\r\n'.repeat(20_000) },
  ],
  'callers who leave': [{ connections: 8, leaves: true, bytes: () => get('?event=1&with=2').repeat(64) }],
};

if (process.send === undefined) await measure();
else process.once('message', attack);

async function measure() {
  const pattern = new RegExp(process.argv[2] ?? '');
  const over = new RegExp(process.env.OVER ?? '');
  const folder = await mkdtemp(join(tmpdir(), 'webhook-attacks-'));
  const tls = certificateIn(folder);
  for (const what of Object.keys(ATTACKS).filter((name) => pattern.test(name)))
    for (const [transport, variables] of Object.entries({ HTTP: {}, TLS: tls }))
      if (over.test(transport)) console.log(await outcome(folder, transport, what, variables));
  await rm(folder, { recursive: true });
}

async function outcome(folder, transport, what, variables) {
  const cwd = await mkdtemp(join(folder, 'service-'));
  const { NODE = process.execPath, WORKERS = '1' } = process.env;
  const settings = { MALLOC_MMAP_THRESHOLD_: '131072', WORKERS, ...variables };
  const command = [NODE, '--max-semi-space-size=16', process.env.SERVICE ?? SERVICE];
  const service = await startService(cwd, settings, command);
  const { url } = service;
  for (const source of ['/1', '/2', '/3']) {
    const headers = { 'ce-specversion': '1.0', 'ce-type': 'large', 'ce-id': 'large', 'ce-source': source };
    await statusOf(`${url}/RecordEvent`, { headers, body: 'x'.repeat(LARGE) });
  }
  const attacker = fork(fileURLToPath(import.meta.url), [], { execArgv: [] });
  const callers = ordinaryCallers(url);
  await setTimeout(500);
  attacker.send({ url, what });
  await once(attacker, 'message');
  attacker.kill();
  const seen = callers.end();
  const peak = await peakMemory(service);
  await service.end('SIGKILL');
  return [transport, what, peak, ...seen].join(' | ');
}

/** Makes calls one after the other, 50 ms apart, over a connection each and over one that is kept, until they are ended. */
function ordinaryCallers(url) {
  const kept = new (url.startsWith('https:') ? SecureAgent : Agent)({ keepAlive: true, maxSockets: 1 });
  const recording = new kept.constructor({ keepAlive: true, maxSockets: 1 });
  let isOver = false;
  const callers = [
    ['new', '/HelloWorld', '', false],
    ['kept', '/HelloWorld', '', kept],
    ['20 KB', '/RecordEvent', 'x'.repeat(20_000), recording],
  ].map(([name, path, body, agent]) => {
    const caller = { name, all: 0, answered: 0, longest: 0, others: new Set(), since: 0 };
    void (async () => {
      while (!isOver) {
        caller.since = performance.now();
        const status = await statusOf(url + path, { body, agent });
        if (isOver) return;
        caller.all++;
        caller.longest = Math.max(caller.longest, performance.now() - caller.since);
        if (status === 200) caller.answered++;
        else caller.others.add(status);
        await setTimeout(50);
      }
    })();
    return caller;
  });
  return {
    end() {
      isOver = true;
      return callers.map(({ name, all, answered, longest, others, since }) => {
        const rest = others.size === 0 ? '' : `, ${[...others].join(', ')}`;
        // The last one may still wait.
        const wait = Math.round(Math.max(longest, performance.now() - since));
        return `${name} ${answered}/${all} (${wait} ms${rest})`;
      });
    },
  };
}

/** Attacks for SECONDS, taking no answers. */
async function attack({ url, what }) {
  const { protocol, hostname: host, port } = new URL(url);
  let isOver = false;
  const open = ({ again, leaves, reads }, sent) => {
    const options = { host, port: Number(port), rejectUnauthorized: false };
    const socket = protocol === 'https:' ? secureConnect(options) : connect(options);
    socket.pause();
    socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      socket.write(sent, () => leaves && globalThis.setTimeout(() => socket.destroy(), 200));
    });
    socket
      .on('error', () => undefined)
      .on('close', () => {
        if (again && !isOver) globalThis.setTimeout(open, 20, { again }, sent);
      });
    // A peer that has closed its side is seen only by who reads.
    if (again || reads) socket.resume();
  };
  for (const part of ATTACKS[what]) {
    const sent = Buffer.from(part.bytes());
    for (let i = 0; i < part.connections; i++) {
      open(part, sent);
      if (i % 50 === 49) await setTimeout(5);
    }
    await setTimeout(200);
    if (part.records === undefined) continue;
    await setTimeout(3000);
    await statusOf(`${url}/RecordEvent`, { body: 'x'.repeat(part.records) });
  }
  await setTimeout(SECONDS * 1000);
  isOver = true;
  process.send('done');
}
