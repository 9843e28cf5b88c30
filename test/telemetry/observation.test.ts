import { Metrics } from '../../src/telemetry/metrics';
import { createLogger } from '../../src/telemetry/logger';
import { observation } from '../../src/telemetry/observation';
import { RefusedCalls } from '../../src/telemetry/refused-calls';

const metrics = (): Metrics =>
  new Metrics({
    inFlight: () => 0,
    waiting: () => 0,
    connections: () => 0,
    isReady: () => Promise.resolve(true),
    events: () => Promise.resolve(0),
    bytes: () => Promise.resolve(0),
  });

describe('a flood of refusals', () => {
  beforeEach(() => jest.useFakeTimers({ now: 1_000_000_000_000, doNotFake: ['performance'] }));
  afterEach(() => jest.useRealTimers());

  it('is logged as twenty lines a second, and the next line says how many were left out', () => {
    const lines: { msg: string; omitted?: number }[] = [];
    const write = (line: string): void => void lines.push(JSON.parse(line) as { msg: string });
    const observed = observation(
      metrics(),
      createLogger('info', { write }),
      false,
      () => undefined,
      new RefusedCalls(),
    );
    const flood = (refusals: number): void => {
      for (let i = 0; i < refusals; i++)
        observed.refused({ refusal: 'key', reason: 'no key', status: 401, remoteAddress: '192.0.2.1' });
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
