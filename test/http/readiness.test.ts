import { EventLogError } from '../../src/log/engine';
import { openMemoryLog } from '../../src/log/memory/event-log';
import { eventually } from '../support/eventually';
import { send } from '../support/http';
import { startService } from '../support/service';

/** Starts a service on a log that is checked so; returns what its `/readyz` answers. */
const serviceWith = async (check: () => Promise<void>) => {
  const { url } = await startService({}, Object.assign(openMemoryLog(), { check }));
  return () => send(new URL('/readyz', url).href).then(({ status, body }) => [status, body]);
};

describe('GET /readyz', () => {
  it('answers 503 with the reason while the event log cannot take events, and 200 again after', async () => {
    let full = true;
    const cause = new Error('database or disk is full');
    const error = new EventLogError('The event log cannot take events.', { cause });
    const ready = await serviceWith(() => (full ? Promise.reject(error) : Promise.resolve()));
    expect(await ready()).toEqual([503, 'The event log cannot take events: database or disk is full\n']);
    full = false;
    expect(await ready()).toEqual([200, 'ready\n']);
  });

  it('answers 503 while the event log does not answer, and asks it once however many ask', async () => {
    const waiting: (() => void)[] = [];
    const ready = await serviceWith(() => new Promise((resolve) => waiting.push(resolve)));
    const late = [503, 'The check takes longer than 1000 ms.\n'];
    expect(await Promise.all([ready(), ready(), ready()])).toEqual([late, late, late]);
    expect(waiting).toHaveLength(1);
    waiting[0]?.();
    const asked = eventually('the log is asked again', () => waiting.length === 2).then(() => waiting[1]?.());
    expect((await Promise.all([ready(), asked]))[0]).toEqual([200, 'ready\n']);
  });
});
