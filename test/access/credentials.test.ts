import { AccessControl, type Access } from '../../src/access/access-control';
import { Caller } from '../../src/access/caller';
import { readConfig } from '../../src/config/config';
import type { HttpRequest } from '../../src/http/request';

const basic = (text: string, scheme = 'Basic ') => `${scheme}${Buffer.from(text).toString('base64')}`;

const config = readConfig({});
const keys = { recordKeys: ['key', 'shop  key-2', 'b:c'] };
const access = new AccessControl({ ...config, access: { ...config.access, ...keys } }, { baseUrl: () => '' });

const refused = (field: string, values: readonly string[]) => values.map((value) => [field, value, undefined] as const);
it.each<readonly [string, string | string[], string | undefined]>([
  ['x-api-key', 'key', ''],
  ['x-api-key', 'key-2', 'shop'],
  ...refused('x-api-key', ['', 'ke', 'key1', 'KEY', 'shop', 'shop  key-2']),
  ['x-api-key', ['key', 'key'], undefined],
  ['authorization', 'Bearer key-2', 'shop'],
  ['authorization', 'bearer   key  ', ''],
  ['authorization', basic('me:key'), ''],
  ['authorization', basic(':key', 'BASIC   '), ''],
  ['authorization', `${basic('me:key')} `, ''],
  ['authorization', basic('a:b:c'), ''],
  ...refused('authorization', ['Bearer', 'Bearer ', 'Bearer key b', ' Bearer key', 'BearerX key', 'XBearer key']),
  ...refused('authorization', ['Digest key', basic('me:'), basic('key'), basic('key:'), `${basic('me:key')} x`]),
  ...refused('authorization', [basic('me:key', 'BasicX '), basic('me:key', 'XBasic ')]),
])('a key in a header field, %s: %j, has the name %j', (field, value, name) => {
  const headers = field === 'x-api-key' ? { [field]: value } : { 'x-api-key': 'wrong', [field]: value };
  const caller = new Caller({ headers, accessTokens: [] } as unknown as HttpRequest, access);
  const required = () => {
    caller.require('record');
    return caller.keyName ?? '';
  };
  if (name === undefined) expect(required).toThrow(/This key may not record events|needs a record key/);
  else expect(required()).toBe(name);
});

it('over TLS the certificate keeps other names out; a certificate of the caller keeps out no page of another site', () => {
  const TLS = { TLS_CERT: 'c.pem', TLS_KEY: 'k.pem' };
  const callOf = (variables: Record<string, string>, headers: object, needs: Access) => () => {
    const own = new AccessControl(readConfig(variables), { baseUrl: () => 'https://webhook' });
    new Caller({ headers, accessTokens: [] } as unknown as HttpRequest, own).require(needs);
  };
  expect(callOf({}, { host: 'rebound.example' }, 'record')).toThrow('rebound.example');
  expect(callOf(TLS, { host: 'rebound.example' }, 'record')).not.toThrow();
  const page = { host: 'webhook', 'sec-fetch-site': 'cross-site' };
  expect(callOf(TLS, page, 'open')).not.toThrow();
  expect(callOf({ ...TLS, TLS_CLIENT_CA: 'ca.pem' }, page, 'open')).toThrow('page of another site');
});
