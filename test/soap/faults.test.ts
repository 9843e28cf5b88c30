import { HTTP_ERRORS } from '../../src/http/errors';
import type { XmlElement } from '../../src/xml/xml-tree';
import { ask, envelope11, envelope12, NAMESPACE, SOAP_11_NAMESPACE } from '../support/bindings';
import { startEndpoint } from '../support/endpoint';
import { send, type Answer } from '../support/http';
import { useService } from '../support/service';
import { PASSWORD_DIGEST, securityHeader, usernameToken, withHeader, WSSE, WSU } from '../support/wsse';
import { elementsIn } from '../support/xml';

const KEY = 'record-key-0123456789';
const MUST = 'SOAP:mustUnderstand="1"';
const MISSING_ACTION = 'Unable to handle request without a valid action parameter. Please supply a valid soap action.';

const service = useService({ RECORD_KEYS: KEY });

const post = (body: string, headers: Record<string, string>): Promise<Answer> =>
  send(service.url, { method: 'POST', headers, body });
const post11 = (body: string, headers: Record<string, string> = {}): Promise<Answer> =>
  post(body, { 'Content-Type': 'text/xml; charset=utf-8', ...headers });
const post12 = (body: string, parameters = '', fields = {}): Promise<Answer> =>
  post(body, { 'Content-Type': `application/soap+xml; charset=utf-8${parameters}`, ...fields });

/** `{namespace}name` for a qualified name, in an element that declares its prefix. */
const expanded = (element: XmlElement | undefined, text = element?.text) => {
  const found = element?.qualifiedName(text ?? '');
  return found && `{${found.namespace}}${found.name}`;
};

describe('header blocks that must be understood', () => {
  const block = (namespace: string, name: string) => `<x:${name} xmlns:x="${namespace}" ${MUST}/>`;
  const notUnderstood = (answer: Answer) =>
    elementsIn(answer.body, 'NotUnderstood').map((element) => expanded(element, element.attribute('qname')));

  it('are all named in a SOAP 1.2 fault', async () => {
    const plain = block('urn:x', 'A') + block('urn:x', 'B·');
    const escaped = block('urn:y&amp;&lt;&quot;', 'A') + block('urn:z&amp;copy;&amp;#65;', 'A');
    const more = '<C SOAP:mustUnderstand="true"/><x:D xmlns:x="urn:x"/>';
    const answer = await post12(withHeader(envelope12('HelloWorld'), plain + escaped + more));
    expect(answer.status).toBe(500);
    expect(answer.body).toContain('<soap:Value>soap:MustUnderstand</soap:Value>');
    expect(answer.body).toContain('SOAP header A was not understood.');
    expect(notUnderstood(answer)).toEqual(['{urn:x}A', '{urn:x}B·', '{urn:y&<"}A', '{urn:z&copy;&#65;}A', '{}C']);
  });

  it('are named in no header of a SOAP 1.1 fault', async () => {
    const answer = await post11(withHeader(envelope11('HelloWorld'), block('urn:x', 'A')));
    expect(answer.body).toContain('<faultcode>soap:MustUnderstand</faultcode>');
    expect(answer.body).not.toMatch(/NotUnderstood|Header>/);
  });

  it('cannot make the fault large', async () => {
    const many = Array.from({ length: 3000 }, (_, i) => block('urn:x', `A${String(i)}`)).join('');
    const long = block(`urn:${'x'.repeat(100_000)}`, 'A');
    for (const blocks of [long, long + many]) {
      const answer = await post12(withHeader(envelope12('HelloWorld'), blocks), '', { 'X-API-Key': KEY });
      expect(answer.body).toContain('soap:MustUnderstand');
      expect(answer.body.length).toBeLessThan(10_000);
    }
  });
});

describe.each(['soap11', 'soap12'] as const)('a WS-Security header that is refused over %s', (binding) => {
  const record = (blocks: string, headers: Record<string, string> = {}) =>
    ask(service.url, binding, 'RecordEvent', { inside: '<a/>', blocks, headers });
  /** The fault code of SOAP 1.1; of SOAP 1.2 the subcode, since the code is always Sender. */
  const codeOf = (answer: Answer) => {
    const codes = elementsIn(answer.body, binding === 'soap11' ? 'faultcode' : 'Value');
    if (binding === 'soap12') expect(codes[0]?.text).toBe('soap:Sender');
    return expanded(codes.at(-1));
  };
  const token = usernameToken(KEY);
  const expired = '<wsu:Timestamp><wsu:Expires>2026-01-01T00:00:00Z</wsu:Expires></wsu:Timestamp>';

  it.each([
    ['a wrong key', usernameToken('not-the-key-0123456'), WSSE, 'FailedAuthentication'],
    ['an expired Timestamp', expired + token, WSU, 'MessageExpired'],
    ['a Timestamp that is not a time', expired.replace(/2026[^<]*/, 'now') + token, WSSE, 'InvalidSecurity'],
    ['two tokens', token + token, WSSE, 'InvalidSecurity'],
    ['an assertion', `<a:Assertion xmlns:a="urn:saml"/>${token}`, WSSE, 'UnsupportedSecurityToken'],
    ['a digest', usernameToken('ZGlnZXN0', PASSWORD_DIGEST), WSSE, 'UnsupportedSecurityToken'],
    ['a password of another namespace', token.replaceAll('wsse:P', 'wsu:P'), WSSE, 'UnsupportedSecurityToken'],
    ['no password', token.replace(/<wsse:Password.*<\/wsse:Password>/, ''), WSSE, 'InvalidSecurity'],
  ])('for %s has its code', async (_what, inside, namespace, name) => {
    const answer = await record(securityHeader(inside));
    expect(answer.status).toBe(401);
    expect(codeOf(answer)).toBe(`{${namespace}}${name}`);
    const mandatory = await record(securityHeader(inside, MUST), { 'X-API-Key': KEY });
    if (name === 'FailedAuthentication') expect(mandatory.status).toBe(200);
    else expect(codeOf(mandatory)).toBe(`{${namespace}}${name}`);
  });

  it('has no such code if the message has no such header', async () => {
    for (const headers of [{}, { 'X-API-Key': 'not-the-key-0123456' }])
      expect(codeOf(await record('', headers))).toMatch(/soap.*\}(?:Client|Sender)$/);
  });
});

