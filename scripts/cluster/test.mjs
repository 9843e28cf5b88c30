// Takes away the parts of a cluster one after another, under load from 50 connections over all four bindings, and checks
// that every answered event is in the log exactly once: node scripts/cluster/test.mjs. Needs `npm run build`, nats-server
// and nginx.
import { setTimeout } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

import { ask, BINDINGS, callOf, everyEvent, retried } from '../support.mjs';
import { startCluster } from './start.mjs';

const CONNECTIONS = 50;
/** Pause of a caller between two events, in milliseconds, so that the machine is not saturated. */
const PAUSE = 20;
const BEFORE = 2000;
/** How long the calls go on once both streams have a leader, in milliseconds. */
const AFTER = 6000;
const STREAMS = ['EVENTS', 'EVENTS_KEYS'];
/** Longest time without a successful call that is accepted while both streams have a leader, in milliseconds. */
const LIMIT = 5000;

const cluster = await startCluster();
const nats = await connect({ ...cluster.nats.address, maxReconnectAttempts: -1 });
const { streams } = await jetstreamManager(nats);
let ok;
try {
  ok = await run();
} finally {
  await nats.close();
  await cluster.stop();
}
console.log(ok ? 'passed' : 'FAILED');
process.exit(ok ? 0 : 1);

async function run() {
  const answered = new Map();
  const successes = [];
  let failed = 0;
  let stopping = false;
  const caller = async (_value, number) => {
    for (let i = 0; !stopping; i++) {
      const mark = `m${number}-${i}-`;
      // Every other caller repeats each event under one key until it is answered.
      const key = number % 2 === 0 ? { 'Idempotency-Key': mark } : {};
      for (;;) {
        const marked = { payload: `<mark>${mark}</mark>`, form: `mark=${mark}` };
        const { path, headers, ...request } = callOf(BINDINGS[(number + i) % BINDINGS.length], 'RecordEvent', marked);
        const id = await record(path, { ...request, headers: { ...headers, ...key } });
        if (id === undefined) failed++;
        else {
          successes.push(performance.now());
          answered.set(mark, { id, time: new Date().toISOString() });
        }
        await setTimeout(PAUSE);
        if (id !== undefined || number % 2 !== 0) break;
      }
    }
  };
  const load = Array.from({ length: CONNECTIONS }, caller);

  const rows = [];
  /** Harms a part that a function chooses, calls on meanwhile, and mends it. */
  const during = async (what, choose, harm, mend) => {
    await setTimeout(BEFORE);
    const started = performance.now();
    const failedBefore = failed;
    const part = await choose();
    await harm(part.process);
    const led = await ledByOneOf(cluster.nats.servers.filter((server) => server !== part));
    await setTimeout(AFTER);
    const ended = performance.now();
    const ready = await Promise.all(cluster.instances.map((instance) => status(instance)));
    await mend(part);
    await healthy();
    rows.push({
      what,
      target: part.name ?? 'the first',
      's until led': Math.round(led - started) / 1000,
      'longest time without a successful call in s': longestGap(successes, started, ended) / 1000,
      'of it while led': longestGap(successes, led, ended) / 1000,
      answered: successes.filter((time) => time > started && time < ended).length,
      failed: failed - failedBefore,
      'readyz after': ready.join(' '),
    });
  };
  const kill = (process) => process.end('SIGKILL');
  const restart = (part) => part.start();

  await during('SIGKILL the leader', leader, kill, restart);
  await during('SIGKILL a follower', follower, kill, restart);
  await during('SIGKILL an instance', () => cluster.instances[0], kill, restart);
  await during(
    'SIGSTOP the leader',
    leader,
    ({ child }) => child.kill('SIGSTOP'),
    ({ process: { child } }) => child.kill('SIGCONT'),
  );
  stopping = true;
  await Promise.all(load);
  console.table(rows);

  const log = [];
  for await (const event of everyEvent(read)) log.push(event);
  const times = grouped(log, ({ id }) => id);
  const marks = grouped(log, markOf);
  const lost = [...answered.values()].filter(({ id }) => !times.has(id));
  const doubled = [...answered.values()].filter(({ id }) => (times.get(id)?.length ?? 0) > 1).length;
  const keyed = [...answered].filter(([mark]) => isKeyed(mark));
  const keyedTwice = keyed.filter(
    ([mark, { id }]) => marks.get(mark)?.length !== 1 || marks.get(mark)[0].id !== id,
  ).length;
  console.log(`${answered.size} events were answered and ${failed} calls failed; ${log.length} events are in the log.`);
  console.log(`Of the answered ids ${lost.length} are missing from the log and ${doubled} are in it more than once.`);
  console.log(
    `Of the ${keyed.length} keys that were repeated until answered ${keyedTwice} do not have exactly one event.`,
  );
  for (const { id, time } of lost) console.log(`lost: ${id}, which ${cluster.url} answered at ${time}`);
  const gap = Math.max(...rows.map((row) => row['of it while led'])) * 1000;
  return lost.length + doubled + keyedTwice === 0 && keyed.length > 0 && gap < LIMIT;
}

