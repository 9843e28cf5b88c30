// The service beside other SOAP servers, and beside servers that only write bytes.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { callOf, helloWorldAnswered, ORDER } from './calls.mjs';
import { LIMIT, Measurements, median, table } from './measurements.mjs';
import { build, PEERS } from './peers/peers.mjs';
import { launch, SERVERS } from './process.mjs';
import { SERVICE } from '../support.mjs';
import { check } from './wrk.mjs';

const { version: nodeSoap } = createRequire(import.meta.url)('soap/package.json');

const LOADS = [
  ['HelloWorld', callOf('soap11', 'HelloWorld')],
  ['HelloWorld, every envelope different', callOf('soap11', 'HelloWorld', { different: true })],
  ['RecordEvent, every payload different', callOf('soap11', 'RecordEvent', { payload: ORDER })],
];

/** Runs the rounds and resolves to the report, in Markdown: a table for each load, and one of the servers. */
export async function besidePeers({ folder, rounds, seconds }) {
  const { servers, skipped } = await contenders(folder);
  const measurements = new Measurements(seconds);
  await fetch('data:,'); // Loads what the first call would load.
  const firstAnswers = await startEach(servers, { folder, rounds });
  const running = [];
  for (const server of servers) running.push(await startIn(folder, server, 'loads'));
  for (let round = 0; round < rounds; round++) {
    for (const [load, call] of LOADS) {
      for (const [index, server] of servers.entries()) {
        await measurements.measure(load, server.name, running[index], callFor(server, call));
      }
    }
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  const rows = [];
  for (const [index, { name, version }] of servers.entries()) {
    const resident = await running[index].residentMebibytes();
    rows.push([name, version, median(firstAnswers[index]).toFixed(0), resident.toFixed(0)]);
    await running[index].stop();
  }
  return [
    ...LOADS.map(([load]) =>
      measurements.table(
        load,
        servers.map(({ name }) => [name, load, name]),
      ),
    ),
    table([['', 'version', 'first answer ms', 'MiB'], ...rows], 2),
    ...skipped,
  ].join('\n\n');
}

async function contenders(folder) {
  const node = `Node ${process.versions.node}`;
  const servers = [
    { name: LIMIT, command: [process.execPath, SERVERS, 'limit'], version: node, fixed: true },
    { name: 'this service', command: [process.execPath, SERVICE], version: node },
    { name: 'node-soap', command: [process.execPath, SERVERS, 'node-soap'], version: `soap ${nodeSoap}, ${node}` },
  ];
  const skipped = [];
  for (const [index, peer] of PEERS.entries()) {
    process.stderr.write(`building ${peer.name}\n`);
    const built = await build(peer, join(folder, `peer-${index}`));
    if (built.missing === undefined) servers.push({ ...peer, ...built });
    else skipped.push(`${peer.name} is skipped: ${built.missing}.`);
  }
  return { servers, skipped };
}

/** Starts each server in each round and stops it. Resolves to the milliseconds until each first answer, by server. */
async function startEach(servers, { folder, rounds }) {
  const firstAnswers = servers.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, server] of servers.entries()) {
      const started = await startIn(folder, server, `start-${round}`);
      await check(started.url, callFor(server, LOADS[0][1]));
      firstAnswers[index].push(performance.now() - started.begun);
      await started.stop();
    }
  }
  return firstAnswers;
}

function startIn(folder, { command, variables }, log) {
  return launch(command, { cwd: folder, variables: { EVENT_LOG: `sqlite:${log}.db`, ...variables } });
}

/** What a server that always answers the same is to answer to a call. */
const callFor = ({ fixed }, call) => (fixed ? helloWorldAnswered(call) : call);
