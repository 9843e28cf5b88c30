import { HTTP_ERRORS } from '../../src/http/errors';
import type { HttpRequest } from '../../src/http/request';
import type { HttpResponse } from '../../src/http/response';
import { forgetDue } from '../../src/log/background';
import { createLogger } from '../../src/telemetry/logger';
import { createObserver } from '../../src/telemetry/observer';
import { Secrets } from '../../src/util/secrets';
import { idleMetrics } from '../support/metrics';

interface Line {
  readonly msg: string;
  readonly omitted?: number;
}

/** An observer with the lines that it writes. */
const observed = (metrics = idleMetrics()) => {
  const lines: Line[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(JSON.parse(line) as Line) });
  return { lines, ...createObserver(logger, metrics, () => undefined, false, new Secrets()) };
};

it('a flood of refusals is logged as twenty lines a second, and the next line says how many were left out', () => {
  jest.useFakeTimers({ now: 1_000_000_000_000, doNotFake: ['performance'] });
  const { lines, refused } = observed();
  const flood = (refusals: number) => {
    for (let i = 0; i < refusals; i++) refused(HTTP_ERRORS.key('There is no key.'), 401, '192.0.2.1');
    jest.advanceTimersByTime(1000);
    return lines.splice(0).map(({ msg, omitted }) => [msg, omitted]);
  };
  const others = Array<unknown>(19).fill(['refused', undefined]);
  for (let i = 0; i < 100; i++) refused(new Error('A page has failed.'), 500, '192.0.2.1');
  expect(flood(100)).toEqual([...Array<unknown>(20).fill(['failed', undefined]), ['refused', undefined], ...others]);
  expect(flood(25)).toEqual([['refused', 80], ...others]);
  expect(flood(1)).toEqual([['refused', 5]]);
  jest.useRealTimers();
});

it('no line has a secret that stands in the id, address, path or User-Agent of a request, in a reason or in a hint, which is logged once', () => {
  const logger = { info: jest.fn(), warn: jest.fn(), error: jest.fn() };
  const secret = 'a-key-of-sixteen';
  const observer = createObserver(logger as never, idleMetrics(), () => secret, true, new Secrets([secret]));
  const headers = { 'user-agent': `shop ${secret}` };
  const request = { id: secret, url: `/${secret}?a`, headers, socket: {} } as HttpRequest;
  observer.answered?.(request, {} as HttpResponse, 1.26);
  observer.refused(new Error(secret), 500, request);
  for (const key of ['first', 'second', 'first']) observer.hint(key, secret);
  const fields = { requestId: '***', remoteAddress: '***', path: '/***' };
  expect(logger.info.mock.calls).toMatchObject([[{ ...fields, userAgent: 'shop ***', milliseconds: 1.3 }, 'answered']]);
  expect(logger.error.mock.calls).toMatchObject([[{ ...fields, reason: '***' }, 'failed']]);
  expect(logger.warn.mock.calls).toEqual(['first', 'second'].map((hint) => [{ hint }, '***']));
});

it('a log that hangs hides no other figure', async () => {
  jest.useFakeTimers();
  const metrics = idleMetrics({ events: () => new Promise(() => undefined), bytes: () => 5 }).registry.metrics();
  await jest.advanceTimersByTimeAsync(1500);
  expect(await metrics).toMatch(/^webhook_log_events 0\n[^]*^webhook_log_bytes 5$/m);
  jest.useRealTimers();
});

it('one line says that retention fails, and one that it works again; a metric counts each failure', async () => {
  const metrics = idleMetrics();
  const { lines, retained } = observed(metrics);
  const steps = [true, false, false, true, false, true];
  const end = new AbortController();
  const step = () => {
    if (steps.length === 0) end.abort();
    return steps.shift() === false ? Promise.reject(new Error('database is locked')) : Promise.resolve(false);
  };
  await forgetDue({ step, idlePause: 1, busyPause: 1 }, () => ({ maxEvents: 1 }), retained, end.signal);
  const fails = { level: 'error', msg: 'retention fails, no events are forgotten', reason: 'database is locked' };
  const works = { level: 'info', msg: 'retention works again' };
  expect(lines).toMatchObject([fails, works, fails, works]);
  expect((await metrics.retentionFailures.get()).values[0]?.value).toBe(3);
});
