import { encode } from 'iconv-lite';
import { FormFields, UNDECODABLE, HttpInput } from '../../src/get-post/http-input';
import { Charset, MediaType } from '../../src/http/content/media-type';

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

describe('the payload of a request without a body', () => {
  it.each<[string, object | undefined]>([
    ['', undefined],
    ['a=1&a=2&b=%C3%A9', json('{"a":["1","2"],"b":"é"}')],
    ['a=%FF', text('a=%FF', FORM)],
    [MANY, text(MANY, FORM)],
  ])('is its query string (%#)', (query, payload) => {
    const expected = payload && { ...parsed(payload), sentAs: 'query' };
    expect(inputOf(undefined, '', query).payload()).toEqual(expected);
    expect(inputOf(FORM, '', query).payload()).toEqual(expected);
  });
});

describe('the payload of a form', () => {
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
    [FORM, ' \r\n{"order":19}\n', inForm('{"order":19}')],
    [FORM, '\uFEFF{"order":19}', inForm('{"order":19}')],
    [FORM, '[]', inForm('[]')],
    [`${FORM}; charset=iso-8859-1`, Buffer.from('{"a":"é"}', 'latin1'), inForm('{"a":"é"}')],
    [FORM, '{"a":1}&b=2', json('{"{\\"a\\":1}":"","b":"2"}')],
    [FORM, '{"a":1', json('{"{\\"a\\":1":""}')],
    [FORM, '"a"', json('{"\\"a\\"":""}')],
    [FORM, '"[a]"', json('{"\\"[a]\\"":""}')],
    [FORM, '19', json('{"19":""}')],
    [FORM, 'x[]', json('{"x[]":""}')],
  ])('as %s (%#)', (type, body, payload) => {
    expect(inputOf(type, body, 'query=1').payload()).toEqual(parsed(payload));
  });
});

const PLAIN = 'text/plain';

