import { newestOf, RefusedCalls, type RefusedCall } from '../../src/telemetry/refused-calls';

const call = (time: number, more: Partial<RefusedCall> = {}): RefusedCall => ({
  time,
  remoteAddress: '192.0.2.1',
  binding: 'soap11',
  operation: 'RecordEvent',
  path: '/WebHooks.asmx',
  status: 500,
  refusal: 'invalid',
  reason: 'It is wrong.',
  requestId: `r${String(time)}`,
  ...more,
});

describe('the refused calls', () => {
  it('are the last hundred, newest first', () => {
    const calls = new RefusedCalls();
    expect(calls.list()).toEqual([]);
    for (let time = 1; time <= 3; time++) calls.add(call(time));
    expect(calls.list()).toEqual([call(3), call(2), call(1)]);
    for (let time = 4; time <= 250; time++) calls.add(call(time));
    expect(calls.list().map(({ time }) => time)).toEqual(Array.from({ length: 100 }, (_, i) => 250 - i));
  });

  it('keep only so much of a text', () => {
    const calls = new RefusedCalls();
    const long = 'x'.repeat(100_000);
    calls.add(call(1, { reason: long, path: long, remoteAddress: long, requestId: long }));
    expect(JSON.stringify(calls.list()).length).toBeLessThan(1500);
    expect(calls.list()[0]?.reason).toMatch(/^x{500}…$/);
  });

  it('of several processes are put together by time', () => {
    const even = [call(6), call(4), call(2)];
    const odd = [call(5), call(3)];
    expect(newestOf([even, odd]).map(({ time }) => time)).toEqual([6, 5, 4, 3, 2]);
    const many = Array.from({ length: 100 }, (_, i) => call(1000 - i));
    expect(newestOf([even, many])).toEqual(many);
  });
});
