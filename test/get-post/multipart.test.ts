import fc from 'fast-check';
import { EventData } from '../../src/events/payload';
import { multipartPayload } from '../../src/get-post/multipart';
import { multipartBody } from '../../src/pages/received-request';
import { MediaType } from '../../src/http/content/media-type';
import { anyCharacter } from '../support/arbitraries';
import { ask, newestEvents, post, resultOf, type BindingName } from '../support/bindings';
import { forgetAll } from '../support/events';
import { useService } from '../support/service';

const TYPE = 'multipart/form-data; boundary=x';

/** The object that is made of a body; undefined if its bytes are kept. */
function formOf(body: string | Buffer, type = TYPE): unknown {
  const payload = multipartPayload(MediaType.parse(type), Buffer.from(body as string));
  return payload && 'json' in payload ? (JSON.parse(payload.json) as unknown) : undefined;
}

const part = (header: string, content = 'v') => `--x\r\n${header}\r\n\r\n${content}\r\n`;
/** A part with further parameters of its Content-Disposition, and further lines after it. */
const partWith = (parameters: string, lines = '', content?: string) =>
  part(`Content-Disposition: form-data; ${parameters}${lines && `\r\n${lines}`}`, content);
const field = (name: string, content?: string) => partWith(`name="${name}"`, '', content);
const END = '--x--\r\n';

describe('a form with files is an object', () => {
  it.each<[string, string, object]>([
    ['with a list for a repeated name', field('a', '1') + field('b') + field('a', '2'), { a: ['1', '2'], b: 'v' }],
    ['with a file that was not chosen', partWith('name="f"; filename=""', '', ''), { f: { filename: '', base64: '' } }],
    ['with an empty text without a line', '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n--x--', { a: '' }],
    [
      'with names of all kinds',
      field('__proto__') + field('') + field('a\\b') + field('ab') + field(' '.repeat(900)),
      JSON.parse(`{"__proto__":"v","":"v","a\\\\b":"v","ab":"v","${' '.repeat(900)}":"v"}`) as object,
    ],
    [
      'with the paths that old browsers send as names of files, and a file of no type',
      part('content-disposition: FORM-DATA; name=f; filename="C:\\temp\\x.csv"'),
      { f: { filename: 'C:\\temp\\x.csv', base64: 'dg==' } },
    ],
    [
      "with a file's name as RFC 8187 has it, alone",
      partWith("name=f; filename*=utf-8''%e2%82%ac.txt"),
      { f: { filename: '€.txt', base64: 'dg==' } },
    ],
    [
      'and beside an encoded word, as .NET sends both, and names beyond ASCII',
      partWith('name="=?utf-8?B?w6Q=?="; filename="=?utf-8?B?4oKsLnR4dA==?="; ' + "filename*=utf-8''%E2%82%AC.txt"),
      { ä: { filename: '€.txt', base64: 'dg==' } },
    ],
    [
      'with a text in the character set that its part names',
      partWith('name=a', 'Content-Type: text/plain;\tcharset=utf-16le', 'a\0b\0') +
        partWith('name=b', 'Content-Type: text/plain; charset="iso-2022-jp"', '\x1b$B$"\x1b(B') +
        partWith('name=c', 'Content-Type: text/plain; charset=US-ASCII', 'ä'),
      { a: 'ab', b: 'あ', c: 'ä' },
    ],
    ...[
      ...['text/plain; charset=x-own', 'text/plain; charset = utf-8', "text/plain; charset='utf-8'"],
      ...['text/plain; x=y', 'application/json'],
    ].map((type): [string, string, object] => [
      `with a text as ${type} in base64`,
      partWith('name=a', `Content-Type: ${type}`),
      { a: { contentType: type, base64: 'dg==' } },
    ]),
    ['with a text after a byte order mark in base64', field('a', '\uFEFFv'), { a: { base64: '77u/dg==' } }],
    [
      'with the fields in which OkHttp and others say what is known',
      partWith('name="a"', 'Content-Transfer-Encoding: binary\r\nContent-Length: 1'),
      { a: 'v' },
    ],
    [
      'as .NET sends it',
      part('Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=a') +
        partWith("name=f; filename=a.txt; filename*=utf-8''a.txt"),
      { a: 'v', f: { filename: 'a.txt', base64: 'dg==' } },
    ],
    [
      'with bytes that only look like a delimiter',
      field('a', '1--x\r\n-x\r\n--y') + field('b'),
      { a: '1--x\r\n-x\r\n--y', b: 'v' },
    ],
    ['of 1,000 parts', field('a').repeat(1000), { a: Array.from({ length: 1000 }, () => 'v') }],
  ])('%s', (_which, body, object) => {
    expect(formOf(body + (body.endsWith('--x--') ? '' : END))).toEqual(object);
  });

  it('with what is not UTF-8 in base64', () => {
    const body = Buffer.from(`${field('a', '\xff')}${END}`, 'latin1');
    expect(formOf(body)).toEqual({ a: { base64: '/w==' } });
  });

  it('with a boundary of 70 characters', () => {
    const long = 'x'.repeat(70);
    const body = (field('a') + END).replaceAll('--x', `--${long}`);
    expect(formOf(body, `multipart/form-data; boundary=${long}`)).toEqual({ a: 'v' });
  });
});

