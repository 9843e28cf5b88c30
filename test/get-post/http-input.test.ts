import { encode } from 'iconv-lite';
import { HttpInput } from '../../src/get-post/http-input';
import { MediaType } from '../../src/http/content/media-type';

const FORM = 'application/x-www-form-urlencoded';
const MANY = `${'a&'.repeat(10_000)}b=1`;

function inputOf(type: string | undefined, body: string | Buffer = '', query = ''): HttpInput {
  const headers = type === undefined ? {} : { 'content-type': type };
  return new HttpInput(query, headers, MediaType.parse(type), Buffer.from(body));
}

const json = (text: string, mediaType = 'application/json') => ({ mediaType, json: text });
const text = (content: string, mediaType?: string) => ({ mediaType, text: content });
const bytes = (content: Buffer, mediaType?: string) => ({ mediaType, bytes: content });

/** Adds the value of its JSON, if it has any. */
const parsed = (payload: object | undefined) =>
  payload !== undefined && 'json' in payload
    ? { ...payload, value: JSON.parse(String(payload.json)) as unknown }
    : payload;

/** JSON that comes under the type of a form. */
const inForm = (text: string) => ({ ...json(text), sentAs: 'json' });

it.each<[string, object | undefined]>([
  ['', undefined],
  ['a=1&b=%c3%A9&a=3', json('{"a":["1","3"],"b":"é"}')],
  ['a+b=c+d%2B', json('{"a b":"c d+"}')],
  ['a=%4&b=%%41&c=%g0%0g&d=%2541', json('{"a":"%4","b":"%A","c":"%g0%0g","d":"%41"}')],
  ['=b&=&a=b=c&&%', json('{"":["b",""],"a":"b=c","%":""}')],
  ['b=1&2=x&1=y&__proto__=z', json('{"b":"1","2":"x","1":"y","__proto__":"z"}')],
  ['&'.repeat(9_999), json('{}')],
  ...['a=%FF', '%FF=1', '&'.repeat(10_000), MANY].map((query): [string, object] => [query, text(query, FORM)]),
])('the payload of a request without a body is its query string (%#)', (query, payload) => {
  const expected = payload && { ...parsed(payload), sentAs: 'query' };
  expect(inputOf(undefined, '', query).payload()).toEqual(expected);
  expect(inputOf(FORM, '', query).payload()).toEqual(expected);
});

it.each<[string, string | Buffer, object]>([
  [FORM, 'a=1&b=%C3%A9', json('{"a":"1","b":"é"}')],
  [`${FORM}; charset=utf-8`, 'a=1', json('{"a":"1"}')],
  [`${FORM}; charset=iso-8859-1`, Buffer.from('a=%E9&b=\xe9', 'latin1'), json('{"a":"é","b":"é"}')],
  [`${FORM}; charset=euc-kr`, Buffer.from('a=%8Cc&b=\x8cc', 'latin1'), json('{"a":"똠","b":"똠"}')],
  [`${FORM}; charset=klingon`, 'a=é', json('{"a":"é"}')],
  [FORM, '\uFEFFa=%EF%BB%BF1', json('{"\uFEFFa":"\uFEFF1"}')],
  [FORM, 'a=%FF&b=é', bytes(Buffer.from('a=%FF&b=é'), FORM)],
  [FORM, Buffer.from('a=%FF&b=\xe9', 'latin1'), bytes(Buffer.from('a=%FF&b=\xe9', 'latin1'), FORM)],
  [`${FORM}; charset=euc-jp`, 'a=%FF', bytes(Buffer.from('a=%FF'), `${FORM}; charset=euc-jp`)],
  [FORM, MANY, bytes(Buffer.from(MANY), FORM)],
  [FORM, MANY.slice(2), json(`{"a":${JSON.stringify(Array(9_999).fill(''))},"b":"1"}`)],
  [FORM, ' \r\n{"order":19}\n', inForm('{"order":19}')],
  [FORM, '\uFEFF{"order":19}', inForm('{"order":19}')],
  [FORM, '[]', inForm('[]')],
  [`${FORM}; charset=utf-16`, encode('{"a":1}', 'utf-16le', { addBOM: true }), inForm('{"a":1}')],
  [`${FORM}; charset=iso-8859-1`, Buffer.from('{"a":"é"}', 'latin1'), inForm('{"a":"é"}')],
  [FORM, '{"a":1}&b=2', json('{"{\\"a\\":1}":"","b":"2"}')],
  [FORM, '{"a":1', json('{"{\\"a\\":1":""}')],
  [FORM, '"a"', json('{"\\"a\\"":""}')],
  [FORM, '"[a]"', json('{"\\"[a]\\"":""}')],
  [FORM, '19', json('{"19":""}')],
  [FORM, 'x[]', json('{"x[]":""}')],
])('the payload of a form as %s (%#)', (type, body, payload) => {
  expect(inputOf(type, body, 'query=1').payload()).toEqual(parsed(payload));
});

const PLAIN = 'text/plain';

/** What becomes of a body, under its own type unless another is given. */
const asText = (type: string | undefined, body: string | Buffer) => text(String(body), type);
const asBytes = (type: string | undefined, body: string | Buffer) => bytes(Buffer.from(body), type);
const asJson = (type: string | undefined, body: string | Buffer) => json(String(body), type);
const textOf = (content: string) => (type?: string) => text(content, type);
const jsonOf = (content: string) => (type?: string) => json(content, type);
const plain = (_type: string | undefined, body: string | Buffer) => text(String(body), PLAIN);

