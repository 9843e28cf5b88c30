// The service beside other SOAP servers, and beside servers that only write bytes.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { callOf, helloWorldAnswered } from './calls.mjs';
import { table } from './markdown.mjs';
import { LIMIT, Measurements } from './measurements.mjs';
import { median } from './median.mjs';
import { build, PEERS } from './peers/peers.mjs';
import { launch, SERVERS, SERVICE } from './process.mjs';
import { check } from './wrk.mjs';

const { version: nodeSoap } = createRequire(import.meta.url)('soap/package.json');

const LOADS = [
  ['HelloWorld', callOf('soap11', 'HelloWorld')],
  ['HelloWorld, every envelope different', callOf('soap11', 'HelloWorld', { different: true })],
  ['RecordEvent, every payload different', callOf('soap11', 'RecordEvent', { payload: true })],
];

/** Runs the rounds and resolves to the report, in Markdown: a table for each load, and one of the servers. */
export async function besidePeers({ folder, rounds, seconds }) {
  const { servers, skipped } = await contenders(folder);
  const measurements = new Measurements(seconds);
  await fetch('data:,'); // Loads what the first call would load.
  for (let round = 0; round < rounds; round++) {
    await oneRound(measurements, servers, { folder, round });
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  const rows = servers.map(({ name, version, firstAnswer, resident }) => [
    name,
    version,
    median(firstAnswer).toFixed(0),
    median(resident).toFixed(0),
  ]);
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
    {
      name: LIMIT,
      command: [process.execPath, SERVERS, 'limit'],
      version: node,
      fixed: true,
    },
    {
      name: 'this service',
      command: [process.execPath, SERVICE],
      version: node,
    },
    {
      name: 'node-soap',
      command: [process.execPath, SERVERS, 'node-soap'],
      version: `soap ${nodeSoap}, ${node}`,
    },
  ];
  const skipped = [];
  for (const [index, peer] of PEERS.entries()) {
    process.stderr.write(`building ${peer.name}\n`);
    const built = await build(peer, join(folder, `peer-${index}`));
    if (built.missing === undefined) servers.push({ ...peer, ...built });
    else skipped.push(`${peer.name} is skipped: ${built.missing}.`);
  }
  return { servers: servers.map((server) => ({ ...server, firstAnswer: [], resident: [] })), skipped };
}

async function oneRound(measurements, servers, { folder, round }) {
  const running = [];
  for (const server of servers) {
    const { command, variables } = server;
    const started = await launch(command, {
      cwd: folder,
      variables: { EVENT_LOG: `sqlite:${round}.db`, ...variables },
    });
    await check(started.url, callFor(server, LOADS[0][1]));
    server.firstAnswer.push(performance.now() - started.begun);
    running.push(started);
  }
  for (const [load, call] of LOADS) {
    for (const [index, server] of servers.entries()) {
      await measurements.measure(load, server.name, running[index], callFor(server, call));
    }
  }
  for (const [index, { resident }] of servers.entries()) {
    resident.push(await running[index].residentMebibytes());
    await running[index].stop();
  }
}

/** What a server that always answers the same is to answer to a call. */
const callFor = ({ fixed }, call) => (fixed ? helloWorldAnswered(call) : call);
