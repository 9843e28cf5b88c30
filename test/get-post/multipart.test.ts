import fc from 'fast-check';
import { multipartPayload } from '../../src/get-post/multipart';
import { multipartBody } from '../../src/pages/received-request';
import { MediaType } from '../../src/http/content/media-type';
import { anyCharacter } from '../support/arbitraries';
import { BINDINGS, callOperation, eventsOf, requestOf, resultOf } from '../support/bindings';
import { send } from '../support/http';
import { startService } from '../support/service';

const TYPE = 'multipart/form-data; boundary=x';

/** The object that is made of a body; undefined if its bytes are kept. */
function formOf(body: string | Buffer, type = TYPE): unknown {
  const payload = multipartPayload(MediaType.parse(type), Buffer.from(body as string));
  return payload && 'json' in payload ? (JSON.parse(payload.json) as unknown) : undefined;
}

const part = (header: string, content = 'v') => `--x\r\n${header}\r\n\r\n${content}\r\n`;
const field = (name: string, content?: string) => part(`Content-Disposition: form-data; name="${name}"`, content);
const END = '--x--\r\n';

describe('a form with files is an object', () => {
  it.each<[string, string, object]>([
    ['of texts', field('a', '1') + field('b', 'ä\r\n"'), { a: '1', b: 'ä\r\n"' }],
    ['with a list for a repeated name', field('a', '1') + field('b') + field('a', '2'), { a: ['1', '2'], b: 'v' }],
    [
      'with files in base64, and their names',
      part('Content-Disposition: form-data; name="f"; filename="ä %22.png"\r\nContent-Type: image/png', 'abcd'),
      { f: { filename: 'ä %22.png', contentType: 'image/png', base64: 'YWJjZA==' } },
    ],
    [
      'with a file that was not chosen',
      part('Content-Disposition: form-data; name="f"; filename=""', ''),
      { f: { filename: '', base64: '' } },
    ],
    ['with an empty text', field('a', ''), { a: '' }],
    [
      'with an empty text without a line of its own',
      '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n--x--',
      { a: '' },
    ],
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
      part("Content-Disposition: form-data; name=f; filename*=utf-8''%e2%82%ac.txt"),
      { f: { filename: '€.txt', base64: 'dg==' } },
    ],
    [
      'and beside an encoded word, as .NET sends both, and names beyond ASCII',
      part(
        'Content-Disposition: form-data; name="=?utf-8?B?w6Q=?="; filename="=?utf-8?B?4oKsLnR4dA==?="; ' +
          "filename*=utf-8''%E2%82%AC.txt",
      ),
      { ä: { filename: '€.txt', base64: 'dg==' } },
    ],
    [
      'with a text in the character set that its part names',
      part('Content-Disposition: form-data; name=a\r\nContent-Type: text/plain;\tcharset=utf-16le', 'a\0b\0') +
        part(
          'Content-Disposition: form-data; name=b\r\nContent-Type: text/plain; charset="iso-2022-jp"',
          '\x1b$B$"\x1b(B',
        ),
      { a: 'ab', b: 'あ' },
    ],
    [
      'with a text in a character set that is not known in base64',
      part('Content-Disposition: form-data; name=a\r\nContent-Type: text/plain; charset=x-own'),
      { a: { contentType: 'text/plain; charset=x-own', base64: 'dg==' } },
    ],
    ...['application/json', 'text/plain; charset = utf-8', "text/plain; charset='utf-8'", 'text/plain; x=y'].map(
      (type): [string, string, object] => [
        `with a text as ${type} in base64`,
        part(`Content-Disposition: form-data; name=a\r\nContent-Type: ${type}`),
        { a: { contentType: type, base64: 'dg==' } },
      ],
    ),
    ['with a text after a byte order mark in base64', field('a', '\uFEFFv'), { a: { base64: '77u/dg==' } }],
    [
      'with the fields in which OkHttp and others say what is known',
      part('Content-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: binary\r\nContent-Length: 1'),
      { a: 'v' },
    ],
    [
      'as .NET sends it',
      part('Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=a'),
      { a: 'v' },
    ],
    [
      'with bytes that only look like a delimiter',
      field('a', '1--x\r\n-x\r\n--y') + field('b'),
      { a: '1--x\r\n-x\r\n--y', b: 'v' },
    ],
  ])('%s', (_which, body, object) => {
    expect(formOf(body + (body.endsWith('--x--') ? '' : END))).toEqual(object);
  });

  it('with what is not UTF-8 in base64', () => {
    const [before = '', after = ''] = field('a', '|').split('|');
    expect(formOf(Buffer.concat([Buffer.from(before), Buffer.from([0xff]), Buffer.from(after + END)]))).toEqual({
      a: { base64: '/w==' },
    });
  });
});

