import * as fc from 'fast-check';
import { SaxesParser } from 'saxes';
import {
  BINDINGS,
  callOperation,
  eventsOf,
  NAMESPACE,
  resultOf,
  SOAP_11_NAMESPACE,
  type CloudEvent,
} from '../support/bindings';
import { send } from '../support/http';
import { startService, type TestService } from '../support/service';
import { anyCharacter } from '../support/arbitraries';

/** Any string that UTF-8 can encode. A byte order mark at its start would not be part of the text. */
const text = fc
  .string({ unit: anyCharacter, maxLength: 200 })
  .filter((value) => value !== '' && !value.startsWith('\uFEFF'));

const HARD_TEXTS = [
  '\u0000\u0001\u001f\u007f\u0085',
  'a\r\nb\rc\n',
  ']]>',
  '<![CDATA[x]]>',
  '&amp;&lt;<>"\'',
  '\uFFFE\uFFFF\uFDD0\u{1FFFF}',
  '\u2028\u2029\u00a0',
  '{"a":1}',
  ' ',
];

describe('what is recorded comes back over every binding', () => {
  let service: TestService;
  beforeAll(async () => {
    // The event that is looked for is the newest one.
    service = await startService({ GET_EVENTS_LIMIT: '3' });
  });
  afterAll(() => service.stop());

  const post = async (contentType: string, body: string | Buffer): Promise<string> => {
    const answer = await send(`${service.url}/RecordEvent`, {
      method: 'POST',
      headers: { 'Content-Type': contentType },
      body,
    });
    expect(answer.status).toBe(200);
    return resultOf(answer);
  };

  /** The event that all bindings return; fails unless they return the same one. */
  const recorded = async (id: string): Promise<CloudEvent> => {
    const told = await Promise.all(
      BINDINGS.map(async (binding) =>
        eventsOf(await callOperation(service.url, binding, 'GetEvents')).find((event) => event.id === id),
      ),
    );
    for (const event of told) expect(event).toEqual(told[0]);
    const listed = told[0];
    const [event] = typeof listed?.dataref === 'string' ? eventsOf(resultOf(await send(listed.dataref))) : [listed];
    if (event === undefined) throw new Error(`${id} is not there`);
    return event;
  };

  const holds = <T>(arbitrary: fc.Arbitrary<T>, property: (value: T) => Promise<void>, examples: T[] = []) =>
    fc.assert(fc.asyncProperty(arbitrary, property), { numRuns: 10, examples: examples.map((example) => [example]) });

  it(
    'text',
    () =>
      holds(
        text,
        async (value) => {
          expect((await recorded(await post('text/plain; charset=utf-8', value))).data).toBe(value);
        },
        HARD_TEXTS,
      ),
    60_000,
  );

  it(
    'text in UTF-16, and ill-formed UTF-16 as bytes',
    () =>
      holds(
        fc
          .array(fc.nat(0xffff), { minLength: 1, maxLength: 50 })
          .map((units) => String.fromCharCode(...units))
          .filter((value) => !value.startsWith('\uFEFF')),
        async (value) => {
          const bytes = Buffer.from(value, 'utf16le');
          const event = await recorded(await post('text/plain; charset=utf-16le', bytes));
          if (value.isWellFormed()) expect(event.data).toBe(value);
          else expect(event.data_base64).toBe(bytes.toString('base64'));
        },
        ['\uD800', 'a\uDC00b', '\u{1F600}', '\uFFFE\u0000'],
      ),
    60_000,
  );

  it(
    'bytes',
    () =>
      holds(fc.uint8Array({ minLength: 1, maxLength: 300 }), async (value) => {
        const event = await recorded(await post('application/octet-stream', Buffer.from(value)));
        expect(event.data_base64).toBe(Buffer.from(value).toString('base64'));
      }),
    60_000,
  );

  it(
    'JSON, lone surrogates in escapes included',
    () =>
      holds(
        fc.jsonValue({ stringUnit: anyCharacter }),
        async (value) => {
          const json = JSON.stringify(value, undefined, 1);
          expect((await recorded(await post('application/json', json))).data).toEqual(JSON.parse(json));
        },
        ['\uD800', '\uFFFE', { ['__proto__']: 1 }, { toString: { constructor: null } }, [[[[]]]]],
      ),
    60_000,
  );

  it(
    'invalid JSON, as text',
    () =>
      holds(
        text.filter((value) => !isJson(value)),
        async (value) => {
          const event = await recorded(await post('application/json', value));
          expect([event.data, event.datacontenttype]).toEqual([value, 'text/plain']);
        },
        ['{"a":1', "{'a':1}", 'NaN'],
      ),
    60_000,
  );

  const fields = fc.array(
    fc.tuple(fc.string({ unit: 'grapheme', maxLength: 8 }), fc.string({ unit: 'grapheme', maxLength: 20 })),
    {
      minLength: 1,
      maxLength: 6,
    },
  );
  const hardFields: [string, string][][] = [
    [
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ],
    [
      ['a', '1'],
      ['a', '\u0000\r\n'],
      ['', ''],
    ],
  ];

  it(
    'forms',
    () =>
      holds(
        fields,
        async (pairs) => {
          const id = await post('application/x-www-form-urlencoded', new URLSearchParams(pairs).toString());
          expect((await recorded(id)).data).toEqual(asObject(pairs));
        },
        hardFields,
      ),
    60_000,
  );

  it(
    'query strings',
    () =>
      holds(
        fields,
        async (pairs) => {
          const answer = await send(`${service.url}/RecordEvent?${new URLSearchParams(pairs).toString()}`);
          expect((await recorded(resultOf(answer))).data).toEqual(asObject(pairs));
        },
        hardFields,
      ),
    60_000,
  );

  it(
    'XML fragments, as the same elements, attributes and text',
    () =>
      holds(
        fragment,
        async (xml) => {
          const inside = `<t:RecordEvent xmlns:t="${NAMESPACE}">${xml}</t:RecordEvent>`;
          const answer = await send(service.url, {
            method: 'POST',
            headers: { 'Content-Type': 'text/xml; charset=utf-8' },
            body: `<e:Envelope xmlns:e="${SOAP_11_NAMESPACE}" xmlns:p="urn:p" xmlns="urn:default"><e:Body>${inside}</e:Body></e:Envelope>`,
          });
          expect(answer.status).toBe(200);
          const { data } = await recorded(resultOf(answer));
          expect(read(`<x>${String(data)}</x>`)).toEqual(
            read(`<x xmlns:p="urn:p" xmlns="urn:default">${xml}</x>`).map(withoutRoot),
          );
        },
        ['<p:a p:b="]]&gt;&#13;&#10;"/>', '<a>&#x1F600;&#xD;<![CDATA[<&]]></a>', 'x<a/> y', '<a xmlns=""><b/></a>'],
      ),
    60_000,
  );

  it.each([
    ['text', 'text/plain', '<&>\r\n'.repeat(200_000)],
    ['JSON', 'application/json', JSON.stringify({ a: ['\uFFFE]]>"'.repeat(120_000)] })],
    ['XML', 'text/xml', `<a>${'<b>]]&gt;</b>'.repeat(80_000)}</a>`],
  ])('a megabyte of %s', async (_what, type, body) => {
    const { data } = await recorded(await post(type, body));
    expect(data).toEqual(type === 'application/json' ? JSON.parse(body) : body);
  });

  it('a megabyte of bytes', async () => {
    const body = Buffer.alloc(1_000_000, 'ÿ\u0000', 'latin1');
    const { data_base64: data } = await recorded(await post('image/png', body));
    expect(data === body.toString('base64')).toBe(true);
  });

  it('a megabyte of XML over SOAP', async () => {
    const xml = '<b k="v">]]&gt;</b>'.repeat(60_000);
    const id = await callOperation(service.url, 'soap12', 'RecordEvent', xml);
    expect(String((await recorded(id)).data).replaceAll(` xmlns="${NAMESPACE}"`, '') === xml).toBe(true);
  });
});

