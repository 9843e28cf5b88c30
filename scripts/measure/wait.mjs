// Measures what waiting for events costs and how soon it ends: node scripts/measure/wait.mjs [ROUNDS]
// - latency: from the reply to RecordEvent to the answer of a caller that waits, over 100 events: in one process, over SOAP,
//   with the event recorded by a second process on the same file, with two workers, and by a second instance on NATS;
// - what 1,000 waiting callers cost: processor time, memory, and RecordEvent beside them, in ROUNDS (5) with and without;
// - how long it takes to answer 1,000 callers whom one event concerns.
// Needs `npm run build` and wrk, and nats-server for the last of the latencies.
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { callOf } from '../bench/calls.mjs';
import { median } from '../bench/median.mjs';
import { SERVICE, start } from '../bench/process.mjs';
import { load, requireWrk } from '../bench/wrk.mjs';
import { startNats } from '../cluster/start.mjs';

const EVENTS = 100;
const CALLERS = 1000;
const ROUNDS = Number(process.argv[2] ?? 5);
const BOTH_CORES = '0,1';
/** A position that no event reaches. */
const NEVER = '9'.repeat(20);

await requireWrk();
const folder = await mkdtemp(join(tmpdir(), 'webhook-wait-'));
try {
  console.table(await latencies());
  await cost();
} finally {
  await rm(folder, { recursive: true });
}
process.exit();

async function latencies() {
  const rows = [];
  const alone = await service('alone');
  rows.push(await latency('one process, HTTP GET', alone, alone, 'httpget'));
  rows.push(await latency('one process, SOAP 1.1', alone, alone, 'soap11'));
  const second = await service('alone');
  rows.push(await latency('two processes on one SQLite file', alone, second, 'soap11'));
  await Promise.all([alone.stop(), second.stop()]);
  const workers = await service('workers', { WORKERS: '2' });
  rows.push(await latency('WORKERS=2', workers, workers, 'soap11'));
  await workers.stop();
  for (const servers of [1, 3]) {
    const path = await mkdtemp(join(folder, 'nats-'));
    const nats = await startNats(path, servers);
    const variables = { EVENT_LOG: nats.eventLog, EVENT_LOG_TIMEOUT: '30s' };
    const [one, other] = [await service('', variables), await service('', variables)];
    rows.push(await latency(`two instances on ${servers} nats-server${servers > 1 ? 's' : ''}`, one, other, 'soap11'));
    await Promise.all([one.stop(), other.stop()]);
    await nats.stop();
  }
  return rows;
}

/** How long after the reply to RecordEvent at one address a caller that waits at the other has its answer. */
async function latency(name, recording, waiting, binding) {
  const milliseconds = [];
  await call(recording.url, callOf('soap11', 'RecordEvent'));
  let after = await newest(waiting.url);
  for (let i = 0; i < EVENTS; i++) {
    const answered = call(waiting.url, waitingCall(binding, after)).then(({ body }) => ({
      at: performance.now(),
      body,
    }));
    // It waits by then; the event comes at any time between two looks at the database.
    await setTimeout(50 + Math.random() * 60);
    await call(recording.url, callOf('soap11', 'RecordEvent'));
    const replied = performance.now();
    const { at, body } = await answered;
    milliseconds.push(Math.max(0, at - replied));
    after = lastSequence(body);
  }
  milliseconds.sort((a, b) => a - b);
  const at = (part) => Number(milliseconds[Math.ceil(EVENTS * part) - 1].toFixed(1));
  return {
    'the caller waits in, the event is recorded by': name,
    'p50 ms': at(0.5),
    'p99 ms': at(0.99),
    'max ms': at(1),
  };
}

