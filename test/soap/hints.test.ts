import { envelope11, envelope12, NAMESPACE } from '../support/bindings';
import { startEndpoint, type TestEndpoint } from '../support/endpoint';
import { send } from '../support/http';
import { withHeader } from '../support/wsse';

const HELLO = envelope11('HelloWorld');
const ADDRESSING = 'http://www.w3.org/2005/08/addressing';
const ADDRESSING_2004 = 'http://schemas.xmlsoap.org/ws/2004/08/addressing';
const MUST = 'SOAP:mustUnderstand="1"';
const ACTION = { SOAPAction: `${NAMESPACE}HelloWorld` };

describe('hints for the operator say what to change', () => {
  let endpoint: TestEndpoint;
  beforeAll(async () => {
    endpoint = await startEndpoint({});
  });
  /** The hints that a message brings. */
  const hintsOf = async (body: string | Buffer, headers: Record<string, string> = {}) => {
    await send(endpoint.url, { method: 'POST', headers: { 'Content-Type': 'text/xml', ...headers }, body });
    return endpoint.hints.splice(0);
  };
  const addressed = (namespace: string, attributes = '') =>
    withHeader(HELLO, `<To xmlns="${namespace}" ${attributes}>urn:x</To>`);

  const LONG = `urn:old:${'x'.repeat(10_000)}`;
  const LATIN_1 = Buffer.from(envelope11('HelloWorld', 'ü'), 'latin1');
  const NAMES = /^(?=.{0,599}$).* element HelloWorld .*"urn:old:x+….*"http:\/\/tempuri\.org\/".*SERVICE_NAMESPACE/;
  const NO_SLASH = /"http:\/\/tempuri\.org", but the service has "http:\/\/tempuri\.org\/"/;
  const typed = (charset: string) => ({ 'Content-Type': `text/xml; charset=${charset}` });
  it.each<[string, string, RegExp, string | Buffer, Record<string, string>?]>([
    ['an operation is called in another namespace', 'soap-namespace', NAMES, HELLO.replace(NAMESPACE, LONG)],
    [
      'it lacks the slash at the end',
      'soap-namespace',
      NO_SLASH,
      HELLO.replace(NAMESPACE, NAMESPACE.slice(0, -1)),
      ACTION,
    ],
    ['a message has WS-Addressing headers', 'ws-addressing', /basicHttpBinding/, addressed(ADDRESSING)],
    ['they must be understood', 'ws-addressing', /basicHttpBinding/, addressed(ADDRESSING_2004, MUST)],
    ['they are for others', 'ws-addressing', /basicHttpBinding/, addressed(ADDRESSING, 'SOAP:actor="urn:x"')],
    ['a character set is not known', 'charset', /bogus, which is not known/, HELLO, typed('bogus')],
    ['only the XML names a known one', 'charset', / read as koi8-r/, HELLO.replace('utf-8', 'koi8-r'), typed('bogus')],
    ['a message is not valid in its character set', 'charset', /not valid utf-8/, LATIN_1, typed('utf-8')],
  ])('if %s', async (_what, key, text, body, ...[headers]) => {
    expect(await hintsOf(body, headers)).toEqual([{ key, message: expect.stringMatching(text) as string }]);
  });

  it.each([
    ['nothing is wrong', HELLO],
    ['nothing is wrong over SOAP 1.2', envelope12('HelloWorld'), 'application/soap+xml'],
    ['something else is wrong', envelope11('Nope').replace(NAMESPACE, 'urn:x')],
    ['a header block is not of WS-Addressing', addressed('urn:x')],
    ['its body has an element of WS-Addressing', envelope11('HelloWorld', `<To xmlns="${ADDRESSING}"/>`)],
  ])('but not if %s', async (_what, body, type = 'text/xml') => {
    expect(await hintsOf(body, { 'Content-Type': type })).toEqual([]);
  });
});