function isJson(value: string): boolean {
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

/** Fields as an object: a string for a name that occurs once, a list for one that is repeated. */
function asObject(pairs: readonly (readonly [string, string])[]): unknown {
  const names = [...new Set(pairs.map(([name]) => name))];
  const members = names.map((name) => {
    const values = pairs.filter(([other]) => other === name).map(([, value]) => value);
    return `${JSON.stringify(name)}:${JSON.stringify(values.length === 1 ? values[0] : values)}`;
  });
  return JSON.parse(`{${members.join(',')}}`);
}

const xmlString = fc
  .string({ unit: anyCharacter, maxLength: 20 })
  .map((value) => value.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, ''));
const escaped = xmlString.map((value) =>
  value.replace(/[&<>"\r\t\n]/g, (character) => `&#${String(character.charCodeAt(0))};`),
);
const name = fc.constantFrom('a', 'b', 'p:c', 'long-name_1.x', 'é');
const { fragment } = fc.letrec((tie) => ({
  fragment: fc
    .array(tie('node') as fc.Arbitrary<string>, { minLength: 1, maxLength: 4 })
    .map((nodes) => `<a/>${nodes.join('')}`),
  node: fc.oneof(
    { maxDepth: 4 },
    escaped,
    xmlString.map((value) => `<![CDATA[${value.replaceAll(']]>', '').replaceAll('\r', '')}]]>`),
    fc.constant('<!-- comment -->'),
    { weight: 5, arbitrary: tie('element') as fc.Arbitrary<string> },
  ),
  element: fc
    .tuple(
      name,
      fc.dictionary(name, escaped, { maxKeys: 2 }),
      fc.array(tie('node') as fc.Arbitrary<string>, { maxLength: 3 }),
    )
    .map(([tag, attributes, children]) => {
      const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${value}"`);
      return `<${tag}${written.join('')}>${children.join('')}</${tag}>`;
    }),
})) as { fragment: fc.Arbitrary<string> };

/** What a strict parser reads: names with namespaces, attributes, and text with neighbours joined. */
function read(xml: string): string[] {
  const parser = new SaxesParser({ xmlns: true });
  const seen: string[] = [];
  const add = (part: string): void => {
    if (part.startsWith('T') && seen.at(-1)?.startsWith('T')) seen[seen.length - 1] += part.slice(1);
    else seen.push(part);
  };
  parser.on('opentag', ({ uri, local, attributes }) => {
    const kept = Object.values(attributes).filter(({ name: given }) => !/^xmlns(?::|$)/.test(given));
    const told = kept.map((attribute) => `${attribute.uri}|${attribute.local}=${attribute.value}`).sort();
    add(`<${uri}|${local} ${told.join(' ')}>`);
  });
  parser.on('closetag', ({ uri, local }) => {
    add(`</${uri}|${local}>`);
  });
  for (const event of ['text', 'cdata'] as const) {
    parser.on(event, (part) => {
      if (part !== '') add(`T${part}`);
    });
  }
  parser.write(xml).close();
  return seen;
}

/** Removes the namespace of the root, which is the test's own element. */
function withoutRoot(part: string): string {
  return part.replace(/^(<\/?)urn:default\|x( |>)/, '$1|x$2');
}
