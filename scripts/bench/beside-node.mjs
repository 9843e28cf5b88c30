// The service beside what Node can do at all: a bare server, a bare router, and node-soap's own server.
import { BINDINGS, callOf, helloWorldAnswered } from './calls.mjs';
import { LIMIT, Measurements } from './measurements.mjs';
import { median } from './median.mjs';
import { SERVERS, SERVICE, start } from './process.mjs';
import { load as warmUp } from './wrk.mjs';

const SOAP = ['soap11', 'soap12'];
const THIS = 'this service';

/** Name, call and connections of each load. */
const HELLO_WORLD = [
  ...BINDINGS.map((binding) => [`HelloWorld ${binding}`, callOf(binding, 'HelloWorld'), 32]),
  ...SOAP.map((binding) => {
    const call = callOf(binding, 'HelloWorld', { different: true });
    return [`HelloWorld ${binding}, no two envelopes the same`, call, 32];
  }),
];
/** The load under which the others are measured too. */
const FIRST = HELLO_WORLD[0];
const OTHERS = [
  ['bare express.Router()', 'router'],
  ['node-soap as in its README', 'node-soap'],
];
const RECORD_EVENT = [
  ...BINDINGS.map((binding) => [`RecordEvent ${binding}, 64 connections`, callOf(binding, 'RecordEvent'), 64]),
  ...SOAP.map((binding) => {
    const call = callOf(binding, 'RecordEvent', { payload: true });
    return [`RecordEvent ${binding} with a payload, 64 connections`, call, 64];
  }),
];
const GET_EVENTS = ['soap11', 'httpget'].map((binding) => [`GetEvents ${binding}`, callOf(binding, 'GetEvents'), 32]);

/** Runs the rounds and resolves to the report, in Markdown. */
export async function besideNode({ folder, rounds, seconds }) {
  const measurements = new Measurements(seconds);
  const figures = { ready: [], resident: [], delay: [], maxDelay: [] };
  for (let round = 0; round < rounds; round++) {
    await oneRound(measurements, figures, { folder, round, seconds });
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  const [first] = FIRST;
  const middle = (name) => median(figures[name]).toFixed(1);
  return [
    measurements.table('', [
      ...[LIMIT, ...OTHERS.map(([name]) => name)].map((name) => [name, first, name]),
      ...[...HELLO_WORLD, ...RECORD_EVENT, ...GET_EVENTS].map(([name]) => [name, name, THIS]),
    ]),
    `Start to ready ${middle('ready')} ms; resident ${middle('resident')} MiB at the end; ` +
      `event-loop delay under RecordEvent p99 ${middle('delay')} ms, longest ${middle('maxDelay')} ms.`,
  ].join('\n\n');
}

async function oneRound(measurements, figures, { folder, round, seconds }) {
  const limit = await start(SERVERS, { argument: ['limit'], cwd: folder });
  const service = await start(SERVICE, {
    cwd: folder,
    variables: { EVENT_LOG: `sqlite:${round}.db` },
    preload: ['loop-delay.cjs'],
  });
  figures.ready.push(service.readyAfter);

  const onLimit = ([name, call, connections]) =>
    measurements.measure(name, LIMIT, limit, helloWorldAnswered(call), connections);
  const others = async () => {
    const [load, call] = FIRST;
    for (const [name, argument] of OTHERS) {
      const server = await start(SERVERS, { argument: [argument], cwd: folder });
      await measurements.measure(load, name, server, call);
      await server.stop();
    }
  };
  const onService = ([name, call, connections]) => measurements.measure(name, THIS, service, call, connections);
  for (const each of HELLO_WORLD) {
    await onLimit(each);
    if (each === FIRST) await others();
    await onService(each);
  }
  // Two threads share the core here, and take longer until they have compiled what they run.
  for (const [, call, connections] of RECORD_EVENT) await warmUp(service.url, call, { connections, seconds });
  for (const each of RECORD_EVENT) {
    await onLimit(each);
    service.watchLoopDelay();
    await onService(each);
    const { p99, max } = await service.loopDelay();
    figures.delay.push(p99);
    figures.maxDelay.push(max);
  }
  for (const each of GET_EVENTS) {
    await onLimit(each);
    await onService(each);
  }
  figures.resident.push(await service.residentMebibytes());
  await service.stop();
  await limit.stop();
}
