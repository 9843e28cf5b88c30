import { keyCheck, keysIn } from '../../src/access/keys';

const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('the check of keys', () => {
  it.each([
    ['the first of two keys', 'key-one', ''],
    ['a key with a name', 'key-two', 'shop'],
    ['a key with a character more', 'key-one1', undefined],
    ['the beginning of a key', 'key-on', undefined],
    ['a key in other letters', 'KEY-ONE', undefined],
    ['the name of a key', 'shop', undefined],
    ['a key with its name', 'shop key-two', undefined],
    ['no text', '', undefined],
  ])('answers for %s', (_what, given, name) => {
    expect(keyCheck(['key-one', 'shop  key-two'])(given)).toBe(name);
  });

  it('without keys finds nothing valid', () => {
    expect(keyCheck([])('')).toBeUndefined();
  });
});

describe('the keys of a request', () => {
  it.each<[string, Record<string, string | string[]>, string[]]>([
    ['none', {}, []],
    ['Bearer', { authorization: 'Bearer a.b-c' }, ['a.b-c']],
    ['bearer in lower case, with more spaces', { authorization: 'bearer   key  ' }, ['key']],
    ['Basic', { authorization: `Basic ${base64('me:key')}` }, ['key']],
    ['BASIC without a user', { authorization: `BASIC ${base64(':key')}` }, ['key']],
    ['Basic with colons and a line break in the password', { authorization: `Basic ${base64('a:b:\nc')}` }, ['b:\nc']],
    ['Basic with an empty password', { authorization: `Basic ${base64('me:')}` }, ['']],
    ['Basic without a colon', { authorization: `Basic ${base64('key')}` }, []],
    ['X-API-Key', { 'x-api-key': 'k' }, ['k']],
    ['X-API-Key and Bearer', { 'x-api-key': 'k', authorization: 'Bearer b' }, ['k', 'b']],
    ['several X-API-Key', { 'x-api-key': ['k', 'l'] }, []],
    ['a scheme alone', { authorization: 'Bearer' }, []],
    ['a scheme and a space', { authorization: 'Bearer ' }, []],
    ['a value with a space', { authorization: 'Bearer a b' }, []],
    ['a space before the scheme', { authorization: ' Bearer a' }, []],
    ['a scheme that begins with Bearer', { authorization: 'BearerX a' }, []],
    ['a scheme that ends with Bearer', { authorization: 'XBearer a' }, []],
    ['a scheme that begins with Basic', { authorization: `BasicX ${base64('me:key')}` }, []],
    ['a scheme that ends with Basic', { authorization: `XBasic ${base64('me:key')}` }, []],
    ['Basic with more spaces', { authorization: `Basic   ${base64('me:key')} ` }, ['key']],
    ['Basic with a second value', { authorization: `Basic ${base64('me:key')} x` }, []],
    ['another scheme', { authorization: 'Digest key' }, []],
  ])('are read from %s', (_what, headers, keys) => {
    expect(keysIn(headers).map(({ key }) => key)).toEqual(keys);
  });
});
