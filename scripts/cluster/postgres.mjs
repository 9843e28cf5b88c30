// Takes away the database of two instances under load from 50 connections over all four bindings, ROUNDS times (3): kills the primary
// and restarts it, then kills it and promotes its synchronous standby. Checks that every answered event is in the log exactly once
// and that a reader that goes on `after` the last one missed none: node scripts/cluster/postgres.mjs. Needs `npm run build` and PostgreSQL.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { ask, BINDINGS, callOf, everyEvent, freePort, retried, run, SERVICE } from '../support.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 3);
const CONNECTIONS = 50;
const PAUSE = 20;
/** How long the calls go on before, between and after the failures, in milliseconds. */
const CALM = Number(process.env.CALM ?? 2000);
const PROGRAMS = '/usr/lib/postgresql';
/** PostgreSQL refuses to run as root. */
const user = process.getuid() === 0 ? Number(execFileSync('id', ['-u', 'nobody'])) : undefined;
/** No other server that gets the port of a killed one has a database of this name. */
const DATABASE = `run-${randomUUID()}`;
const release = (await readdir(PROGRAMS)).sort((one, other) => other - one)[0];

let ok = true;
for (let round = 1; round <= ROUNDS; round++) ok = (await play(round)) && ok;
console.log(ok ? 'passed' : 'FAILED');
process.exit(ok ? 0 : 1);

function postgres(program, args) {
  return run([join(PROGRAMS, release, 'bin', program), ...args], { user, cwd: '/' });
}

async function done(program, args) {
  const { ended, output } = postgres(program, args);
  if ((await ended) !== 0) throw new Error(`${program}: ${output()}`);
}

async function start(data, port, ...settings) {
  const given = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${data}`, ...settings];
  const server = postgres('postgres', ['-D', data, ...given.flatMap((setting) => ['-c', setting])]);
  await server.prints(/database system is ready to accept/);
  return server;
}

async function sql(port, text) {
  const client = new Client({ host: '127.0.0.1', port, user: 'webhook', database: 'postgres' });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function play(round) {
  const folder = await mkdtemp(join(tmpdir(), 'webhook-postgres-'));
  await chmod(folder, 0o777);
  const [first, second] = [join(folder, 'first'), join(folder, 'second')];
  const ports = await Promise.all([0, 1].map(() => freePort()));
  const replicated = ['synchronous_standby_names=*', 'max_connections=60'];
  await done('initdb', ['-D', first, '-U', 'webhook', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '-N']);
  let primary = await start(first, ports[0], 'max_connections=60');
  await done('pg_basebackup', [...`-h 127.0.0.1 -p ${ports[0]} -U webhook -R -X stream -D`.split(' '), second]);
  await sql(ports[0], `CREATE DATABASE "${DATABASE}"`);
  const standby = await start(second, ports[1], 'max_connections=60', 'wal_retrieve_retry_interval=500ms');
  await primary.end('SIGINT');
  primary = await start(first, ports[0], ...replicated);
  const EVENT_LOG = `postgres://webhook@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/${DATABASE}?sslmode=disable`;
  const instances = [];
  for (let i = 0; i < 2; i++) {
    const instance = run([process.execPath, SERVICE], {
      cwd: folder,
      variables: { EVENT_LOG, PORT: '0', LOG_LEVEL: 'info' },
    });
    const [, url] = await instance.prints(/(http:\/\/127\.0\.0\.1:\d+\/[^\s"]*asmx)/);
    instances.push({ ...instance, url });
  }
  const answered = [];
  const successes = [];
  let failed = 0;
  let stopping = false;
  let isLoadOver = false;
  const caller = async (_value, number) => {
    for (let i = 0; !stopping; i++, await setTimeout(PAUSE)) {
      const { path, ...request } = callOf(BINDINGS[(number + i) % BINDINGS.length], 'RecordEvent', {
        payload: `<m>${number}-${i}</m>`,
        form: `m=${number}-${i}`,
      });
      const { url } = instances[number % 2];
      const { status, body } = await ask(url + path, request).catch(() => ({}));
      const id = status === 200 ? />([\da-f-]{36})</.exec(body)?.[1] : undefined;
      if (id === undefined) failed++;
      else {
        answered.push({ id, url, time: new Date().toISOString() });
        successes.push(performance.now());
      }
    }
  };
  const followed = new Set();
  const read = async (path, headers) => {
    for (;;) {
      const { status, body } = await ask(instances[1].url + path, { headers }).catch(() => ({}));
      if (status === 200) return body;
      await setTimeout(100);
    }
  };
  const follow = async () => {
    for (let after = '0'; ;) {
      const isLast = isLoadOver;
      const events = JSON.parse(await read(`/GetEvents?after=${after}`, { Accept: 'application/json' }));
      for (const { id } of events) followed.add(id);
      after = events.at(-1)?.sequence ?? after;
      if (events.length === 0 && isLast) return;
      if (events.length === 0) await setTimeout(20);
    }
  };
  /** Takes the database away, and says how long no call was answered and for how much of it the database was away. */
  const pauseOf = async (failure) => {
    const began = performance.now();
    await failure();
    const away = performance.now() - began;
    await setTimeout(2 * CALM);
    const times = [began, ...successes.filter((time) => time > began), performance.now()];
    const pause = Math.max(...times.slice(1).map((time, i) => time - times[i]));
    return `${Math.round(pause)} ms, ${Math.round(away)} of them without a database`;
  };
  const load = Array.from({ length: CONNECTIONS }, caller);
  const following = follow();
  await setTimeout(CALM);
  const restarted = await pauseOf(async () => {
    await primary.end('SIGKILL');
    await retried(async () => (primary = await start(first, ports[0], ...replicated)));
  });
  const promoted = await pauseOf(async () => {
    await primary.end('SIGKILL');
    await sql(ports[1], 'SELECT pg_promote()');
  });
  stopping = true;
  await Promise.all(load);
  isLoadOver = true;
  await following;
  const log = [];
  for await (const { id } of everyEvent(read)) log.push(id);
  const times = new Map();
  for (const id of log) times.set(id, (times.get(id) ?? 0) + 1);
  const lost = answered.filter(({ id }) => !times.has(id));
  const doubled = answered.filter(({ id }) => times.get(id) > 1).length;
  const missed = log.filter((id) => !followed.has(id)).length;
  console.log(
    `Round ${round}: ${answered.length} events answered, ${failed} calls failed, ${log.length} in the log; ${lost.length} lost, ${doubled} doubled, ` +
      `${missed} missed by the reader; longest pause after the crash ${restarted}; after the promotion ${promoted}.`,
  );
  for (const { id, url, time } of lost) console.log(`lost: ${id}, which ${url} answered at ${time}`);
  await Promise.all(instances.map((instance) => instance.end()));
  await standby.end('SIGINT');
  await rm(folder, { recursive: true, force: true });
  return answered.length > 0 && lost.length + doubled + missed === 0;
}