describe('the payload of any other body', () => {
  it.each<[string | undefined, string | Buffer, object]>([
    [undefined, 'é', text('é')],
    [undefined, Buffer.from([0xff]), bytes(Buffer.from([0xff]))],
    ['garbage', 'é', text('é', 'garbage')],
    ['application/json', '{"a":1.0}', json('{"a":1.0}')],
    ['text/json', '1', json('1', 'text/json')],
    ['application/vnd.x+json', '[1]', json('[1]', 'application/vnd.x+json')],
    [
      'application/json; charset=utf-16le',
      encode('"é"', 'utf-16le'),
      json('"é"', 'application/json; charset=utf-16le'),
    ],
    ['application/json', encode('"é"', 'utf-16le', { addBOM: true }), json('"é"')],
    ...['utf-16le', 'utf-16be'].map((order): [string, Buffer, object] => [
      'application/json; charset=utf-16',
      encode('"é"', order),
      json('"é"', 'application/json; charset=utf-16'),
    ]),
    ...['utf-16', 'utf-32'].map((charset): [string, string, object] => {
      const type = `application/json; charset=${charset}`;
      return [type, '{"a":"é"}', json('{"a":"é"}', type)];
    }),
    ['text/xml; charset=utf-16', '<a>é</a>', text('<a>é</a>', 'text/xml; charset=utf-16')],
    [
      'application/xml',
      '<?xml version="1.0" encoding="utf-16"?><a>é</a>',
      text('<?xml version="1.0" encoding="utf-16"?><a>é</a>', 'application/xml'),
    ],
    ['application/json', '\uFEFF1', json('1')],
    ['application/json', '{', text('{', PLAIN)],
    ['application/json', '[1,]', text('[1,]', PLAIN)],
    ['application/json', Buffer.from('"\xff"', 'latin1'), bytes(Buffer.from('"\xff"', 'latin1'), 'application/json')],
    ['application/jsonx', '\0', bytes(Buffer.from('\0'), 'application/jsonx')],
    ['xapplication/json', '1', bytes(Buffer.from('1'), 'xapplication/json')],
    ['application/x+jsonx', '1', text('1', 'application/x+jsonx')],
    ['application/jwt', 'eyJhbGciOiJIUzI1NiJ9.e30.x', text('eyJhbGciOiJIUzI1NiJ9.e30.x', 'application/jwt')],
    ['application/csp-report', '{"a": "é"}\r\n', text('{"a": "é"}\r\n', 'application/csp-report')],
    ['application/octet-stream', 'x', bytes(Buffer.from('x'), 'application/octet-stream')],
    ['application/cbor', '\x01x', bytes(Buffer.from('\x01x'), 'application/cbor')],
    ['application/x', Buffer.from('\xff', 'latin1'), bytes(Buffer.from('\xff', 'latin1'), 'application/x')],
    [PLAIN, '{"a":1}', text('{"a":1}', PLAIN)],
    [PLAIN, Buffer.from('\xe9', 'latin1'), bytes(Buffer.from('\xe9', 'latin1'), PLAIN)],
    [`${PLAIN}; charset=iso-8859-1`, Buffer.from('\xe9', 'latin1'), text('é', `${PLAIN}; charset=iso-8859-1`)],
    [`${PLAIN}; charset=unicode`, encode('é', 'utf-16le'), text('é', `${PLAIN}; charset=unicode`)],
    [`${PLAIN}; charset=unicodeFFFE`, encode('é', 'utf-16be'), text('é', `${PLAIN}; charset=unicodeFFFE`)],
    [`${PLAIN}; charset=iso-2022-jp`, '\x1b$BF|K\\\x1b(B', text('日本', `${PLAIN}; charset=iso-2022-jp`)],
    [`${PLAIN}; charset=""`, 'é', text('é', `${PLAIN}; charset=""`)],
    [`${PLAIN}; charset="utf-8,utf-8"`, 'é', text('é', `${PLAIN}; charset="utf-8,utf-8"`)],
    [`${PLAIN}; charset=klingon`, 'é', text('é', `${PLAIN}; charset=klingon`)],
    [`${PLAIN}; charset=iso-8859-1`, '\uFEFFa', text('ï»¿a', `${PLAIN}; charset=iso-8859-1`)],
    [PLAIN, encode('é', 'utf-16be', { addBOM: true }), text('é', PLAIN)],
    ['text/csv', 'x', text('x', 'text/csv')],
    ['application/javascript', '\0', text('\0', 'application/javascript')],
    ['image/svg+xml', 'x', text('x', 'image/svg+xml')],
    ['image/png', 'x', bytes(Buffer.from('x'), 'image/png')],
    ['xtext/plain', 'x', bytes(Buffer.from('x'), 'xtext/plain')],
    ['image/png; charset=utf-8', 'x', text('x', 'image/png; charset=utf-8')],
    ['image/png; charset=utf-8', Buffer.from([255]), bytes(Buffer.from([255]), 'image/png; charset=utf-8')],
    [
      'text/xml',
      Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>\xe9</a>', 'latin1'),
      text('<?xml version="1.0" encoding="iso-8859-1"?><a>é</a>', 'text/xml'),
    ],
    ['application/xml', encode('<a>é</a>', 'utf-16be'), text('<a>é</a>', 'application/xml')],
    ['text/xml; charset=iso-8859-1', '\uFEFF<a>é</a>', text('<a>é</a>', 'text/xml; charset=iso-8859-1')],
    [
      'text/xml; charset=utf-8',
      '<?xml version="1.0" encoding="iso-8859-1"?><a>é</a>',
      text('<?xml version="1.0" encoding="iso-8859-1"?><a>é</a>', 'text/xml; charset=utf-8'),
    ],
    [
      PLAIN,
      '<?xml version="1.0" encoding="iso-8859-1"?><a>é</a>',
      text('<?xml version="1.0" encoding="iso-8859-1"?><a>é</a>', PLAIN),
    ],
  ])('as %s (%#)', (type, body, payload) => {
    const input = inputOf(type, body, 'query=1');
    expect(input.payload()).toEqual(parsed(payload));
    expect(input.bodyPayload()).toEqual(parsed(payload));
  });

  it('is text where its JSON has more than 100,000 parts', () => {
    const body = `[${'[],'.repeat(100_000)}0]`;
    expect(inputOf('application/json', body).payload()).toEqual(text(body, PLAIN));
  });

  it('is the text of a form in binary content mode', () => {
    expect(inputOf(FORM, 'a=1').bodyPayload()).toEqual(text('a=1', FORM));
    expect(inputOf(FORM, 'a=1').text()).toBe('a=1');
    expect(inputOf('image/png', 'a=1').text()).toBeUndefined();
  });
});

