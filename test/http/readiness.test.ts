import { EventLogError } from '../../src/log/engine';
import { openMemoryLog } from '../../src/log/memory/event-log';
import { send } from '../support/http';
import { startService } from '../support/service';

const logWith = (check: () => Promise<void>) => Object.assign(openMemoryLog(), { check });

describe('GET /readyz', () => {
  it('answers 503 with the reason while the event log cannot take events, and 200 again after', async () => {
    let full = true;
    const cause = new Error('database or disk is full');
    const log = logWith(() =>
      full ? Promise.reject(new EventLogError('The event log cannot take events.', { cause })) : Promise.resolve(),
    );
    const service = await startService({}, log);
    const ready = () => send(new URL('/readyz', service.url).href);
    const unready = await ready();
    expect([unready.status, unready.body]).toEqual([
      503,
      'The event log cannot take events: database or disk is full\n',
    ]);
    full = false;
    expect((await ready()).status).toBe(200);
    await service.stop();
  });

  it('answers 503 while the event log does not answer, and asks it once however many ask', async () => {
    const waiting: (() => void)[] = [];
    const log = logWith(() => new Promise((resolve) => waiting.push(resolve)));
    const service = await startService({}, log);
    const ready = () => send(new URL('/readyz', service.url).href);
    const unready = await Promise.all([ready(), ready(), ready()]);
    expect(unready.map(({ status, body }) => [status, body])).toEqual(
      Array(3).fill([503, 'The check takes longer than 1000 ms.\n']),
    );
    expect(waiting).toHaveLength(1);
    waiting[0]?.();
    const [answer] = await Promise.all([ready(), waitFor(() => waiting.length === 2).then(() => waiting[1]?.())]);
    expect(answer.status).toBe(200);
    await service.stop();
  });
});

async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