const declared = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?><a>é</a>`;
const latin1 = (content: string) => Buffer.from(content, 'latin1');
const JSON_TYPE = 'application/json';

describe('the payload of any other body', () => {
  it.each<[string | undefined, string | Buffer, (type: string | undefined, body: string | Buffer) => object]>([
    [undefined, 'é', asText],
    [undefined, Buffer.from([0xff]), asBytes],
    ['garbage', 'é', asText],
    [JSON_TYPE, '{"a":1.0}', asJson],
    ['text/json', '1', asJson],
    ['application/vnd.x+json', '[1]', asJson],
    [`${JSON_TYPE}; charset=utf-16le`, encode('"é"', 'utf-16le'), jsonOf('"é"')],
    [JSON_TYPE, encode('"é"', 'utf-16le', { addBOM: true }), jsonOf('"é"')],
    [`${JSON_TYPE}; charset=utf-16`, encode('"é"', 'utf-16le'), jsonOf('"é"')],
    [`${JSON_TYPE}; charset=utf-16`, encode('"é"', 'utf-16be'), jsonOf('"é"')],
    [`${JSON_TYPE}; charset=utf-16`, '{"a":"é"}', asJson],
    [`${JSON_TYPE}; charset=utf-32`, '{"a":"é"}', asJson],
    ['text/xml; charset=utf-16', '<a>é</a>', asText],
    ['application/xml', declared('utf-16'), asText],
    [JSON_TYPE, '\uFEFF1', jsonOf('1')],
    [JSON_TYPE, '{', plain],
    [JSON_TYPE, '[1,]', plain],
    [JSON_TYPE, latin1('"\xff"'), asBytes],
    ['application/jsonx', '\0', asBytes],
    ['xapplication/json', '1', asBytes],
    ['application/x+jsonx', '1', asText],
    ['application/jwt', 'eyJhbGciOiJIUzI1NiJ9.e30.x', asText],
    ['application/csp-report', '{"a": "é"}\r\n', asText],
    ['application/octet-stream', 'x', asBytes],
    ['application/cbor', '\x01x', asBytes],
    ['application/x', latin1('\xff'), asBytes],
    [PLAIN, '{"a":1}', asText],
    [PLAIN, latin1('\xe9'), asBytes],
    [`${PLAIN}; charset=iso-8859-1`, latin1('\xe9'), textOf('é')],
    [`${PLAIN}; charset=unicode`, encode('é', 'utf-16le'), textOf('é')],
    [`${PLAIN}; charset=unicodeFFFE`, encode('é', 'utf-16be'), textOf('é')],
    [`${PLAIN}; charset=iso-2022-jp`, '\x1b$BF|K\\\x1b(B', textOf('日本')],
    [`${PLAIN}; charset=""`, 'é', asText],
    [`${PLAIN}; charset="utf-8,utf-8"`, 'é', asText],
    [`${PLAIN}; charset=klingon`, 'é', asText],
    [`${PLAIN}; charset=iso-8859-1`, '\uFEFFa', textOf('ï»¿a')],
    [PLAIN, encode('é', 'utf-16be', { addBOM: true }), textOf('é')],
    ['text/csv', 'x', asText],
    ['application/javascript', '\0', asText],
    ['image/svg+xml', 'x', asText],
    ['image/png', 'x', asBytes],
    ['xtext/plain', 'x', asBytes],
    ['image/png; charset=utf-8', 'x', asText],
    ['image/png; charset=utf-8', Buffer.from([255]), asBytes],
    ['text/xml', latin1(declared('iso-8859-1')), textOf(declared('iso-8859-1'))],
    ['application/xml', encode('<a>é</a>', 'utf-16be'), textOf('<a>é</a>')],
    ['text/xml; charset=iso-8859-1', '\uFEFF<a>é</a>', textOf('<a>é</a>')],
    ['text/xml; charset=utf-8', declared('iso-8859-1'), asText],
    [PLAIN, declared('iso-8859-1'), asText],
    [JSON_TYPE, `[${'[],'.repeat(100_000)}0]`, plain],
  ])('as %s (%#)', (type, body, payload) => {
    const input = inputOf(type, body, 'query=1');
    expect(input.payload()).toEqual(parsed(payload(type, body)));
    expect(input.bodyPayload()).toEqual(parsed(payload(type, body)));
  });

  it('is the text of a form in binary content mode', () => {
    expect(inputOf(FORM, 'a=1').bodyPayload()).toEqual(text('a=1', FORM));
    expect(inputOf(FORM, 'a=1').text()).toBe('a=1');
    expect(inputOf('image/png', 'a=1').text()).toBeUndefined();
  });
});

it('a long form of control characters, whose escapes would be many times as long, is kept as bytes', () => {
  const form = `a=${'\u0001'.repeat(200_000)}`;
  expect(inputOf(FORM, form).payload()).toEqual(bytes(Buffer.from(form), FORM));
});

describe('text without a type of text', () => {
  const textOf = (body: string) => inputOf('application/x-other', body).text();

  it.each(['\x00', '\x08', '\x0e', '\x1f', '\x7f', '\x80', '\x9f'])('has no control character: %j', (control) => {
    expect(textOf(`x${control}x`)).toBeUndefined();
  });

  it('has any other character', () => {
    const text = `\t\n\v\f\r ~\xa0\xbf\xc2\xe4\u20ac\u{1F600}`.repeat(5000);
    expect(textOf(text)).toBe(text);
  });
});
