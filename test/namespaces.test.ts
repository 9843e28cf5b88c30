import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalLines } from '../src/cli/compare/canonical';
import { Contract } from '../src/contract/contract';
import { XmlElement } from '../src/xml/xml-tree';
import { BINDINGS, callOperation, envelope11, envelope12, eventsOf } from './support/bindings';
import { ORIGINAL_OPERATIONS, withoutAddedOperations } from './support/contract';
import { send, type Answer } from './support/http';
import { samplesOn } from './support/page';
import { startService, useService } from './support/service';
import { elementsIn } from './support/xml';

/** Namespaces, and what stands before an operation's name in its action, as recorded on the original. */
const NAMESPACES: readonly (readonly [namespace: string, stem: string])[] = [
  ['http://example.com/a?b=1', 'http://example.com/a?b=1/'],
  ['urn:shop/', 'urn:shop/'],
  ['My Service', 'My Service/'],
  ['Grüße/', 'Grüße/'],
  // Not recorded.
  ["http://example.com/a?b=1&c=$&$1'#", "http://example.com/a?b=1&c=$&$1'#/"],
];

const escaped = (namespace: string): string => namespace.replaceAll('&', '&amp;');

describe.each(NAMESPACES)('under the namespace %s', (namespace, stem) => {
  const service = useService({ SERVICE_NAMESPACE: namespace });
  const post = (type: string, body: string, headers: Record<string, string> = {}): Promise<Answer> =>
    send(service.url, { method: 'POST', headers: { 'Content-Type': type, ...headers }, body });
  const soap11 = (action: string, body: string) => post('text/xml', body, { SOAPAction: `"${action}"` });
  const soap12 = (action: string, body: string) => post(`application/soap+xml; action="${action}"`, body);

  it('each binding answers in it', async () => {
    const [over11, over12] = [envelope11('HelloWorld', '', namespace), envelope12('HelloWorld', '', namespace)];
    const hello = `<HelloWorldResponse xmlns="${escaped(namespace)}"><HelloWorldResult>Hello World</HelloWorldResult></HelloWorldResponse>`;
    for (const { status, body } of [
      await soap11(`${stem}HelloWorld`, over11),
      await soap12(`${stem}HelloWorld`, over12),
      await post('text/xml', over11),
      await post('application/soap+xml', over12),
    ])
      expect([status, /<soap:Body>(.*)<\/soap:Body>/.exec(body)?.[1]]).toEqual([200, hello]);
    const string = `<?xml version="1.0" encoding="utf-8"?>\n<string xmlns="${escaped(namespace)}">Hello World</string>`;
    for (const method of ['GET', 'POST'])
      expect((await send(`${service.url}/HelloWorld`, { method })).body).toBe(string);
  });

  it('every operation is called by its action alone, and records and reads over all bindings', async () => {
    for (const operation of ORIGINAL_OPERATIONS) {
      const empty = envelope11('HelloWorld').replace(/(?<=<soap:Body>).*(?=<\/soap:Body>)/, '');
      expect((await soap11(`${stem}${operation}`, empty)).status).toBe(200);
    }
    for (const binding of BINDINGS) await callOperation(service.url, binding, 'RecordEvent', '', {}, namespace);
    const found = eventsOf(await callOperation(service.url, 'soap12', 'GetEvents', '', {}, namespace));
    expect(found.map(({ binding }) => binding)).toEqual(['soap11', ...BINDINGS]);
  });

  it('an action that is not made this way is refused', async () => {
    for (const action of [`${namespace}:HelloWorld`, 'HelloWorld', `${stem}/HelloWorld`, `${stem}Helloworld`]) {
      const other = await soap11(action, envelope11('HelloWorld', '', namespace));
      expect([other.status, other.body]).toEqual([500, expect.stringContaining('did not recognize the value of')]);
    }
    if (stem === namespace) return;
    const joined = await soap11(`${namespace}HelloWorld`, envelope11('HelloWorld'));
    expect(joined.body).toContain('did not recognize the value of HTTP Header SOAPAction: ');
    const joined12 = await soap12(`${namespace}HelloWorld`, envelope12('Unknown'));
    expect(joined12.body).toContain('was not recognized');
  });

  it.each(['?WSDL', '?WSDL=extended'])('%s has these actions', async (query) => {
    const elements = elementsIn((await send(service.url + query)).body);
    const valuesOf = (name: string) => elements.flatMap((element) => element.attribute(name) ?? []);
    const actions = (await Contract.load(namespace)).operations.map(({ name }) => `${stem}${name}`);
    expect(valuesOf('soapAction')).toEqual([...actions, ...actions]);
    expect(valuesOf('targetNamespace')).toEqual([namespace, namespace]);
  });

  it('the discovery document and the pages name it', async () => {
    expect((await send(`${service.url}?disco`)).body.split(`xmlns:q1="${escaped(namespace)}"`)).toHaveLength(3);
    const { body } = await send(`${service.url}?op=HelloWorld`);
    expect(samplesOn(body, 'SOAP 1.1').request).toContain(`\nSOAPAction: "${stem}HelloWorld"\n`);
    for (const binding of ['SOAP 1.1', 'SOAP 1.2', 'HTTP GET', 'HTTP POST'])
      expect(samplesOn(body, binding).response).toContain(`xmlns="${escaped(namespace)}"`);
  });
});

it('?WSDL is that of the original in a namespace without a slash at its end, but for documentation and addresses', async () => {
  const service = await startService({ SERVICE_NAMESPACE: 'http://example.com/hooks' });
  // It puts a slash before the operations of its actions, and says everything else as in a namespace with one.
  const original = (await readFile(join(__dirname, 'fixtures', 'WebHooks.wsdl'), 'utf8'))
    .replaceAll('soapAction="{namespace}', 'soapAction="{namespace}/')
    .replaceAll('{namespace}', 'http://example.com/hooks');
  const { body } = await send(`${service.url}?WSDL`);
  expect(bare(await withoutAddedOperations(body))).toBe(bare(original));
});

/** What a WSDL says without documentation and addresses, in a form that only its meaning decides. */
function bare(wsdl: string): string {
  const strip = (element: XmlElement): XmlElement =>
    element.withContent(
      element.content
        .filter((child) => typeof child === 'string' || child.name !== 'documentation')
        .map((child) => (typeof child === 'string' ? child : strip(child))),
    );
  return canonicalLines(strip(XmlElement.read(wsdl)))
    .join('\n')
    .replace(/(:address) [^>]*/g, '$1');
}
