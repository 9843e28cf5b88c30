import { RateLimit } from '../../src/http/rate-limit';
import type { HttpRequest } from '../../src/http/request';

/** Each request counts once. */
const newRequest = () => ({}) as HttpRequest;
const DAY = 86_400_000;

function refusalOf(limit: RateLimit): unknown {
  try {
    limit.count(newRequest());
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('RATE_LIMIT', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('counts in periods that are longer than a timer of Node', () => {
    jest.useFakeTimers();
    const limit = new RateLimit({ calls: 2, milliseconds: 30 * DAY }, { address: () => '192.0.2.1' });
    limit.count(newRequest());
    jest.advanceTimersByTime(29 * DAY);
    limit.count(newRequest());
    expect(refusalOf(limit)).toMatchObject({ status: 429, headers: { 'Retry-After': String(86_400) } });
    jest.advanceTimersByTime(DAY);
    limit.count(newRequest());
  });

  it('says to come back once the period is over, rounded up to a second', () => {
    jest.useFakeTimers();
    const limit = new RateLimit({ calls: 1, milliseconds: 60_000 }, { address: () => '192.0.2.1' });
    limit.count(newRequest());
    for (const [passed, after] of [
      [1, '60'],
      [58_998, '2'],
      [1, '1'],
      [999, '1'],
    ] as const) {
      jest.advanceTimersByTime(passed);
      expect(refusalOf(limit)).toMatchObject({ status: 429, headers: { 'Retry-After': after } });
    }
    jest.advanceTimersByTime(1);
    limit.count(newRequest());
  });

  it.each([
    ['2001:db8:1:2::1', '2001:DB8:1:2:3:4:5:6', 1],
    ['::ffff:192.0.2.1', '192.0.2.1', 1],
    ['fe80::1%eth0', 'fe80::2%eth1', 1],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', 2],
    ['192.0.2.1', '192.0.2.2', 2],
  ])('counts %s and %s as %i', (one, other, clients) => {
    let address = one;
    const limit = new RateLimit({ calls: 1, milliseconds: 60_000 }, { address: () => address });
    limit.count(newRequest());
    address = other;
    expect(refusalOf(limit) === undefined ? 2 : 1).toBe(clients);
  });

  it('counts a request once, however often it is asked', () => {
    const limit = new RateLimit({ calls: 2, milliseconds: 60_000 }, { address: () => '192.0.2.1' });
    const request = newRequest();
    for (let i = 0; i < 3; i++) limit.count(request);
    limit.count(newRequest());
    expect(refusalOf(limit)).toMatchObject({ status: 429 });
  });

  it('keeps a bounded number of clients, however many addresses call', () => {
    let address = 0;
    const limit = new RateLimit({ calls: 1, milliseconds: 60_000 }, { address: () => String(address) }, 3);
    for (; address < 3; address++) limit.count(newRequest());
    address = 2;
    expect(refusalOf(limit)).toMatchObject({ status: 429 });
    // The fourth client begins a new period.
    for (const next of [3, 2, 1]) {
      address = next;
      limit.count(newRequest());
    }
    expect(refusalOf(limit)).toMatchObject({ status: 429 });
  });
});