describe('a body that does not begin with an operation', () => {
  it.each<[string, (envelope: string) => string]>([
    ['text before its element', (envelope) => envelope.replace(':Body>', ':Body>text')],
    ['an unknown element', (envelope) => envelope.replaceAll('HelloWorld', 'Nope')],
    ['an element of another namespace', (envelope) => envelope.replace(NAMESPACE, 'urn:x')],
    ['nothing', (envelope) => envelope.replace(/<Hello.*World>/, '')],
  ])('but with %s needs an action, as on the original', async (_what, change) => {
    const [message11, message12] = [change(envelope11('HelloWorld')), change(envelope12('HelloWorld'))];
    for (const answer of [await post11(message11), await post12(message12)]) {
      expect(answer.status).toBe(500);
      expect(answer.body).toContain(`>${MISSING_ACTION}<`);
      expect(answer.body).toMatch(/>soap:(?:Client|Sender)</);
    }
    expect((await post11(message11, { SOAPAction: `"${NAMESPACE}HelloWorld"` })).status).toBe(200);
    expect((await post12(message12, `; action="${NAMESPACE}HelloWorld"`)).status).toBe(200);
  });

  it('may have text after its element', async () => {
    expect((await post11(envelope11('HelloWorld').replace('</soap:Body>', 'text</soap:Body>'))).status).toBe(200);
  });
});

const HELLO = envelope11('HelloWorld');
const LONG = 'h'.repeat(8000);
const typed = (type: string) => ({ 'Content-Type': type });
const replaced = (part: string, by: string) => post11(HELLO.replace(part, by));

it.each<[string, () => Promise<Answer>]>([
  ['an envelope namespace', () => replaced(SOAP_11_NAMESPACE, LONG)],
  ['a SOAPAction', () => post11(HELLO, { SOAPAction: LONG })],
  ['an action', () => post12(envelope12('Nope'), `; action="${LONG}"`)],
  ['a content type', () => post(HELLO, typed(`text/${LONG}+x`))],
  ['a character set', () => post(HELLO, typed(`text/xml; charset=${LONG}`))],
  ['a header block', () => post11(withHeader(HELLO, `<${LONG.slice(0, 1000)} ${MUST}/>`))],
  ['an element of the envelope', () => replaced('<soap:Body>', `<${LONG.slice(0, 1000)}/><soap:Body>`)],
  ['an element of WS-Security', () => post11(withHeader(HELLO, securityHeader(`<${LONG.slice(0, 1000)}/>`, MUST)))],
  ['an undeclared prefix', () => post11(envelope11('HelloWorld', `<${LONG}:a/>`))],
  ['an entity', () => post11(envelope11('HelloWorld', `&${LONG};`))],
])('%s of the caller that is long is shortened in the fault', async (_what, ask) => {
  const { status, body } = await ask();
  if (status !== 200) expect(body).toMatch(/soap:Fault>/);
  expect(body.length).toBeLessThan(1500);
});

it.each([HTTP_ERRORS.rate(1, 1000, 1000), HTTP_ERRORS.callsWaiting(1)])(
  'a call that is refused with $status for now has a fault with the code Server',
  async (refusal) => {
    const { url } = await startEndpoint({ HelloWorld: { access: 'open', run: () => Promise.reject(refusal) } });
    for (const binding of ['soap11', 'soap12'] as const) {
      const { status, headers, body } = await ask(url, binding, 'HelloWorld');
      expect([status, headers['retry-after']]).toEqual([refusal.status, '1']);
      expect(body).toMatch(/soap:(?:Server|Receiver)</);
    }
  },
);

it('a message that names no operation is reported as a call of none, whatever SOAPAction says beside SOAP 1.2', async () => {
  const { url, reports } = await startEndpoint({});
  const headers = { 'Content-Type': 'text/xml', SOAPAction: `"${NAMESPACE}HelloWorld"` };
  await send(url, { method: 'POST', headers, body: envelope12('Nope') });
  expect(reports).toMatchObject([{ binding: 'soap12', operation: undefined, status: 500 }]);
});
