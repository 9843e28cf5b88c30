import { HTTP_ERRORS } from '../../src/http/errors';
import { createLogger } from '../../src/telemetry/logger';
import { Observer } from '../../src/telemetry/observer';
import { idleMetrics } from '../support/metrics';

const observerOf = (write: (line: string) => void) =>
  new Observer(createLogger('info', { write }), idleMetrics(), () => undefined, false);

describe('a flood of refusals', () => {
  beforeEach(() => jest.useFakeTimers({ now: 1_000_000_000_000, doNotFake: ['performance'] }));
  afterEach(() => jest.useRealTimers());

  it('is logged as twenty lines a second, and the next line says how many were left out', () => {
    const lines: { msg: string; omitted?: number }[] = [];
    const observed = observerOf((line) => void lines.push(JSON.parse(line) as { msg: string }));
    const flood = (refusals: number): void => {
      for (let i = 0; i < refusals; i++) observed.refused(HTTP_ERRORS.key('There is no key.'), 401, '192.0.2.1');
    };
    flood(100);
    expect(lines.map(({ msg, omitted }) => [msg, omitted])).toEqual(Array(20).fill(['refused', undefined]));
    jest.advanceTimersByTime(1000);
    flood(25);
    expect(lines.length).toBe(40);
    expect(lines.slice(20).map(({ omitted }) => omitted)).toEqual([80, ...Array<undefined>(19)]);
    jest.advanceTimersByTime(1000);
    flood(1);
    expect(lines.at(-1)?.omitted).toBe(5);
  });
});

describe('a hint', () => {
  it('is logged once', () => {
    const lines: unknown[] = [];
    const { hint } = observerOf((line) => lines.push(JSON.parse(line)));
    for (let i = 0; i < 3; i++) {
      hint('addressing', 'a caller sends WS-Addressing header blocks');
      hint('namespace', 'set SERVICE_NAMESPACE');
    }
    expect(lines).toMatchObject([
      { level: 'warn', hint: 'addressing', msg: 'a caller sends WS-Addressing header blocks' },
      { level: 'warn', hint: 'namespace', msg: 'set SERVICE_NAMESPACE' },
    ]);
    expect(lines.length).toBe(2);
  });
});