describe('the fields of a form', () => {
  it.each<{
    readonly encoded: string;
    readonly charset?: string | undefined;
    readonly values: Record<string, string | string[]>;
    readonly hasUndecodable: boolean;
  }>([
    { encoded: '', values: {}, hasUndecodable: false },
    { encoded: 'a=1&b=2&a=3', values: { a: ['1', '3'], b: '2' }, hasUndecodable: false },
    { encoded: 'a+b=c+d%2B', values: { 'a b': 'c d+' }, hasUndecodable: false },
    { encoded: '%C3%A9=%c3%a9', values: { é: 'é' }, hasUndecodable: false },
    { encoded: 'a=%E9', charset: 'iso-8859-1', values: { a: 'é' }, hasUndecodable: false },
    { encoded: 'a=%E9&b=2', values: { a: UNDECODABLE, b: '2' }, hasUndecodable: true },
    { encoded: '%FF=1', values: { [UNDECODABLE]: '1' }, hasUndecodable: true },
    { encoded: 'a=%', values: { a: '%' }, hasUndecodable: false },
    {
      encoded: 'a=%4&b=%%41&c=%g0%0g&d=%2541',
      values: { a: '%4', b: '%A', c: '%g0%0g', d: '%41' },
      hasUndecodable: false,
    },
    { encoded: '=b&=&a=b=c&&%', values: { '': ['b', ''], a: 'b=c', '%': '' }, hasUndecodable: false },
  ])('$encoded in $charset are $values', ({ encoded, charset, values, hasUndecodable }) => {
    const fields = FormFields.parse(encoded, charset === undefined ? undefined : Charset.named(charset));
    expect(Object.fromEntries(fields?.values ?? [])).toEqual(values);
    expect(fields?.hasUndecodable).toBe(hasUndecodable);
  });

  it('keep their order, and any name is only a name', () => {
    expect(FormFields.parse('__proto__=1')?.json(11)).toBe('{"__proto__":"1"}');
    expect(FormFields.parse('b=1&2=x&1=y')?.json(11)).toBe('{"b":"1","2":"x","1":"y"}');
  });

  it('are read up to 10,000 of them, to the last', () => {
    expect(FormFields.parse(`${'a&'.repeat(9_999)}b=1`)?.values.get('b')).toBe('1');
    expect(FormFields.parse(`${'a&'.repeat(10_000)}b=1`)).toBeUndefined();
    expect(FormFields.parse('&'.repeat(10_000))).toBeUndefined();
    expect(FormFields.parse('&'.repeat(9_999))?.values.size).toBe(0);
  });
});

describe('a long form', () => {
  const payloadOf = (body: string | Buffer, type = FORM) => inputOf(type, body).payload();
  const LONG = 100_000;

  it.each([
    ['a long value', `a=${'x"%C3%A4'.repeat(LONG / 8)}&b=1`],
    ['many fields', 'a=1&b=&1=x&'.repeat(3000)],
    ['one name', `${'a=%41&'.repeat(9_999)}a=${'y'.repeat(LONG)}`],
  ])('is JSON as JSON.stringify writes it: %s', (_what, form) => {
    const value = Object.fromEntries(FormFields.parse(form)?.values ?? []);
    const payload = payloadOf(form) as { readonly json: string };
    expect(payload).toMatchObject({ mediaType: 'application/json', value });
    expect(JSON.parse(payload.json)).toEqual(value);
  });

  it('of control characters, whose escapes would be many times as long, is kept as bytes', () => {
    const form = `a=${'\u0001'.repeat(2 * LONG)}`;
    expect(payloadOf(form)).toEqual(bytes(Buffer.from(form), FORM));
  });

  it('that is JSON is found after white space and byte order marks', () => {
    const json = '{"a":1}';
    for (const body of [` \r\n\t${json}`, `\ufeff${json}`, ' '.repeat(LONG) + json])
      expect(payloadOf(body)).toMatchObject({ json });
    expect(payloadOf(Buffer.from(`\ufeff${json}`, 'utf16le'), `${FORM}; charset=utf-16`)).toMatchObject({ json });
  });
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
