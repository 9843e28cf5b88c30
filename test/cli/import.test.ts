import { Readable } from 'node:stream';
import { importEvents } from '../../src/cli/import';
import { EventLogError, type EventLog, type NewEvent } from '../../src/log/event-log';

const line = (id: number) => `${JSON.stringify({ specversion: '1.0', id: String(id), source: '/s', type: 't' })}\n`;

it('says how far an import came before the log failed', async () => {
  let batches = 0;
  const appendAll = (events: readonly NewEvent[]) => {
    if (batches++ === 1) return Promise.reject(new EventLogError('The disk is full.'));
    return Promise.resolve(events.map(({ id }, i) => ({ id, recorded: i > 0 })));
  };
  const text = Array.from({ length: 1500 }, (_, i) => line(i)).join('');
  const input = { file: 'x', stream: Readable.from([Buffer.from(text)]), bytes: undefined };
  await expect(importEvents(input, { appendAll } as unknown as EventLog)).rejects.toMatchObject({
    message: 'The import stopped; run it again to go on. Before that: 999 recorded, 1 already in the log.',
    cause: { message: 'The disk is full.' },
  });
});
