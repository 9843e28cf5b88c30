// Measures how long each of the messages that cost most holds up everybody else: node scripts/measure/hold-ups.mjs [PATTERN]
// - over plain HTTP, over TLS and with two workers; each message once, and up to twice more if that held up others for 50 ms;
// - a plain message again after every tenth: what it takes shows how busy the machine is;
// - a time is the processor time of the main thread between two turns of its loop, so other programs have no part in it;
// - then how much longer than alone calls take, at the median, while messages of 4 MB are read that others send;
// - beside it the most memory that a process of the service had so far resident, and the status of the last answer.
// EACH=3 sends every third message only; SERVICE=path/to/dist/main.js measures another build, EVENT_LOG=postgres://… with a log on a server,
// OVER=^HTTP$ over one of the three. Needs `npm run build`, Linux and, for TLS, openssl.
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, truncate } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { connect as secureConnect } from 'node:tls';
import { ask, certificateIn, median, peakMemory, SERVICE, startService, statusOf } from '../support.mjs';
import { BESIDE, CALLS, MESSAGES } from './heavy-messages.mjs';

const TIMES = 3;
const MOST = 50;
const PLAIN_EACH = 10;
const CALLS_TIMED = 15;
const service = process.env.SERVICE ?? SERVICE;
const pattern = new RegExp(process.argv[2] ?? '', 'i');
const over = new RegExp(process.env.OVER ?? '');
const each = Number(process.env.EACH ?? 1);
const log = process.env.EVENT_LOG === undefined ? {} : { EVENT_LOG: process.env.EVENT_LOG };

const folder = await mkdtemp(join(tmpdir(), 'webhook-hold-ups-'));
process.on('exit', () => rmSync(folder, { recursive: true }));
const tls = certificateIn(folder);

for (const [transport, variables] of Object.entries({ HTTP: {}, TLS: tls, 'two workers': { WORKERS: '2' } })) {
  if (over.test(transport)) await measure(transport, variables);
}

async function measure(transport, variables) {
  const place = join(folder, transport.replace(' ', '-'));
  const turns = join(place, 'turns');
  await mkdir(turns, { recursive: true });
  const preload = ['--require', join(import.meta.dirname, 'turns.cjs')];
  const command = [process.execPath, ...preload, service];
  const start = () => startService(place, { TURNS: turns, ...log, ...variables }, command);
  let server = await start();
  const chosen = MESSAGES.filter(({ what }, i) => i % each === 0 && pattern.test(what));
  const messages = chosen.flatMap((one, i) => (i % PLAIN_EACH === 0 ? [MESSAGES[0], one] : [one]));
  for (const { what, request: make } of messages) {
    const message = make();
    if (message.recorded) message.path = await pageOf(server.url, message.recorded);
    const outcomes = [];
    while (outcomes.length < TIMES && !outcomes.some(({ took }) => took < MOST)) {
      for (const file of await readdir(turns)) await truncate(join(turns, file));
      const status = await (message.pipelined ? sendMany(server.url, message) : send(server.url, message));
      await setTimeout(20);
      outcomes.push({ status, took: await longestTurn(turns) });
    }
    await print(transport, what, message, outcomes, server);
    if (server.child.exitCode !== null || server.child.signalCode !== null) server = await start();
  }
  for (const { what, request: make } of CALLS.filter(({ what }) => pattern.test(what))) {
    const message = make();
    const outcomes = [];
    while (outcomes.length < TIMES && !outcomes.some(({ took }) => took < MOST))
      outcomes.push(await timeBeside(server.url, message));
    await print(transport, what, message, outcomes, server);
  }
  await server.end();
}

async function print(transport, what, { body, headers }, outcomes, server) {
  const bytes = Buffer.byteLength(body) + Buffer.byteLength(Object.values(headers).join(''));
  const memory = await peakMemory(server);
  const times = outcomes.map(({ took }) => took.toFixed(0)).join('/');
  console.log([transport, what, bytes, times, memory, outcomes.at(-1).status].join(' | '));
}

/** Resolves to how much longer a call takes, at the median, while another caller sends one large message after the other, and to its last status. */
async function timeBeside(url, message) {
  const alone = await timeCalls(url, message);
  let isOver = false;
  const large = (async () => {
    const beside = BESIDE();
    while (!isOver) await send(url, beside);
  })();
  const { status, took } = await timeCalls(url, message);
  isOver = true;
  await large;
  return { status, took: Math.max(0, took - alone.took) };
}

async function timeCalls(url, message) {
  const times = [];
  let status;
  while (times.length < CALLS_TIMED) {
    await setTimeout(20);
    const began = performance.now();
    status = await send(url, message);
    times.push(performance.now() - began);
  }
  return { status, took: median(times) };
}

/** Records events. Resolves to the query of the page of the first, compared with the second if there are two. */
async function pageOf(url, events) {
  const ids = [];
  for (const { path, ...event } of events) {
    const { status, text } = await ask(url + path, event);
    if (status !== 200) throw new Error(`${status}: ${text}`);
    ids.push(/[\da-f-]{36}/.exec(text)[0]);
  }
  return `?event&id=${ids.join('&with=')}`;
}

function send(url, { path = '', method = 'POST', ...rest }) {
  return statusOf(url + path, { method, ...rest });
}

/** Sends several requests at once on each of some connections. Resolves to the status of the last answer, or to why there is none. */
async function sendMany(url, { path, pipelined, connections = 1, waits = false }) {
  const { protocol, hostname: host, port, pathname } = new URL(url);
  let target = path;
  if (waits) {
    const { text } = await ask(`${url}/GetEvents?limit=1`, { headers: { Accept: 'application/json' } });
    target = `/GetEvents?wait=20s&limit=1&after=${/"sequence":"(\d+)"/.exec(text)?.[1] ?? 0}`;
  }
  const requests = `GET ${pathname}${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(pipelined);
  const begin = protocol === 'https:' ? secureConnect : connect;
  const sockets = Array.from({ length: connections }, () => begin({ host, port, rejectUnauthorized: false }));
  const answers = sockets.map((socket) => {
    let missing = pipelined;
    let last = '';
    socket.setEncoding('latin1').write(requests);
    return new Promise((resolve) => {
      socket
        .on('data', (data) => {
          const found = data.match(/(?<=HTTP\/1\.1 )\d+/g) ?? [];
          missing -= found.length;
          last = found.at(-1) ?? last;
          if (missing <= 0) resolve(last);
        })
        .on('error', ({ message }) => resolve(message))
        .on('close', () => resolve(`closed after ${last}`));
    });
  });
  if (waits) {
    await setTimeout(2000);
    await send(url, { path: '/RecordEvent' });
  }
  const statuses = await Promise.all(answers);
  for (const socket of sockets) socket.destroy();
  return Number(statuses.at(-1)) || statuses.at(-1);
}

async function longestTurn(turns) {
  const files = await readdir(turns);
  const texts = await Promise.all(files.map((file) => readFile(join(turns, file), 'utf8')));
  return Math.max(0, ...texts.join('').split('\n').map(Number));
}
