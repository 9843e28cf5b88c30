import { envelope11, NAMESPACE, requestOf } from '../support/bindings';
import { startEndpoint, type TestEndpoint } from '../support/endpoint';
import { send } from '../support/http';
import { withHeader } from '../support/wsse';

describe('hints for the operator say what to change', () => {
  let endpoint: TestEndpoint;
  beforeEach(async () => {
    endpoint = await startEndpoint({});
  });
  afterEach(() => endpoint.stop());

  const post = (body: string, headers: Record<string, string> = {}) =>
    send(endpoint.url, { method: 'POST', headers: { 'Content-Type': 'text/xml', ...headers }, body });

  it.each<[string, Record<string, string>]>([
    ['', {}],
    [' although its SOAPAction is right', { SOAPAction: `${NAMESPACE}HelloWorld` }],
  ])('if an operation is called in another namespace%s', async (_action, headers) => {
    await post(envelope11('HelloWorld').replace(NAMESPACE, `urn:old:${'x'.repeat(10_000)}`), headers);
    expect(endpoint.hints).toHaveLength(1);
    expect(endpoint.hints[0]?.key).toBe('soap-namespace');
    expect(endpoint.hints[0]?.message).toMatch(
      /element HelloWorld .*"urn:old:x+….*"http:\/\/tempuri\.org\/".*SERVICE_NAMESPACE/,
    );
    expect(endpoint.hints[0]?.message.length).toBeLessThan(600);
  });

  it('if the namespace of a message lacks the slash at the end, although its SOAPAction is the same', async () => {
    const body = envelope11('HelloWorld').replace(NAMESPACE, 'http://tempuri.org');
    expect((await post(body, { SOAPAction: `${NAMESPACE}HelloWorld` })).status).toBe(200);
    expect(endpoint.hints[0]?.message).toContain('"http://tempuri.org", but the service has "http://tempuri.org/"');
  });

  it.each(['http://www.w3.org/2005/08/addressing', 'http://schemas.xmlsoap.org/ws/2004/08/addressing'])(
    'if a message has WS-Addressing headers (%s)',
    async (namespace) => {
      for (const mandatory of ['0', '1']) {
        const block = `<To xmlns="${namespace}" SOAP:mustUnderstand="${mandatory}">urn:x</To>`;
        await post(withHeader(envelope11('HelloWorld'), block));
      }
      expect(endpoint.hints.map(({ key }) => key)).toEqual(['ws-addressing', 'ws-addressing']);
      expect(endpoint.hints[0]?.message).toContain('basicHttpBinding');
    },
  );

  it('but not if nothing is wrong, or something else', async () => {
    const { path, ...question } = requestOf('soap12', 'HelloWorld');
    await send(endpoint.url + path, question);
    await post(envelope11('HelloWorld'));
    await post(envelope11('Nope').replace(NAMESPACE, 'urn:x'));
    await post(withHeader(envelope11('HelloWorld'), '<To xmlns="urn:x">1</To>'));
    expect(endpoint.hints).toEqual([]);
  });
});