describe('a body is kept as bytes', () => {
  it.each(
    [
      ['without a part', END],
      ['without an end', field('a')],
      ['that ends within a part', field('a').slice(0, -4)],
      ['with something before it', `preamble\r\n${field('a')}${END}`],
      ['with something after it', `${field('a')}${END}epilogue`],
      ['with a part that has no name', part('Content-Disposition: form-data') + END],
      ['with a part of another kind', part('Content-Disposition: attachment; name="a"') + END],
      ['with a part without a header', `--x\r\n\r\nv\r\n${END}`],
      ['with a header that is none', part('Content-Disposition: form-data; name="a"\r\n folded') + END],
      [
        'with a header twice',
        part('Content-Disposition: form-data; name="a"\r\ncontent-disposition: form-data; name="b"') + END,
      ],
      [
        'with an encoded part',
        part('Content-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64', 'dg==') + END,
      ],
      ...['Content-ID: <1>', 'X-Checksum: 1', '__proto__: 1', 'Content-Length: 2'].map((other) => [
        `with a part with ${other}`,
        part(`Content-Disposition: form-data; name="a"\r\n${other}`) + END,
      ]),
      ['with two names of a part', part('Content-Disposition: form-data; name="a"; name="b"') + END],
      [
        'with two names of a file',
        part("Content-Disposition: form-data; name=a; filename=b; filename*=utf-8''c") + END,
      ],
      ['with the language of a name', part("Content-Disposition: form-data; name=a; filename*=utf-8'en'b") + END],
      ['with a quote within a name', field('a\\"b') + END],
      ['with a parameter that is not known', part('Content-Disposition: form-data; name=a; size=1') + END],
      [
        "with a file's name in another character set",
        part("Content-Disposition: form-data; name=a; filename*=x''a") + END,
      ],
      [
        "with a file's name that is not UTF-8",
        part("Content-Disposition: form-data; name=a; filename*=utf-8''%E9") + END,
      ],
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
    ].map(([which = '', body = '', type = TYPE]) => [which, body, type] as const),
  )('%s', (_which, body, type) => {
    expect(formOf(body, type)).toBeUndefined();
  });

  it('but not at these limits', () => {
    expect(formOf(field('a').repeat(1000) + END)).toEqual({ a: Array.from({ length: 1000 }, () => 'v') });
    const long = 'x'.repeat(70);
    expect(formOf((field('a') + END).replaceAll('--x', `--${long}`), `multipart/form-data; boundary=${long}`)).toEqual({
      a: 'v',
    });
  });
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
        expect(multipartBody(JSON.stringify(read), MediaType.parse(type) as MediaType)?.toString('latin1')).toBe(
          body.toString('latin1'),
        );
      },
    ),
    { numRuns: 30 },
  );
});

describe('over the bindings', () => {
  const BODY = field('order', '19') + part('Content-Disposition: form-data; name="f"; filename="a.txt"', 'abc') + END;

  it('RecordEvent over POST takes it; an operation with parameters and SOAP refuse it', async () => {
    const service = await startService();
    const post = (path: string) =>
      send(service.url + path, { method: 'POST', headers: { 'Content-Type': TYPE }, body: BODY });
    expect(resultOf(await post('/RecordEvent'))).toMatch(/^[\da-f-]{36}$/);
    expect(eventsOf(await callOperation(service.url, 'httpget', 'GetEvents'))).toMatchObject([
      { data: { order: '19', f: { filename: 'a.txt', base64: 'YWJj' } }, datacontenttype: 'application/json' },
    ]);
    expect(resultOf(await post('/HelloWorld'))).toBe('Hello World');
    expect((await post('/GetEvents')).status).toBe(415);
    for (const binding of BINDINGS.filter((name) => name.startsWith('soap'))) {
      const { path, ...question } = requestOf(binding, 'RecordEvent');
      const answer = await send(service.url + path, {
        ...question,
        headers: { ...question.headers, 'Content-Type': TYPE },
        body: BODY,
      });
      expect(answer.status).toBe(415);
    }
  });

  it('one that cannot be read keeps its bytes, whatever character set it names', async () => {
    const service = await startService();
    const body = 'not a form';
    const headers = { 'Content-Type': `${TYPE}; charset=utf-8` };
    await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body });
    expect(eventsOf(await callOperation(service.url, 'httpget', 'GetEvents'))).toMatchObject([
      { data_base64: Buffer.from(body).toString('base64') },
    ]);
  });

  it('a CloudEvent in binary mode keeps its bytes', async () => {
    const service = await startService();
    const own = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/s', 'ce-type': 'own', 'Content-Type': TYPE };
    await send(`${service.url}/RecordEvent`, { method: 'POST', headers: own, body: BODY });
    expect(eventsOf(await callOperation(service.url, 'httpget', 'GetEvents'))).toMatchObject([
      { data_base64: Buffer.from(BODY).toString('base64') },
    ]);
  });
});
