// Measures how long a write waits while retention forgets events: node scripts/measure/retention.mjs [SECONDS]
// Writers record without a pause, first with nothing to forget, then with so much that retention never rests. Needs
// `npm run build`.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventFactory } from '../../dist/events/event.js';
import { SqliteEventLog } from '../../dist/log/sqlite/event-log.js';
import { fillLog } from './fill-log.mjs';

const WRITERS = 8;
const seconds = Number(process.argv[2] ?? 20);
const folder = await mkdtemp(join(tmpdir(), 'webhook-retention-'));
const rows = [];
for (const bytes of [100, 20_000, 1_000_000]) {
  for (const forgets of [false, true]) rows.push(await measure(bytes, forgets));
}
console.table(rows);
await rm(folder, { recursive: true });

async function measure(bytes, forgets) {
  const file = join(folder, `${bytes}-${forgets}.db`);
  const events = Math.round(Math.min(300_000, 1_000_000_000 / bytes));
  await fillLog(file, events, bytes);
  const retention = { retention: { maxEvents: 100, maxAge: undefined } };
  const log = await SqliteEventLog.open({ file, ...(forgets ? retention : {}) });
  const text = 'x'.repeat(100);
  const factory = new EventFactory({ source: '/', type: 't' });
  const waits = [];
  const deadline = performance.now() + seconds * 1000;
  const writer = async () => {
    while (performance.now() < deadline) {
      const arrival = {
        binding: 'x',
        method: 'POST',
        target: '/',
        headers: {},
        remoteAddress: '',
        attributes: undefined,
      };
      const event = await factory.make({ ...arrival, payload: { mediaType: 'text/plain', text } });
      const started = performance.now();
      await log.append(event);
      waits.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
  const forgotten = events + waits.length - (await log.stats()).events;
  await log.close();
  await rm(file);
  waits.sort((a, b) => a - b);
  const at = (share) => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))].toFixed(2);
  return {
    payload: bytes,
    retention: forgets ? 'at work' : 'off',
    written: waits.length,
    forgotten,
    'p50 ms': at(0.5),
    'p99 ms': at(0.99),
    'p99.9 ms': at(0.999),
    'longest ms': at(1),
  };
}
