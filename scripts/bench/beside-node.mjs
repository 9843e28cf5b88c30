// The service beside what Node can do at all: a bare server, a bare router, and node-soap's own server.
import { BINDINGS, callOf, helloWorldAnswered, ORDER } from './calls.mjs';
import { LIMIT, Measurements, median } from './measurements.mjs';
import { SERVERS, start } from './process.mjs';
import { SERVICE } from '../support.mjs';

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
    const call = callOf(binding, 'RecordEvent', { payload: ORDER });
    return [`RecordEvent ${binding} with a payload, 64 connections`, call, 64];
  }),
];
const GET_EVENTS = ['soap11', 'httpget'].map((binding) => [`GetEvents ${binding}`, callOf(binding, 'GetEvents'), 32]);

/** Runs the rounds and resolves to the report, in Markdown. */
export async function besideNode({ folder, rounds, seconds }) {
  const measurements = new Measurements(seconds);
  const servers = {
    limit: await start(SERVERS, { argument: ['limit'], cwd: folder }),
    service: await start(SERVICE, {
      cwd: folder,
      variables: { EVENT_LOG: 'sqlite:events.db' },
      preload: ['loop-delay.cjs'],
    }),
    others: [],
  };
  for (const [, argument] of OTHERS) servers.others.push(await start(SERVERS, { argument: [argument], cwd: folder }));
  const delays = [];
  for (let round = 0; round < rounds; round++) {
    delays.push(...(await oneRound(measurements, servers)));
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  const resident = await servers.service.residentMebibytes();
  for (const server of [servers.limit, servers.service, ...servers.others]) await server.stop();
  const [first] = FIRST;
  const middle = (name) => median(delays.map((delay) => delay[name])).toFixed(1);
  return [
    measurements.table('', [
      ...[LIMIT, ...OTHERS.map(([name]) => name)].map((name) => [name, first, name]),
      ...[...HELLO_WORLD, ...RECORD_EVENT, ...GET_EVENTS].map(([name]) => [name, name, THIS]),
    ]),
    `Resident memory of the service at the end ${resident.toFixed(0)} MiB; event-loop delay under RecordEvent p99 ` +
      `${middle('p99')} ms, longest ${middle('max')} ms.`,
  ].join('\n\n');
}

/** Measures every server under its loads. Resolves to the event-loop delays of the service under RecordEvent. */
async function oneRound(measurements, { limit, service, others }) {
  const onLimit = ([name, call, connections]) =>
    measurements.measure(name, LIMIT, limit, helloWorldAnswered(call), connections);
  const onService = ([name, call, connections]) => measurements.measure(name, THIS, service, call, connections);
  const onBoth = async (load) => {
    await onLimit(load);
    await onService(load);
  };
  for (const [index, [name]] of OTHERS.entries()) await measurements.measure(FIRST[0], name, others[index], FIRST[1]);
  for (const load of HELLO_WORLD) await onBoth(load);
  const delays = [];
  for (const load of RECORD_EVENT) {
    await onLimit(load);
    service.watchLoopDelay();
    await onService(load);
    delays.push(await service.loopDelay());
  }
  for (const load of GET_EVENTS) await onBoth(load);
  return delays;
}
