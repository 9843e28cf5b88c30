import { RateLimit } from '../../src/http/rate-limit';
import type { HttpRequest } from '../../src/http/request';

const DAY = 86_400_000;

let address = '192.0.2.1';
beforeEach(() => {
  jest.useFakeTimers();
  address = '192.0.2.1';
});
afterEach(() => jest.useRealTimers());

const limitOf = (calls: number, milliseconds = 60_000, maxClients?: number) =>
  new RateLimit({ calls, milliseconds }, { address: () => address }, maxClients);

/** How many seconds later a new request should be sent again; undefined if it is taken. */
function refusalOf(limit: RateLimit): string | undefined {
  try {
    limit.count({} as HttpRequest);
    return undefined;
  } catch (error) {
    expect(error).toMatchObject({ status: 429 });
    return (error as { readonly headers: Record<string, string> }).headers['Retry-After'];
  }
}

it('RATE_LIMIT counts in periods that are longer than a timer of Node', () => {
  const limit = limitOf(2, 30 * DAY);
  expect(refusalOf(limit)).toBeUndefined();
  jest.advanceTimersByTime(29 * DAY);
  expect([refusalOf(limit), refusalOf(limit)]).toEqual([undefined, '86400']);
  jest.advanceTimersByTime(DAY);
  expect(refusalOf(limit)).toBeUndefined();
});

it('a limit says to come back once the period is over, rounded up to a second; the next one begins with its first request', () => {
  const limit = limitOf(1);
  expect(refusalOf(limit)).toBeUndefined();
  for (const [passed, after] of [
    [1, '60'],
    [58_998, '2'],
    [1, '1'],
    [999, '1'],
    [1, undefined],
    [599_999, undefined],
    [0, '60'],
  ] as const) {
    jest.advanceTimersByTime(passed);
    expect(refusalOf(limit)).toBe(after);
  }
});

it.each([
  ['2001:db8:1:2::1', '2001:DB8:1:2:3:4:5:6', 1],
  ['::ffff:192.0.2.1', '192.0.2.1', 1],
  ['fe80::1%eth0', 'fe80::2%eth1', 1],
  ['2001:db8:1:2::1', '2001:db8:1:3::1', 2],
  ['192.0.2.1', '192.0.2.2', 2],
])('counts %s and %s as %i', (one, other, clients) => {
  const limit = limitOf(1);
  address = one;
  limit.count({} as HttpRequest);
  address = other;
  expect(refusalOf(limit) === undefined ? 2 : 1).toBe(clients);
});

it('a limit keeps a bounded number of clients: one more begins a new period', () => {
  const limit = limitOf(1, 60_000, 3);
  const refusals = ['0', '1', '2', '2', '3', '2', '1', '1'].map((client) => {
    address = client;
    return refusalOf(limit);
  });
  expect(refusals).toEqual([undefined, undefined, undefined, '60', undefined, undefined, undefined, '60']);
});
