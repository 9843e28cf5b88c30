// Measures export and import, and checks that the copy is the same: node scripts/measure/export.mjs [EVENTS], a million by
// default. Needs `npm run build`.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fillLog } from './fill-log.mjs';

/** Makes a process print its peak memory when it ends. */
const TELL_PEAK = 'data:text/javascript,process.on("exit",()=>console.error(`peak ${process.resourceUsage().maxRSS}`))';

const events = Number(process.argv[2] ?? 1_000_000);
const folder = await mkdtemp(join(tmpdir(), 'webhook-export-'));
const path = (name) => join(folder, name);
await fillLog(path('first.db'), events);
const rows = [
  await run('export', '--export', path('first.ndjson'), path('first.db')),
  await run('import into an empty log', '--import', path('first.ndjson'), path('second.db')),
  await run('import again', '--import', path('first.ndjson'), path('second.db')),
  await run('export of the second log', '--export', path('second.ndjson'), path('second.db')),
  await run('backup', '--backup', path('copy.db'), path('first.db')),
];
console.table(rows);
const same = (await digest(path('first.ndjson'))) === (await digest(path('second.ndjson')));
const { size } = await stat(path('first.ndjson'));
console.log(`${events} events, ${Math.round(size / 1e6)} MB: the two exports are ${same ? 'identical' : 'DIFFERENT'}`);
await rm(folder, { recursive: true });
process.exitCode = same ? 0 : 1;

async function run(what, option, file, log) {
  const started = performance.now();
  const tool = new URL('../../dist/cli/events.js', import.meta.url).pathname;
  const env = { ...process.env, EVENT_LOG: `sqlite:${log}` };
  const child = spawn(process.execPath, ['--import', TELL_PEAK, tool, option, file], { env });
  let said = '';
  child.stderr.on('data', (chunk) => (said += chunk));
  const [code] = await once(child, 'close');
  const seconds = (performance.now() - started) / 1000;
  if (code !== 0) throw new Error(`${what}: ${said}`);
  const peak = Number(/peak (\d+)/.exec(said)?.[1]);
  return {
    what,
    seconds: seconds.toFixed(1),
    'events/s': Math.round(events / seconds),
    'peak MiB': Math.round(peak / 1024),
  };
}

async function digest(file) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
