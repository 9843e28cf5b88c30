// Measures what many who follow the events cost: node scripts/measure/followers.mjs [FOLLOWERS] [EVENTS A SECOND] [BYTES] [SECONDS],
// by default 900, 50, 2000 and 20. Prints the processor time and the most memory (VmHWM) of the service, and checks that each follower
// was given every event once, in order. SERVICE=path/to/dist/main.js measures another build. Linux; needs `npm run build`.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { peakMemory, processorSeconds, startService, statusOf } from '../support.mjs';

if (process.send === undefined) await measure();
else process.once('message', follow);

async function measure() {
  const [followers = 900, rate = 50, bytes = 2000, seconds = 20] = process.argv.slice(2).map(Number);
  const cwd = await mkdtemp(join(tmpdir(), 'webhook-followers-'));
  const service = await startService(cwd);
  const { url } = service;
  const { pid } = service.child;
  const readers = fork(fileURLToPath(import.meta.url), [], { execArgv: [] });
  readers.send({ url, followers });
  await once(readers, 'message');
  const agent = new Agent({ keepAlive: true });
  const begun = await processorSeconds(pid);
  const start = performance.now();
  const recorded = [];
  for (let i = 0; i < rate * seconds; i++) {
    recorded.push(statusOf(`${url}/RecordEvent`, { body: 'x'.repeat(bytes), agent }));
    await setTimeout(start + (1000 * (i + 1)) / rate - performance.now());
  }
  const refused = (await Promise.all(recorded)).filter((status) => status !== 200).length;
  readers.send({ last: recorded.length - refused });
  const [outcome] = await once(readers, 'message');
  const took = (performance.now() - start) / 1000;
  const processor = (await processorSeconds(pid)) - begun;
  const peak = await peakMemory(service);
  const cost = `${took.toFixed(1)} s, ${processor.toFixed(1)} s of processor time, ${peak}`;
  console.log(`${recorded.length} events (${refused} refused) to ${followers} followers: ${cost}, ${outcome}`);
  readers.kill();
  await service.end('SIGKILL');
  await rm(cwd, { recursive: true });
}

/** Follows over many connections, each opened anew where it ends, until all have the last event. */
async function follow({ url, followers }) {
  const { hostname: host, port, pathname } = new URL(url);
  const states = Array.from({ length: followers }, () => ({ last: 0, wrong: 0, ends: 0 }));
  let answered = 0;
  const open = (state) => {
    let rest = '';
    const socket = connect(Number(port), host);
    socket.write(`GET ${pathname}?events=export&wait=600&after=${state.last} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    socket.once('data', () => answered++);
    socket.on('data', (bytes) => {
      rest += bytes.latin1Slice();
      const end = rest.lastIndexOf('\n');
      for (const [, sequence] of rest.slice(0, end + 1).matchAll(/"sequence":"(\d{20})"/g)) {
        if (Number(sequence) !== ++state.last) state.wrong++;
      }
      rest = rest.slice(end + 1);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      state.ends++;
      globalThis.setTimeout(open, 100, state);
    });
  };
  for (const state of states) {
    open(state);
    await setTimeout(2);
  }
  while (answered < followers) await setTimeout(20);
  process.send('follow');
  const [{ last }] = await once(process, 'message');
  for (const until = Date.now() + 60_000; states.some((state) => state.last < last) && Date.now() < until;)
    await setTimeout(20);
  const sum = (of) => states.reduce((total, state) => total + of(state), 0);
  const missed = sum((state) => last - state.last);
  process.send(
    `${missed} missed, ${sum(({ wrong }) => wrong)} out of order, ${sum(({ ends }) => ends)} connections ended`,
  );
}
