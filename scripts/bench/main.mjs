// Compares the service with what Node can do at all, or with --peers with other SOAP servers:
//   npm run bench [-- [--peers] [ROUNDS [SECONDS]]]
// Every server runs in a process of its own on one core, wrk drives it from another; under each load they take turns, round
// by round, and the tables show medians. Do not compare figures of different runs: the machine has other things to do.
// What it prints is Markdown, as it stands in docs/performance.md.
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { besideNode } from './beside-node.mjs';
import { besidePeers } from './beside-peers.mjs';
import { requireWrk } from './wrk.mjs';

const { values, positionals } = parseArgs({ options: { peers: { type: 'boolean' } }, allowPositionals: true });
const rounds = Number(positionals[0] ?? 5);
const seconds = Number(positionals[1] ?? 3);
await requireWrk();

const folder = await mkdtemp(join(tmpdir(), 'webhook-bench-'));
try {
  const report = await (values.peers ? besidePeers : besideNode)({ folder, rounds, seconds });
  const command = `npm run bench -- ${values.peers ? '--peers ' : ''}${rounds} ${seconds}`;
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} × ${cpus()[0]?.model}`;
  console.log(
    `\`${command}\` on ${date}: Node ${process.version}, ${machine}; medians of ${rounds} rounds.\n\n${report}`,
  );
} finally {
  await rm(folder, { recursive: true });
}
