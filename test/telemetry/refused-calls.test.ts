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
const kept = (headers: Record<string, string>, more?: Partial<RefusedCall>) => {
  const calls = new RefusedCalls((text) => text.replace('sesame', '***'));
  calls.add(call(1, more), { method: 'POST', headers });
  return calls.list().calls[0];
};

const listOf = (...given: readonly ReturnType<typeof call>[]) => {
  const calls = new RefusedCalls();
  for (const one of given) calls.add(one);
  return calls.list();
};

/** Calls at the times from one to another. */
const callsAt = (first: number, last: number, more?: Partial<RefusedCall>) =>
  Array.from({ length: last - first + 1 }, (_, i) => call(first + i, more));

describe('the refused calls', () => {
  it('are the last hundred, newest first, each with an id of its own', () => {
    const { calls } = listOf(...callsAt(1, 250));
    expect(calls).toMatchObject(callsAt(151, 250).reverse());
    const [newer, older] = listOf(call(1, { path: '/a' }), call(1, { path: '/b' })).calls;
    expect([newer?.path, older?.path]).toEqual(['/b', '/a']);
    const ids = [...calls, ...listOf(call(1)).calls].map(({ id }) => id);
    expect(new Set(ids).size).toBe(101);
  });

  it('with a rare reason outlive a flood with another one, also of another process', () => {
    const one = listOf(...callsAt(1, 3, { refusal: 'signature' }), ...callsAt(4, 500, { refusal: 'rate' }));
    const other = listOf(...callsAt(501, 700, { refusal: 'rate' }));
    for (const { calls } of [one, RefusedCalls.merged([one, other])]) {
      expect(calls).toHaveLength(100);
      expect(calls.slice(-3).map(({ time }) => time)).toEqual([3, 2, 1]);
    }
  });

  it('are all counted in each of the last 60 minutes, the current one among them', () => {
    const times = Array.from({ length: 1500 }, (_, i) => Math.floor(i / 3) * MINUTE);
    const refusals = listOf(...times.map((time) => call(time)));
    const now = 499 * MINUTE + 30_000;
    expect([0, 30].map((minutes) => callsInLastHour(refusals, now + minutes * MINUTE))).toEqual([180, 90]);
    expect([...refusals.perMinute]).toEqual(Array.from({ length: 60 }, (_, i) => [440 + i, 3]));
  });

  it('keep only so much of a text', () => {
    const long = 'x'.repeat(100_000);
    const call = kept({}, { reason: long, path: long, remoteAddress: long, requestId: long });
    expect(JSON.stringify(call).length).toBeLessThan(1700);
    expect(call?.reason).toMatch(/^x{500}…$/);
  });

  it('keep the header fields, but none that may hold a secret', () => {
    const secrets = ['authorization', 'cookie', 'x-api-key', 'webhook-signature', 'x-gitlab-token', 'x-password'];
    const shown = { 'user-agent': 'GitHub-Hookshot/1', 'x-github-delivery': '7', 'idempotency-key': '8' };
    const all = [...secrets.map((name) => [name, 'sesame']), ...Object.entries(shown), ['x-sesame', 'open sesame']];
    const headers = Object.fromEntries(all) as Record<string, string>;
    const { headers: fields, sender, method } = kept(headers) ?? {};
    expect([fields, sender, method]).toEqual([[...Object.entries(shown), ['x-***', 'open ***']], 'GitHub', 'POST']);
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
    const [some, others] = [listOf(call(2), call(4), call(6)), listOf(call(3), call(5))];
    const refusals = RefusedCalls.merged([some, others]);
    expect(refusals.calls.map(({ time }) => time)).toEqual([6, 5, 4, 3, 2]);
    expect(callsInLastHour(refusals, 7)).toBe(5);
    const many = listOf(...callsAt(1000, 1099));
    for (const both of [
      [some, many],
      [many, some],
    ])
      expect(RefusedCalls.merged(both).calls).toEqual(many.calls);
  });
});
