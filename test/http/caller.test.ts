import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { callersOf } from '../../src/http/caller';

const addressOf = (trustProxy: number | string[], headers: Record<string, string>, remoteAddress = '127.0.0.1') => {
  const request = new IncomingMessage({ remoteAddress } as Socket);
  Object.assign(request.headers, headers);
  return callersOf({ baseUrl: undefined, trustProxy }).address(request);
};

describe('the address of a caller', () => {
  const headers = { 'x-forwarded-for': '198.51.100.7, 192.0.2.1, 10.0.0.1' };

  it.each<[string, number | string[], string]>([
    ['the connection, where nobody is trusted', 0, '127.0.0.1'],
    ['what the only trusted proxy tells', 1, '10.0.0.1'],
    ['what the second of two trusted proxies tells', ['loopback', '10.0.0.0/8'], '192.0.2.1'],
    ['the first of all, where everybody is trusted', 9, '198.51.100.7'],
  ])('is %s', (_what, trustProxy, address) => {
    expect(addressOf(trustProxy, headers)).toBe(address);
  });

  it('is the connection where that is not from a trusted network', () => {
    expect(addressOf(['loopback'], headers, '203.0.113.1')).toBe('203.0.113.1');
  });

  it.each([
    ['for="[2001:db8::1]:4711"', '2001:db8::1'],
    ['for="192.0.2.1:80"', '192.0.2.1'],
    ['for=unknown', 'unknown'],
  ])('is read from Forwarded: %s', (forwarded, address) => {
    expect(addressOf(1, { forwarded })).toBe(address);
  });
});
