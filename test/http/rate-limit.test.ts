import type { IncomingMessage } from 'node:http';
import { rateLimit } from '../../src/http/rate-limit';

const request = {} as IncomingMessage;
const DAY = 86_400_000;

describe('RATE_LIMIT', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('counts in periods that are longer than a timer of Node', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
    const limit = rateLimit({ calls: 2, milliseconds: 30 * DAY }, () => '192.0.2.1');
    await limit(request);
    jest.advanceTimersByTime(29 * DAY);
    await limit(request);
    await expect(limit(request)).rejects.toMatchObject({ status: 429, headers: { 'Retry-After': String(86_400) } });
    jest.advanceTimersByTime(DAY);
    await limit(request);
  });

  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:3:4:5:6'],
    ['2001:DB8:1:2::1', '2001:db8:1:2::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['fe80::1%eth0', 'fe80::2%eth1'],
  ])('counts %s and %s as one client', async (one, other) => {
    let address = one;
    const limit = rateLimit({ calls: 1, milliseconds: 60_000 }, () => address);
    await limit(request);
    address = other;
    await expect(limit(request)).rejects.toMatchObject({ status: 429 });
  });
});