function isKeyed(mark) {
  return Number(/^m(\d+)-/.exec(mark)[1]) % 2 === 0;
}

function markOf({ data }) {
  return /m\d+-\d+-/.exec(JSON.stringify(data ?? ''))?.[0];
}

function grouped(items, key) {
  const groups = new Map();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}

/** The longest time without a success between two moments. */
function longestGap(times, from, to) {
  const within = [from, ...times.filter((time) => time > from && time < to), to];
  return Math.round(Math.max(...within.slice(1).map((time, i) => time - within[i])));
}

async function leader(stream = 'EVENTS') {
  const { cluster: placement } = await streams.info(stream);
  return cluster.nats.servers.find(({ name }) => name === placement.leader);
}

/** Waits until one of these servers leads each stream, and resolves to that moment. How long an election takes is up to nats-server. */
function ledByOneOf(servers) {
  return retried(async () => {
    const told = await Promise.all(servers.map(streamsOf));
    const isLed = (stream) => servers.some(({ name }, i) => told[i].get(stream)?.cluster?.leader === name);
    if (!STREAMS.every(isLed)) throw new Error('no other server leads the streams');
    return performance.now();
  }, 60_000);
}

async function follower() {
  const { name } = await leader();
  return cluster.nats.servers.find((server) => server.name !== name);
}

/** Resolves once every replica of both streams has caught up and every instance is ready. */
function healthy() {
  return retried(async () => {
    const infos = await Promise.all(STREAMS.map((stream) => streams.info(stream).catch(() => undefined)));
    const current = infos.every(
      (info) => info?.cluster.replicas?.length === 2 && info.cluster.replicas.every((replica) => replica.current),
    );
    const ready = await Promise.all(cluster.instances.map((instance) => status(instance)));
    if (current && ready.every((code) => code === 200)) return;
    const placements = JSON.stringify(infos.map((info) => info?.cluster));
    throw new Error(`the cluster did not recover within a minute: ${ready.join(' ')} ${placements}`);
  }, 60_000);
}

/** What a server itself tells of each stream, by its name. */
async function streamsOf({ monitor }) {
  const answer = await fetch(`http://127.0.0.1:${monitor}/jsz?accounts=true&streams=true`);
  const [account] = (await answer.json()).account_details ?? [];
  return new Map((account?.stream_detail ?? []).map((detail) => [detail.name, detail]));
}

function status({ url }) {
  return fetch(new URL('/readyz', url)).then(
    (answer) => answer.text().then(() => answer.status),
    () => 'none',
  );
}

/** Records an event and resolves to its id, if the call was answered with one. */
async function record(path, request) {
  const { status, body } = await ask(cluster.url + path, request).catch(() => ({}));
  return status === 200 ? />([\da-f-]{36})</.exec(body)?.[1] : undefined;
}

/** Makes a reading call, up to five times until it is answered. */
async function read(path, headers) {
  for (let tries = 1; ; tries++) {
    const { status, body } = await ask(cluster.url + path, { headers }).catch(({ message }) => ({ body: message }));
    if (status === 200) return body;
    console.log(`Reading the log: ${status} ${body}`);
    if (tries === 5) throw new Error(body);
  }
}
