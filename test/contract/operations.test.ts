import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { createClientAsync } from 'soap';
import type { Service } from '../../src/service/call';
import { xmlText } from '../../src/xml/characters';
import { ask, BINDINGS, envelope11, NAMESPACE, resultOf, type BindingName } from '../support/bindings';
import { startEndpoint, type TestEndpoint } from '../support/endpoint';
import { send, type Answer } from '../support/http';
import { contractWith, OPERATIONS, ECHO_SERVICE, wsdlWith } from '../support/operations-with-parameters';
import { parsedText } from '../support/xml';

/** The operations that ran, in order. */
const ran: string[] = [];
const service: Service = Object.fromEntries(
  Object.entries(ECHO_SERVICE).map(([name, operation]) => [
    name,
    { ...operation, run: (...given) => (ran.push(name), operation.run(...given)) },
  ]),
);

let endpoint: TestEndpoint;
beforeAll(async () => {
  endpoint = await startEndpoint(service, await contractWith(OPERATIONS));
});
beforeEach(() => {
  ran.length = 0;
});

type Arguments = Readonly<Record<string, string | readonly string[]>>;

function call(binding: BindingName, operation: string, given: Arguments): Promise<Answer> {
  const list = Object.entries(given).flatMap(([name, texts]) =>
    [texts].flat().map((text): [string, string] => [name, text]),
  );
  const inside = list.map(([name, text]) => `<${name}>${xmlText(text)}</${name}>`).join('');
  return ask(endpoint.url, binding, operation, { inside, fields: new URLSearchParams(list).toString() });
}

const at = '2026-01-02T03:04:05Z';
const article = 'AB-123';
const few = { quantity: '99', article };
/** What Order returns for these. */
const ordered = (note: string) => `{ article: 'AB-123', size: undefined, quantity: 99, note: '${note}' }`;
const ABSENT = 'size: undefined, quantity: undefined, note: undefined';
const PLAIN = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
const NOT_A_NUMBER = '---> Input string was not in a correct format.';

describe.each(BINDINGS)('over %s', (binding) => {
  const isSoap = binding.startsWith('soap');

  it.each<[string, Arguments, string]>([
    ['Add', { b: ' 3\n', a: '+002', c: '1' }, '5'],
    ['Remind', { at }, "{ person: undefined, at: '2026-01-02T03:04:05Z' }"],
    ['Order', { article }, `{ article: 'AB-123', ${ABSENT} }`],
    ['Order', { note: '😀', ...few }, ordered('😀')],
  ])('%s of %j is %s', async (operation, given, result) => {
    const answer = await call(binding, operation, given);
    expect([answer.status, resultOf(answer), ran]).toEqual([200, result, [operation]]);
  });

  it('an empty text is a text, save for an optional field of a form', async () => {
    const { body } = await call(binding, 'Order', { article, note: '' });
    expect(parsedText(body)).toContain(binding === 'httppost' ? 'note: undefined' : "note: ''");
  });

  it.each<[string, Arguments, string]>([
    ['Add', { A: '1', b: '3' }, 'Missing parameter: a.'],
    ['Add', { a: '2', b: '' }, `Cannot convert  to System.Int32.\nParameter name: b ${NOT_A_NUMBER}`],
    ['Add', { a: ['1', '2'], b: '3' }, 'The parameter a must be given once.'],
    [
      'Add',
      { a: `<b>"${'x'.repeat(10_000)}`, b: '3' },
      `Cannot convert <b>"${'x'.repeat(196)}… to System.Int32.\nParameter name: a ${NOT_A_NUMBER}`,
    ],
  ])('%s is refused with what is wrong (%#)', async (operation, given, message) => {
    const answer = await call(binding, operation, given);
    expect([answer.status, ran]).toEqual([isSoap ? 500 : 400, []]);
    expect(textOf(answer)).toContain(isSoap ? `Server was unable to read request. ---> ${message}` : `${message}\n`);
    if (isSoap) expect(answer.body).toMatch(/soap:(?:Client|Sender)</);
    if (isSoap) expect(answer.body).not.toContain('<b>');
    else expect(answer.headers).toMatchObject(PLAIN);
    expect(endpoint.reports.at(-1)).toMatchObject({ binding, operation, error: { category: 'invalid' } });
  });
});

/** The text of an answer: that of an XML document, or plain text as it is. */
function textOf({ headers, body }: Answer): string {
  const isXml = headers['content-type']?.startsWith('text/plain') === false;
  return isXml ? parsedText(body) : body;
}

const AS_JSON = { 'Content-Type': 'application/json' };

