import { HTTP_ERRORS } from '../../src/http/errors';
import { createLogger } from '../../src/telemetry/logger';
import { Observer } from '../../src/telemetry/observer';
import { idleMetrics } from '../support/metrics';

const observerOf = (write: (line: string) => void) =>
  new Observer(createLogger('info', { write }), idleMetrics(), () => undefined, false);

it('a flood of refusals is logged as twenty lines a second, and the next line says how many were left out', () => {
  jest.useFakeTimers({ now: 1_000_000_000_000, doNotFake: ['performance'] });
  let lines: { msg: string; omitted?: number }[] = [];
  const observed = observerOf((line) => void lines.push(JSON.parse(line) as { msg: string }));
  const flood = (refusals: number) => {
    lines = [];
    for (let i = 0; i < refusals; i++) observed.refused(HTTP_ERRORS.key('There is no key.'), 401, '192.0.2.1');
    jest.advanceTimersByTime(1000);
    return lines.map(({ msg, omitted }) => [msg, omitted]);
  };
  const others = Array<unknown>(19).fill(['refused', undefined]);
  expect(flood(100)).toEqual([['refused', undefined], ...others]);
  expect(flood(25)).toEqual([['refused', 80], ...others]);
  expect(flood(1)).toEqual([['refused', 5]]);
  jest.useRealTimers();
});

it('a hint is logged once', () => {
  const lines: unknown[] = [];
  const { hint } = observerOf((line) => lines.push(JSON.parse(line)));
  for (const key of ['addressing', 'namespace', 'addressing', 'namespace']) hint(key, `about ${key}`);
  expect(lines).toMatchObject(
    ['addressing', 'namespace'].map((key) => ({ level: 'warn', hint: key, msg: `about ${key}` })),
  );
});
