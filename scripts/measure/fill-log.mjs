// Fills an event log up to a number of events without the service: node scripts/measure/fill-log.mjs FILE EVENTS [BYTES]
// BYTES is the size of each payload, 40 by default. Needs `npm run build`.
import { SqliteEventLog } from '../../dist/log/sqlite/event-log.js';
import { EventFactory } from '../../dist/events/event.js';

const BATCH = 5000;

/** Fills the log in a file up to a number of events. */
export async function fillLog(file, events, bytes = 40) {
  const log = await SqliteEventLog.open({ file });
  await fill(log, events, bytes);
  await log.close();
}

/** Fills a log of any engine up to a number of events. */
export async function fill(log, events, bytes = 40) {
  const factory = new EventFactory({ source: '/webhooks/Services/WebHooks.asmx', type: 'webhook.recorded' });
  const text = 'x'.repeat(bytes);
  for (let count = (await log.stats()).events; count < events; count = (await log.stats()).events) {
    const batch = Array.from({ length: Math.min(BATCH, events - count) }, async () => {
      const payload = { mediaType: 'text/plain', text };
      const headers = { host: '127.0.0.1:8080', 'user-agent': 'fill-log', 'content-type': 'text/plain' };
      const arrival = {
        binding: 'httppost',
        method: 'POST',
        target: '/RecordEvent',
        headers,
        remoteAddress: '127.0.0.1',
      };
      return log.append(await factory.make({ ...arrival, attributes: undefined, payload }));
    });
    await Promise.all(batch);
  }
}

if (process.argv[1] === import.meta.filename) {
  const [file, events, bytes] = process.argv.slice(2);
  if (file === undefined || !/^\d+$/.test(events ?? '') || !/^\d*$/.test(bytes ?? '')) {
    console.error('Usage: node scripts/measure/fill-log.mjs FILE EVENTS [BYTES]');
    process.exitCode = 2;
  } else await fillLog(file, Number(events), bytes === undefined ? undefined : Number(bytes));
}