it.each([
  ['Add', '{"a":2,"b":"3"}', '5'],
  ['Remind', '{"person":[null,""],"at":12345678901234567890.10}', "{ person: '', at: '12345678901234567890.10' }"],
  ['Remind', '{"person":null,"at":[true]}', "{ person: undefined, at: 'true' }"],
  ['Order', '{"article":"AB-123","size":null,"quantity":99,"note":""}', ordered('')],
])('a body of JSON for %s, %s, gives %s', async (operation, body, result) => {
  const answer = await ask(endpoint.url, 'httppost', operation, { fields: body, headers: AS_JSON });
  expect([answer.status, resultOf(answer)]).toEqual([200, result]);
});

/** Any text that XML can hold, rich in what parsers and decoders change. */
const TEXT = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...' \t\r\n+&=<"\\\u0085\u2028😀', '%41', ']]>', '&lt;'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
  ),
});

it('any texts arrive as they were sent, over every binding and as JSON', async () => {
  await fc.assert(
    fc.asyncProperty(
      TEXT.filter((text) => text !== ''),
      async (person) => {
        const expected = inspect({ person, at }, { breakLength: Infinity });
        const fields = JSON.stringify({ person, at });
        const answers = await Promise.all([
          ...BINDINGS.map((binding) => call(binding, 'Remind', { at, person })),
          ask(endpoint.url, 'httppost', 'Remind', { fields, headers: AS_JSON }),
        ]);
        for (const answer of answers) expect(resultOf(answer)).toBe(expected);
      },
    ),
    { numRuns: 30 },
  );
});

describe('over SOAP', () => {
  const post = async (body: string) => {
    const answer = await send(endpoint.url, { method: 'POST', headers: { 'Content-Type': 'text/xml' }, body });
    return parsedText(answer.body);
  };

  it('a parameter in another namespace or in none is ignored, with a hint for the operator', async () => {
    const own = `<n:Order xmlns:n="${NAMESPACE}"><n:article>AB-123</n:article>`;
    for (const [element, found] of [
      ['<size>large</size>', 'in no namespace'],
      [`<size xmlns="urn:x:${'y'.repeat(10_000)}">large</size>`, 'in the namespace "urn:x:y'],
    ]) {
      const message = envelope11('Order').replace(/<Order.*<\/Order>/, `${own}${String(element)}</n:Order>`);
      expect(await post(message)).toBe(`{ article: 'AB-123', ${ABSENT} }`);
      const hint = endpoint.hints.at(-1);
      expect(hint?.key).toBe('parameter-namespace');
      expect(hint?.message).toContain(`A SOAP message for Order has the parameter size ${String(found)}`);
      expect(hint?.message).toContain(`in "${NAMESPACE}"`);
      expect(hint?.message.length).toBeLessThan(500);
    }
  });

  it('a parameter with elements in it is refused', async () => {
    expect(await post(envelope11('Order', '<article><b>AB-123</b></article>'))).toContain(
      'Server was unable to read request. ---> The parameter article must be text, without XML elements in it.',
    );
  });
});

it.each(['?WSDL', '?WSDL=extended'])(
  'a node-soap client made from %s sends arguments of each type, and learns what is wrong',
  async (wsdl) => {
    const client = await createClientAsync(endpoint.url + wsdl, { forceSoap12Headers: wsdl === '?WSDL=extended' });
    const call = async (operation: string, input: object): Promise<unknown> => {
      const ask = client[`${operation}Async`] as (input: object) => Promise<[Record<string, unknown>]>;
      return (await ask(input))[0][`${operation}Result`];
    };
    expect(await call('Remind', { person: ' Zoë & <b>\tx ', at })).toBe(
      "{ person: ' Zoë & <b>\\tx ', at: '2026-01-02T03:04:05Z' }",
    );
    expect(await call('Order', { ...few, note: ']]>' })).toBe(ordered(']]>'));
    await expect(call('Add', { a: 2 })).rejects.toThrow('Missing parameter: b.');
  },
);

it('the recipe in docs/architecture.md shows lines of the operation that these tests call', async () => {
  const read = (...path: string[]) => readFile(join(__dirname, '..', '..', ...path), 'utf8');
  /** A text without white space at the ends of its lines and elements. */
  const flush = (text: string) => text.replace(/^ +/gm, '').replace(/>\s+</g, '><').trim();
  const page = await read('docs', 'architecture.md');
  const recipe = /\*\*Add an operation with parameters\.\*\*(.*?)\n\*\*/s.exec(page)?.[1] ?? '';
  const [schema, message, operation, ...others] = (recipe.match(/(?<=\n\n)(?: {4}.*\n)+/g) ?? []).map(flush);
  expect(others).toEqual([]);
  for (const name of ['WebHooks.wsdl', 'WebHooks.extended.wsdl']) {
    const wsdl = flush(wsdlWith(OPERATIONS, name));
    expect(wsdl).toContain(schema);
    expect(wsdl).toContain(message);
  }
  expect(flush(await read('test', 'support', 'operations-with-parameters.ts'))).toContain(operation);
});