async function cost() {
  const server = await service('cost', {}, '0');
  await call(server.url, callOf('soap11', 'RecordEvent'));
  const idle = await processorShare(server);
  const before = await server.residentMebibytes();
  const callers = await wait(server.url, CALLERS, NEVER);
  const after = await server.residentMebibytes();
  const share = await processorShare(server);
  await callers.leave();
  const kibibytes = ((after - before) * 1024) / CALLERS;
  console.log(
    `${CALLERS} waiting callers: ${(share * 100).toFixed(1)} % of a core (${(idle * 100).toFixed(1)} % without them), ` +
      `${kibibytes.toFixed(0)} KiB of memory each, connections included`,
  );

  await recording(server);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const measured = {};
    for (const name of round % 2 ? ['beside', 'alone'] : ['alone', 'beside']) {
      const waiting = name === 'beside' ? await wait(server.url, CALLERS, NEVER) : undefined;
      measured[name] = await recording(server);
      await waiting?.leave();
    }
    rounds.push(measured);
  }
  const compared = (figure) => {
    const [alone, beside] = ['alone', 'beside'].map((name) => median(rounds.map((round) => round[name][figure])));
    const ratios = rounds.map((round) => round.beside[figure] / round.alone[figure]);
    const each = ratios.map((ratio) => ratio.toFixed(2)).join(' ');
    return `${alone.toFixed(0)} alone, ${beside.toFixed(0)} beside them; median of the ratios ${median(ratios).toFixed(2)} of ${each}`;
  };
  console.log(`RecordEvent/s: ${compared('rate')}\nµs of processor for each: ${compared('microseconds')}`);

  const times = [];
  for (let round = 0; round < ROUNDS; round++) {
    const waiting = await wait(server.url, CALLERS, await newest(server.url));
    await call(server.url, callOf('soap11', 'RecordEvent'));
    const replied = performance.now();
    const answered = await Promise.all(waiting.answers);
    if (answered.some(({ body }) => lastSequence(body) === undefined))
      throw new Error('A caller was answered without the event.');
    times.push(Math.max(...answered.map(({ at }) => at)) - replied);
  }
  console.log(
    `One event for ${CALLERS} waiting callers: all are answered ${median(times).toFixed(0)} ms after it was recorded`,
  );
  await server.stop();
}

/** How many RecordEvents a second a server answers, and what each costs it. */
async function recording(server) {
  const before = await server.processorSeconds();
  const { rate, requests } = await load(server.url, callOf('soap11', 'RecordEvent'), { connections: 64 });
  return { rate, microseconds: (((await server.processorSeconds()) - before) / requests) * 1e6 };
}

/** Has so many callers wait, each on a connection of its own. */
async function wait(url, count, after) {
  const agent = new Agent({ maxSockets: Infinity });
  const answers = Array.from({ length: count }, () =>
    call(url, waitingCall('httpget', after, '60s'), { agent }).then(({ body }) => ({
      at: performance.now(),
      body,
    })),
  );
  const all = Promise.allSettled(answers);
  await waitingCallers(url, count);
  return {
    answers,
    async leave() {
      agent.destroy();
      await all;
      await waitingCallers(url, 0);
    },
  };
}

/** Resolves when so many callers wait. */
async function waitingCallers(url, count) {
  for (;;) {
    const metrics = await (await fetch(new URL('/metrics', url))).text();
    if (Number(/^webhook_calls_waiting (\d+)$/m.exec(metrics)?.[1]) === count) return;
    await setTimeout(50);
  }
}

/** The part of one core that a server takes, over five seconds. */
async function processorShare(server) {
  const seconds = 5;
  await setTimeout(1000);
  const before = await server.processorSeconds();
  await setTimeout(seconds * 1000);
  return ((await server.processorSeconds()) - before) / seconds;
}

function service(name, variables = {}, cores = BOTH_CORES) {
  return start(SERVICE, { cwd: folder, cores, variables: { EVENT_LOG: `sqlite:${name}.db`, ...variables } });
}

function waitingCall(binding, after, wait = '20s') {
  const { body, ...call } = callOf(binding, 'GetEvents');
  const parameters = `<after>${after}</after><wait>${wait}</wait>`;
  if (binding === 'httpget') return { ...call, path: `/GetEvents?after=${after}&wait=${wait}` };
  return { ...call, body: body.replace(/<GetEvents ([^>]*) \/>/, `<GetEvents $1>${parameters}</GetEvents>`) };
}

async function newest(url) {
  const { body } = await call(url, { method: 'GET', path: '/GetEvents?limit=1', headers: {} });
  return lastSequence(body);
}

function lastSequence(body) {
  return [...body.matchAll(/"sequence":"(\d+)"/g)].at(-1)?.[1];
}

/** Calls on a connection of its own. */
function call(url, { method, path, headers, body = '' }, { agent = false } = {}) {
  return new Promise((resolve, reject) => {
    const length = method === 'POST' ? { 'Content-Length': Buffer.byteLength(body) } : {};
    const outgoing = request(url + path, { method, headers: { ...headers, ...length }, agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      response.on('error', reject).on('end', () => {
        if (response.statusCode === 200) resolve({ body: text });
        else reject(new Error(`${response.statusCode}: ${text}`));
      });
    });
    outgoing.on('error', reject).end(body);
  });
}