it.each<[string, string, string?]>([
  ['without a part', END],
  ['without an end', field('a')],
  ['that ends within a part', field('a').slice(0, -4)],
  ['with something before it', `preamble\r\n${field('a')}${END}`],
  ['with something after it', `${field('a')}${END}epilogue`],
  ['with a part of another kind', part('Content-Disposition: attachment; name="a"') + END],
  ['with a part that has no name', part('Content-Disposition: form-data') + END],
  ['with a part without a header', `--x\r\n\r\nv\r\n${END}`],
  ['with an encoded part', partWith('name="a"', 'Content-Transfer-Encoding: base64', 'dg==') + END],
  ...[
    ...['Content-ID: <1>', 'X-Checksum: 1', '__proto__: 1', 'Content-Length: 2', ' folded'],
    'content-disposition: form-data; name="b"',
  ].map((line): [string, string] => [`with a part with ${line}`, partWith('name="a"', line) + END]),
  ...[
    ...['name="a"; name="b"', 'name="a\\"b"', 'name=a; size=1', "name=a; filename=b; filename*=utf-8''c"],
    ...["name=a; filename*=utf-8'en'b", "name=a; filename*=x''a", "name=a; filename*=utf-8''%E9"],
  ].map((parameters): [string, string] => [`with a part of ${parameters}`, partWith(parameters) + END]),
  ['with more after a delimiter', `${field('a')}--xy\r\n${END}`],
  ['with more than 1,000 parts', field('a').repeat(1001) + END],
  ['with a header of more than 1 KiB', field('a'.repeat(1024)) + END],
  ['that would grow', field('a', '\u0001'.repeat(10_000)) + END],
  ['without a boundary', field('a') + END, 'multipart/form-data'],
  [
    'with a boundary that is too long',
    (field('a') + END).replaceAll('x', 'x'.repeat(71)),
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
  ],
  ['of another type', field('a') + END, 'multipart/mixed; boundary=x'],
])('a body is kept as bytes %s', (_which, body, type = TYPE) => {
  expect(formOf(body, type)).toBeUndefined();
});

it('what Node writes of any form is read as it is, and written again to the byte', async () => {
  const name = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    .map((text) => `n${text.toWellFormed().replace(/\\/g, '/')}`);
  const text = fc.string({ unit: anyCharacter, maxLength: 60 }).map((one) =>
    one
      .toWellFormed()
      .replace(/\r\n|[\r\n]/g, '\r\n')
      .replace(/^\uFEFF/, ''),
  );
  const bytes = fc.uint8Array({ maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(name, text, bytes), { minLength: 1, maxLength: 5, selector: ([one]) => one }),
      async (parts) => {
        const form = new FormData();
        const expected: Record<string, unknown> = {};
        // As browsers write names (HTML, section 4.10.21.8).
        const escaped = (one: string) => one.replace(/\r\n|\r|\n/g, '\r\n').replace(/[\r\n"]/g, encodeURIComponent);
        for (const [one, value, content] of parts) {
          form.append(one, value);
          form.append(`${one}.file`, new Blob([content], { type: 'image/png' }), `${one}.png`);
          expected[escaped(one)] = value;
          expected[escaped(`${one}.file`)] = {
            filename: escaped(`${one}.png`),
            contentType: 'image/png',
            base64: Buffer.from(content).toString('base64'),
          };
        }
        const response = new Response(form);
        const type = response.headers.get('content-type') ?? '';
        const body = Buffer.from(await response.arrayBuffer());
        const read = formOf(body, type);
        expect(read).toEqual(expected);
        const fields = new EventData(`"data":${JSON.stringify(read)}`).form();
        expect(multipartBody(fields, MediaType.parse(type) as MediaType)?.equals(body)).toBe(true);
      },
    ),
    { numRuns: 30 },
  );
});

describe('over the bindings', () => {
  const service = useService();
  afterEach(() => forgetAll(service.log));
  const BODY = field('order', '19') + partWith('name="f"; filename="a.txt"', '', 'abc') + END;
  const base64 = (text: string) => ({ data_base64: Buffer.from(text).toString('base64') });

  it('RecordEvent over POST takes it; an operation with parameters and SOAP refuse it', async () => {
    const headers = { 'Content-Type': TYPE };
    const send = (binding: BindingName, operation: string) =>
      ask(service.url, binding, operation, { fields: BODY, inside: BODY, headers });
    expect(resultOf(await send('httppost', 'RecordEvent'))).toMatch(/^[\da-f-]{36}$/);
    expect(await newestEvents(service.url)).toMatchObject([
      { data: { order: '19', f: { filename: 'a.txt', base64: 'YWJj' } }, datacontenttype: 'application/json' },
    ]);
    expect(resultOf(await send('httppost', 'HelloWorld'))).toBe('Hello World');
    expect((await send('httppost', 'GetEvents')).status).toBe(415);
    for (const binding of ['soap11', 'soap12'] as const) expect((await send(binding, 'RecordEvent')).status).toBe(415);
  });

  it('one that cannot be read, and a CloudEvent in binary mode, keep their bytes, whatever is named', async () => {
    await post(service.url, 'not a form', { 'Content-Type': `${TYPE}; charset=utf-8` });
    const own = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/s', 'ce-type': 'own', 'Content-Type': TYPE };
    await post(service.url, BODY, own);
    expect(await newestEvents(service.url)).toMatchObject([base64('not a form'), base64(BODY)]);
  });
});
