// Measures how long each of the messages that cost most holds up everybody else: node scripts/measure/hold-ups.mjs [PATTERN]
// - over plain HTTP, over TLS and with two workers; each message three times, the longest time counts;
// - a time is the processor time of the main thread between two turns of its loop, so other programs have no part in it;
// - beside it the most memory that a process of the service had so far resident, and the status of the last answer.
// SERVICE=path/to/dist/main.js measures another build. Needs `npm run build`, Linux and, for TLS, openssl.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, truncate } from 'node:fs/promises';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { run, SERVICE } from '../support.mjs';
import { MESSAGES } from './heavy-messages.mjs';

const TIMES = 3;
const service = process.env.SERVICE ?? SERVICE;
const pattern = new RegExp(process.argv[2] ?? '', 'i');
const over = new RegExp(process.env.OVER ?? '');
const options = process.env.NODE_ARGUMENTS?.split(' ') ?? [];

const folder = await mkdtemp(join(tmpdir(), 'webhook-hold-ups-'));
process.on('exit', () => execFileSync('rm', ['-rf', folder]));
const tls = { TLS_CERT: join(folder, 'cert.pem'), TLS_KEY: join(folder, 'key.pem') };
const certificate = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout ${tls.TLS_KEY} -out ${tls.TLS_CERT}`;
execFileSync('openssl', certificate.split(' '), { stdio: 'ignore' });

for (const [transport, variables] of Object.entries({ HTTP: {}, TLS: tls, 'two workers': { WORKERS: '2' } })) {
  if (over.test(transport)) await measure(transport, variables);
}

async function measure(transport, variables) {
  const place = join(folder, transport.replace(' ', '-'));
  const turns = join(place, 'turns');
  await mkdir(turns, { recursive: true });
  const start = async () => {
    const preload = ['--require', join(import.meta.dirname, 'turns.cjs')];
    const started = run([process.execPath, ...options, ...preload, service], {
      cwd: place,
      variables: { PORT: '0', TURNS: turns, ...variables },
    });
    const [, url] = await started.prints(/WebHook answers at (\S+)/);
    if (variables.WORKERS) await started.prints(/(?:"started"[^]*){2}/);
    return { ...started, url };
  };
  let server = await start();
  for (const { what, request: make } of MESSAGES.filter(({ what }) => pattern.test(what))) {
    const message = make();
    const outcomes = [];
    for (let time = 0; time < TIMES; time++) {
      for (const file of await readdir(turns)) await truncate(join(turns, file));
      const status = await send(server.url, message);
      await setTimeout(20);
      outcomes.push({ status, longest: await longestTurn(turns) });
    }
    const memory = await residentMebibytes(server.child.pid);
    const times = outcomes.map(({ longest }) => longest.toFixed(0));
    const { status } = outcomes.at(-1);
    const bytes = Buffer.byteLength(message.body) + Buffer.byteLength(Object.values(message.headers).join(''));
    console.log([transport, what, bytes, times.join('/'), `${Math.round(memory)} MiB`, status].join(' | '));
    if (server.child.exitCode !== null || server.child.signalCode !== null) server = await start();
  }
  await server.end();
  await rm(place, { recursive: true });
}

/** Makes a request on a connection of its own. Resolves to its status, or to why there is none. */
function send(url, { method = 'POST', path = '', headers, body }) {
  const begin = url.startsWith('https:') ? secureRequest : request;
  const fields = { ...headers, 'Content-Length': Buffer.byteLength(body) };
  return new Promise((resolve) => {
    begin(url + path, { method, headers: fields, agent: false, rejectUnauthorized: false }, (response) => {
      response.resume().on('close', () => resolve(response.statusCode));
    })
      .on('error', ({ message }) => resolve(message))
      .end(body);
  });
}

async function longestTurn(turns) {
  const files = await readdir(turns);
  const texts = await Promise.all(files.map((file) => readFile(join(turns, file), 'utf8')));
  return Math.max(0, ...texts.join('').split('\n').map(Number));
}

/** The most memory that a process, or a child of it, has had resident. */
async function residentMebibytes(pid) {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const statuses = [pid, ...children.trim().split(' ').filter(Boolean)].map(async (id) => {
    const status = await readFile(`/proc/${id}/status`, 'utf8').catch(() => '');
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  });
  return Math.max(...(await Promise.all(statuses)));
}
