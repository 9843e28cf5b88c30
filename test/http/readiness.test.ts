import { AdminPages } from '../../src/http/admin';
import { EventLogError } from '../../src/log/engine';
import { openMemoryLog } from '../../src/log/memory/event-log';
import { send } from '../support/http';
import { startService } from '../support/service';

describe('GET /readyz', () => {
  it('answers 503 with the reason while the event log cannot take events, and 200 again after', async () => {
    let full = true;
    const cause = new Error('database or disk is full');
    const error = new EventLogError('The event log cannot take events.', { cause });
    const check = () => (full ? Promise.reject(error) : Promise.resolve());
    const { url } = await startService({}, Object.assign(openMemoryLog(), { check }));
    const ready = () => send(new URL('/readyz', url).href).then(({ status, body }) => [status, body]);
    expect(await ready()).toEqual([503, 'The event log cannot take events: database or disk is full\n']);
    full = false;
    expect(await ready()).toEqual([200, 'ready\n']);
  });

  it('answers 503 while the event log does not answer, and asks it once however many ask', async () => {
    jest.useFakeTimers();
    const waiting: (() => void)[] = [];
    const metrics = { contentType: '', metrics: () => Promise.resolve('') };
    const pages = new AdminPages(() => new Promise((resolve) => waiting.push(resolve)), metrics);
    const problems = Promise.all([pages.problem(), pages.problem(), pages.problem()]);
    jest.advanceTimersByTime(1000);
    expect(await problems).toEqual(Array(3).fill('The check takes longer than 1000 ms.'));
    expect(waiting).toHaveLength(1);
    waiting[0]?.();
    await jest.advanceTimersByTimeAsync(0);
    const problem = pages.problem();
    waiting[1]?.();
    expect(await problem).toBeUndefined();
    jest.useRealTimers();
  });
});
