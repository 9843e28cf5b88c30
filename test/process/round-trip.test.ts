import * as fc from 'fast-check';
import { BINDINGS, callOperation, eventsOf, NAMESPACE, post, resultOf, type CloudEvent } from '../support/bindings';
import { send } from '../support/http';
import { useService } from '../support/service';
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
  // The event that is looked for is the newest one.
  const service = useService({ GET_EVENTS_LIMIT: '3' });

  const record = async (contentType: string, body: string | Buffer) => {
    const answer = await post(service.url, body, { 'Content-Type': contentType });
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

  const holds = <T>(
    title: string,
    values: fc.Arbitrary<T>,
    property: (value: T) => Promise<void>,
    examples: T[] = [],
  ) => {
    const options = { numRuns: 10, examples: examples.map((example): [T] => [example]) };
    it(title, () => fc.assert(fc.asyncProperty(values, property), options), 60_000);
  };

  holds(
    'text',
    text,
    async (value) => {
      expect((await recorded(await record('text/plain; charset=utf-8', value))).data).toBe(value);
    },
    HARD_TEXTS,
  );

  holds(
    'text in UTF-16, and ill-formed UTF-16 as bytes',
    fc
      .array(fc.nat(0xffff), { minLength: 1, maxLength: 50 })
      .map((units) => String.fromCharCode(...units))
      .filter((value) => !value.startsWith('\uFEFF')),
    async (value) => {
      const bytes = Buffer.from(value, 'utf16le');
      const event = await recorded(await record('text/plain; charset=utf-16le', bytes));
      if (value.isWellFormed()) expect(event.data).toBe(value);
      else expect(event.data_base64).toBe(bytes.toString('base64'));
    },
    ['\uD800', 'a\uDC00b', '\u{1F600}', '\uFFFE\u0000'],
  );

  holds('bytes', fc.uint8Array({ minLength: 1, maxLength: 300 }), async (value) => {
    const event = await recorded(await record('application/octet-stream', Buffer.from(value)));
    expect(event.data_base64).toBe(Buffer.from(value).toString('base64'));
  });

  holds(
    'JSON, lone surrogates in escapes included',
    fc.jsonValue({ stringUnit: anyCharacter }),
    async (value) => {
      const json = JSON.stringify(value, undefined, 1);
      expect((await recorded(await record('application/json', json))).data).toEqual(JSON.parse(json));
    },
    ['\uD800', '\uFFFE', { ['__proto__']: 1 }, { toString: { constructor: null } }, [[[[]]]]],
  );

  it.each(['{"a":1', "{'a':1}", 'NaN', ' '])('invalid JSON, as text: %s', async (value) => {
    const event = await recorded(await record('application/json', value));
    expect([event.data, event.datacontenttype]).toEqual([value, 'text/plain']);
  });

  const fields = fc.array(
    fc.tuple(fc.string({ unit: 'grapheme', maxLength: 8 }), fc.string({ unit: 'grapheme', maxLength: 20 })),
    { minLength: 1, maxLength: 6 },
  );
  const hardFields = ['__proto__=a&constructor=b', 'a=1&a=%00%0D%0A&='].map((form) => [...new URLSearchParams(form)]);
  for (const place of ['forms', 'query strings']) {
    holds(
      place,
      fields,
      async (pairs) => {
        const form = new URLSearchParams(pairs).toString();
        const id =
          place === 'forms'
            ? await record('application/x-www-form-urlencoded', form)
            : resultOf(await send(`${service.url}/RecordEvent?${form}`));
        expect((await recorded(id)).data).toEqual(asObject(pairs));
      },
      hardFields,
    );
  }

  it.each([
    ['text', 'text/plain', '<&>\r\n'.repeat(200_000)],
    ['JSON', 'application/json', JSON.stringify({ a: ['\uFFFE]]>"'.repeat(120_000)] })],
    ['XML', 'text/xml', `<a>${'<b>]]&gt;</b>'.repeat(80_000)}</a>`],
    ['bytes', 'image/png', Buffer.alloc(1_000_000, 'ÿ\u0000', 'latin1')],
  ])('a megabyte of %s', async (what, type, body) => {
    const { data, data_base64: bytes } = await recorded(await record(type, body));
    const text = what === 'JSON' ? JSON.stringify(data) : data;
    expect(typeof body === 'string' ? text === body : bytes === body.toString('base64')).toBe(true);
  });

  it('a megabyte of XML over SOAP', async () => {
    const xml = '<b k="v">]]&gt;</b>'.repeat(60_000);
    const id = await callOperation(service.url, 'soap12', 'RecordEvent', xml);
    expect(String((await recorded(id)).data).replaceAll(` xmlns="${NAMESPACE}"`, '') === xml).toBe(true);
  });
});

/** Fields as an object: a string for a name that occurs once, a list for one that is repeated. */
function asObject(pairs: readonly (readonly [string, string])[]): unknown {
  const names = [...new Set(pairs.map(([name]) => name))];
  const members = names.map((name) => {
    const values = pairs.filter(([other]) => other === name).map(([, value]) => value);
    return `${JSON.stringify(name)}:${JSON.stringify(values.length === 1 ? values[0] : values)}`;
  });
  return JSON.parse(`{${members.join(',')}}`);
}
