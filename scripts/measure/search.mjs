// Measures searching and counting in a large event log: node scripts/measure/search.mjs [EVENTS] [ROUNDS], by default 1,000,000
// events and 5 rounds. RecordEvent over HTTP runs without and with a search beside it, in turns, for a text that does not occur:
// each call goes on where the one before stopped. Then single calls are timed in a log that rests. Needs `npm run build` and wrk.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../../dist/app.js';
import { readConfig } from '../../dist/config/config.js';
import { SqliteEventLog } from '../../dist/log/sqlite/event-log.js';
import { callOf } from '../bench/calls.mjs';
import { median } from '../bench/median.mjs';
import { start } from '../bench/process.mjs';
import { load, requireWrk } from '../bench/wrk.mjs';
import { fillLog } from './fill-log.mjs';

const NOWHERE = 'a text that does not occur';
const HOUR = 3_600_000;

if (process.send === undefined) await measure(Number(process.argv[2] ?? 1_000_000), Number(process.argv[3] ?? 5));
else await serve(process.argv[2]);

async function measure(events, rounds) {
  await requireWrk();
  const folder = await mkdtemp(join(tmpdir(), 'webhook-search-'));
  const file = join(folder, 'events.db');
  await fillLog(file, events, 200);
  const server = await start(import.meta.filename, { argument: [file], cwd: folder });
  await load(server.url, callOf('soap11', 'RecordEvent'), { connections: 64 });
  for (const connections of [1, 8, 64]) await beside(server, connections, rounds);
  await server.stop();
  await single(file);
  await rm(folder, { recursive: true });
}

/** RecordEvent without and with a search beside it. */
async function beside(server, connections, rounds) {
  const call = callOf('soap11', 'RecordEvent');
  const alone = [];
  const searching = [];
  let said;
  for (let round = 0; round < rounds; round++) {
    alone.push(await load(server.url, call, { connections, seconds: 2 }));
    await ask(server, 'search');
    searching.push(await load(server.url, call, { connections, seconds: 2 }));
    said = await ask(server, 'stop');
  }
  const row = (what, results) => ({
    what,
    'requests/s': Math.round(median(results.map(({ rate }) => rate))),
    'p50 ms': median(results.map(({ p50 }) => p50)).toFixed(2),
    'p99 ms': median(results.map(({ p99 }) => p99)).toFixed(2),
    errors: results.reduce((sum, { errors }) => sum + errors, 0),
  });
  console.log(`RecordEvent, ${connections} connections. ${said}`);
  console.table([row('alone', alone), row('beside a search', searching)]);
  const ratios = (name) => searching.map((result, i) => result[name] / alone[i][name]);
  const ratio = (name) => `${name} ${median(ratios(name)).toFixed(2)}`;
  console.log(`Ratios, medians of the rounds: ${ratio('rate')}, ${ratio('p50')}, ${ratio('p99')}`);
}

async function ask({ child }, what) {
  child.send(what);
  const [answer] = await once(child, 'message');
  return answer;
}

/** Single calls on a log that rests. */
async function single(file) {
  const log = await SqliteEventLog.open({ file });
  const times = async (what, call) => {
    const taken = [];
    let result;
    for (let i = 0; i < 11; i++) {
      const begun = performance.now();
      result = await call();
      taken.push(performance.now() - begun);
    }
    return { what, 'median ms': median(taken).toFixed(1), 'longest ms': Math.max(...taken).toFixed(1), result };
  };
  const newest = (await log.search({ limit: 1 })).reached.recordedAt;
  const middle = BigInt(Math.floor((await log.stats()).events / 2));
  const searched = async (query) => {
    const { events, reached } = await log.search({ limit: 50, ...query });
    const from = query.before ?? BigInt((await log.search({ limit: 1 })).reached.position) + 1n;
    return `${events.length} found, ${reached === undefined ? 0 : from - reached.position} positions`;
  };
  const rates = (span) => async () => {
    const spans = await log.rates({ until: newest + 1, span, spans: 60 });
    const sum = spans.reduce((all, { events }) => all + events, 0);
    return `${sum} counted, ${spans.filter(({ exact }) => !exact).length} spans estimated`;
  };
  console.table([
    await times('first page', () => searched({})),
    await times('a page in the middle', () => searched({ before: middle })),
    await times('a text that does not occur', () => searched({ text: NOWHERE })),
    await times('a binding that does not occur', () => searched({ binding: 'soap12' })),
    await times('a type, newest', () => searched({ type: 'webhook.recorded' })),
    await times('a second of time', () => searched({ from: newest - 20_000, to: newest - 19_000 })),
    await times('one event by its position', async () => (await log.scan({ after: middle, limit: 1 })).length),
    await times('the event before it', () =>
      log.search({ before: middle, limit: 1 }).then(({ events }) => events.length),
    ),
    await times('60 minutes', rates(HOUR / 60)),
    await times('60 hours', rates(HOUR)),
    await times('60 days', rates(24 * HOUR)),
  ]);
  await wholeLog(log);
  await log.close();
}

/** A search through the whole log, call after call. */
async function wholeLog(log) {
  const begun = performance.now();
  const taken = [];
  let before;
  for (let more = true; more;) {
    const started = performance.now();
    const result = await log.search({ text: NOWHERE, limit: 50, before });
    taken.push(performance.now() - started);
    ({ more } = result);
    before = result.reached.position;
  }
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  const longest = Math.max(...taken).toFixed(0);
  console.log(`The whole log: ${seconds} s in ${taken.length} calls, the longest ${longest} ms`);
}

/** A service that searches when it is told to. */
async function serve(file) {
  const log = await SqliteEventLog.open({ file });
  const app = await startApp(readConfig({ PORT: '0' }), log);
  console.log(app.url);
  let running = false;
  let finished;
  const search = async () => {
    let positions = 0n;
    let calls = 0;
    let before;
    const begun = performance.now();
    for (; running; calls++) {
      const { reached, more } = await log.search({ text: NOWHERE, limit: 50, before });
      positions += (before ?? reached.position) - reached.position;
      before = more ? reached.position : undefined;
    }
    return `The search looked at ${positions} events in ${calls} calls, ${((performance.now() - begun) / 1000).toFixed(1)} s.`;
  };
  process.on('message', async (what) => {
    running = what === 'search';
    if (running) finished = search();
    process.send(running ? 'searching' : await finished);
  });
  process.on('SIGTERM', async () => {
    await app.close();
    await log.close();
    process.exit();
  });
}
