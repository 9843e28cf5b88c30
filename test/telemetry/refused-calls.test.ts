import { callsInLastHour } from '../../src/pages/events/rate-view';
import { RefusedCalls, type RefusedCall } from '../../src/telemetry/refused-calls';

const MINUTE = 60_000;

const call = (time: number, more: Partial<RefusedCall> = {}): Omit<RefusedCall, 'id'> => ({
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

/** What is kept of a call with these header fields. */
const kept = (headers: Record<string, string>) => {
  const calls = new RefusedCalls();
  calls.add(call(1), { method: 'POST', headers });
  return calls.list().calls[0];
};

describe('the refused calls', () => {
  it('are the last hundred, newest first, each with an id of its own', () => {
    const calls = new RefusedCalls();
    const times = () => calls.list().calls.map(({ time }) => time);
    expect(times()).toEqual([]);
    for (let time = 1; time <= 3; time++) calls.add(call(time));
    expect(calls.list().calls).toMatchObject([call(3), call(2), call(1)]);
    for (let time = 4; time <= 250; time++) calls.add(call(time));
    expect(times()).toEqual(Array.from({ length: 100 }, (_, i) => 250 - i));
    const other = new RefusedCalls();
    other.add(call(1));
    const ids = [...calls.list().calls, ...other.list().calls].map(({ id }) => id);
    expect(new Set(ids).size).toBe(101);
  });

  it('with a rare reason outlive a flood with another one, also of another process', () => {
    const calls = new RefusedCalls();
    const other = new RefusedCalls();
    for (let time = 1; time <= 3; time++) calls.add(call(time, { refusal: 'signature' }));
    for (let time = 4; time <= 500; time++) calls.add(call(time, { refusal: 'rate' }));
    for (let time = 501; time <= 700; time++) other.add(call(time, { refusal: 'rate' }));
    for (const { calls: found } of [calls.list(), RefusedCalls.merged([calls.list(), other.list()])]) {
      expect(found).toHaveLength(100);
      expect(found.slice(-3).map(({ time }) => time)).toEqual([3, 2, 1]);
    }
  });

  it('are all counted in each of the last 60 minutes, the current one among them', () => {
    const calls = new RefusedCalls();
    for (let minute = 0; minute < 500; minute++) for (let i = 0; i < 3; i++) calls.add(call(minute * MINUTE + i));
    const refusals = calls.list();
    const now = 499 * MINUTE + 30_000;
    expect([0, 30].map((minutes) => callsInLastHour(refusals, now + minutes * MINUTE))).toEqual([180, 90]);
    expect([...refusals.perMinute]).toEqual(Array.from({ length: 60 }, (_, i) => [440 + i, 3]));
  });

  it('keep only so much of a text', () => {
    const calls = new RefusedCalls();
    const long = 'x'.repeat(100_000);
    calls.add(call(1, { reason: long, path: long, remoteAddress: long, requestId: long }));
    expect(JSON.stringify(calls.list()).length).toBeLessThan(1700);
    expect(calls.list().calls[0]?.reason).toMatch(/^x{500}…$/);
  });

  it('keep the header fields, but none that may hold a secret', () => {
    const secrets = ['authorization', 'cookie', 'x-api-key', 'webhook-signature', 'x-gitlab-token', 'x-password'];
    const shown = { 'user-agent': 'GitHub-Hookshot/1', 'x-github-delivery': '7', 'idempotency-key': '8' };
    const headers = { ...Object.fromEntries(secrets.map((name) => [name, 'sesame'])), ...shown };
    const { headers: fields, sender, method } = kept(headers) ?? {};
    expect([fields, sender, method]).toEqual([Object.entries(shown), 'GitHub', 'POST']);
  });

  it('keep only so much of the header fields', () => {
    const headers = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`x-${String(i)}`, 'v'.repeat(i === 0 ? 9000 : 10)]),
    );
    const { headers: fields = [] } = kept(headers) ?? {};
    expect(fields[0]?.[1]).toMatch(/^v{200}…$/);
    expect(JSON.stringify(fields).length).toBeLessThan(4200);
  });

  it('of several processes are put together by time, and their numbers are added up', () => {
    const of = (...times: number[]) => {
      const calls = new RefusedCalls();
      for (const time of times) calls.add(call(time));
      return calls.list();
    };
    const refusals = RefusedCalls.merged([of(2, 4, 6), of(3, 5)]);
    expect(refusals.calls.map(({ time }) => time)).toEqual([6, 5, 4, 3, 2]);
    expect(callsInLastHour(refusals, 7)).toBe(5);
    const many = of(...Array.from({ length: 100 }, (_, i) => 1000 + i));
    expect(RefusedCalls.merged([of(2, 4, 6), many]).calls).toEqual(many.calls);
  });
});
