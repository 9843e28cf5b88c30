import { payloadOf, readAnyMessage as read } from '../support/any-message';
import { NAMESPACE, SOAP_11_NAMESPACE, SOAP_12_NAMESPACE } from '../support/bindings';
import { securityHeader, usernameToken } from '../support/wsse';

const RECORD = { namespace: NAMESPACE, name: 'RecordEvent' };

/** A SOAP 1.1 envelope around this. */
const envelope = (inside: string) => `<s:Envelope xmlns:s="${SOAP_11_NAMESPACE}">${inside}</s:Envelope>`;
const message = (body: string, header = '') => envelope(`${header}<s:Body>${body}</s:Body>`);
const operation = (inside: string) => `<RecordEvent xmlns="${NAMESPACE}">${inside}</RecordEvent>`;
const version12 = (xml: string) => xml.replaceAll(SOAP_11_NAMESPACE, SOAP_12_NAMESPACE);
const header = (blocks: string) => `<s:Header>${blocks.replaceAll('SOAP:', 's:')}</s:Header>`;

const faultOf = (xml: string): unknown => {
  try {
    read(xml);
  } catch (error) {
    return error;
  }
  throw new Error('no fault');
};

const COMPLICATED = message(
  `${operation('<a> x </a>')}<b/>`,
  header(
    `<h xmlns="urn:h" SOAP:mustUnderstand="1"/><w:To xmlns:w="http://www.w3.org/2005/08/addressing">x</w:To>` +
      securityHeader(usernameToken('key')),
  ),
);

describe('the reader of envelopes', () => {
  it.each([
    ['itself', COMPLICATED],
    // Saxes reads a message with an instruction.
    ['with saxes', `<?pi?>${COMPLICATED}`],
  ])('reads a message %s', (_how, xml) => {
    expect(read(xml)).toMatchObject({
      mandatoryHeaders: [{ namespace: 'urn:h', name: 'h' }],
      security: { problem: undefined, password: 'key' },
      hasAddressing: true,
      element: RECORD,
    });
    expect(payloadOf(xml)).toBe(`${operation('<a> x </a>')}<b/>`);
  });

  it.each([
    ['64 levels', message('<a>'.repeat(62) + '</a>'.repeat(62))],
    ['256 attributes', message(`<a ${Array.from({ length: 256 }, (_, i) => `a${String(i)}="1"`).join(' ')}/>`)],
    [
      'two elements with 129 attributes each',
      message(`<a ${Array.from({ length: 129 }, (_, i) => `a${String(i)}="1"`).join(' ')}/>`.repeat(2)),
    ],
    ['an element name of 1,024 characters', message(`<${'a'.repeat(1024)}/>`)],
    ['an attribute name of 1,024 characters', message(`<a ${'b'.repeat(1024)}="1"/>`)],
    ['a comment, an instruction and white space around it', `<!-- c --><?pi?>\t${message('')}\n<!-- c -->`],
  ])('reads %s', (_what, xml) => {
    expect(() => read(xml)).not.toThrow();
  });

  it.each([
    ['65 levels', '<a>'.repeat(63), 'elements nested deeper than 64 levels'],
    ['a long name', `<${'a'.repeat(1025)}/>`, 'a name of more than 1024 characters'],
    ['a long name of an attribute', `<a ${'a'.repeat(1025)}="1"/>`, 'a name of more than 1024 characters'],
    [
      '257 attributes',
      `<a ${Array.from({ length: 257 }, (_, i) => `a${String(i)}="1"`).join(' ')}/>`,
      'an element with more than 256 attributes',
    ],
  ])('refuses %s', (_what, body, limit) => {
    expect(faultOf(message(body))).toMatchObject({
      status: 400,
      message: `Server was unable to read request. ---> The XML has ${limit}, which is more than this service reads.`,
    });
  });

  it('refuses a document type declaration', () => {
    expect(faultOf(`<!DOCTYPE a>${message('')}`)).toMatchObject({
      status: 400,
      message: 'Server was unable to read request. ---> A document type declaration is not allowed.',
    });
  });

  it('shortens what it quotes of a message that is not XML', () => {
    const { message: text } = faultOf(message(`<${'p'.repeat(900)}:a/>`)) as Error;
    expect(text).toMatch(/^Server was unable to read request\. ---> [^\n]{201} Line 1, position \d+\.$/);
  });

  it.each([
    ['what ends too early', message('').replace('</s:Envelope>', ''), 'unclosed tag: s:Envelope. Line 1, position 81.'],
    ['nothing', '', 'document must contain a root element'],
    ['a second root', `${message('')}<b/>`, 'only one root'],
    ['an entity', message('&x;'), 'undefined entity'],
    ['an unbound prefix', message('<p:a/>'), 'unbound namespace prefix'],
    ['a prefix that is no name', message('<a xmlns:-p="urn:x"/>'), 'malformed name: xmlns:-p. Line 1, position'],
    ['a local name that begins with a hyphen', message('<s:-a/>'), 'malformed name: s:-a.'],
    ['one that begins with a digit', message('<s:1a></s:1a>'), 'malformed name: s:1a.'],
    ['one that begins with an accent', message('<s:\u0301a/>'), 'malformed name: s:\u0301a.'],
    ['such a name of an attribute', message('<a s:.b=""/>'), 'malformed name: s:.b.'],
    ['a control character', message('\u0001'), 'disallowed character'],
    ['a control character in XML 1.1', `<?xml version="1.1"?>${message('&#1;')}`, 'malformed character entity'],
    ['a comment without an end', message('<!-- & '), 'unclosed tag: s:Body.'],
  ])('refuses %s with status 400 and the reason', (_what, xml, reason) => {
    expect(faultOf(xml)).toMatchObject({
      code: 'Client',
      status: 400,
      message: expect.stringMatching(/^Server was unable to read request\. ---> /) as string,
    });
    expect((faultOf(xml) as Error).message).toContain(reason);
  });

  it.each([
    ['<b>a & b</b>', 6],
    ['<b>&lt; &amp c &gt;</b>', 9],
    ['<![CDATA[ & ]]><!-- & --><?x & ?>&', 34],
  ])('names the place of an ampersand that hides all after it: %s', (inside, position) => {
    const text = 'Server was unable to read request. ---> An & that begins no reference must be written as &amp;.';
    const xml = message(`\r\n<x/>\n${inside}\n`);
    const large = message(`${'<x/>\n'.repeat(60_000)}${inside}\n`);
    expect(faultOf(xml)).toMatchObject({ status: 400, message: `${text} Line 3, position ${String(position)}.` });
    expect(faultOf(large)).toMatchObject({ message: `${text} Line 60001, position ${String(position)}.` });
  });
});

describe('the version of an envelope', () => {
  it.each([
    [message(''), 'soap11'],
    [version12(message('')), 'soap12'],
  ])('is that of its namespace', (xml, binding) => {
    expect(read(xml).binding).toBe(binding);
  });

  it.each([
    ['', '<Envelope/>'],
    ['urn:x', '<Envelope xmlns="urn:x"/>'],
    [`${SOAP_11_NAMESPACE}x`, `<Envelope xmlns="${SOAP_11_NAMESPACE}x"/>`],
  ])('is not known by the namespace %j', (namespace, xml) => {
    expect(faultOf(xml)).toMatchObject({
      code: 'VersionMismatch',
      message: `Possible SOAP version mismatch: Envelope namespace ${namespace} was unexpected. Expecting ${SOAP_11_NAMESPACE}.`,
    });
  });
});

describe('the parts of an envelope', () => {
  const BODY = '<s:Body/>';
  const HEADER = '<s:Header/>';
  const OTHER = '<o:x xmlns:o="urn:o"/>';

  it.each([
    ['a body', envelope(BODY)],
    ['an element of another namespace after the body', envelope(BODY + OTHER)],
    ['a header and a body in SOAP 1.2', version12(envelope(HEADER + BODY))],
  ])('may be %s', (_what, xml) => {
    expect(() => read(xml)).not.toThrow();
  });

  it.each([
    ['a second header', envelope(HEADER + HEADER + BODY)],
    ['another element of SOAP', envelope('<s:x/>' + BODY)],
    ['an element of another namespace', envelope(OTHER + BODY)],
    ['text', envelope(`x${BODY}`)],
    ['white space that XML does not know', envelope(`\u00a0${BODY}`)],
    ['text in SOAP 1.2', version12(envelope(`${HEADER}x${BODY}`))],
  ])('are refused with %s before the body, as in the original', (_what, xml) => {
    expect(faultOf(xml)).toMatchObject({
      status: 500,
      message: 'Server was unable to read request. ---> Request format is invalid: Missing required soap:Body element.',
    });
  });

  it('may not be followed by an element of another namespace in SOAP 1.2', () => {
    expect(String(faultOf(version12(envelope(BODY + OTHER))))).toContain(
      'Request format is invalid: The element o:x is not allowed after soap:Body.',
    );
  });

  it.each([
    envelope(BODY + HEADER),
    envelope(BODY + BODY),
    envelope(BODY + '<s:x/>'),
    version12(envelope(`${BODY}\u00a0${BODY}`)),
    envelope(`<s:Header> x </s:Header>${BODY}`),
  ])('may be more than SOAP allows, which is ignored: %s', (xml) => {
    expect(() => read(xml)).not.toThrow();
  });

  it('are those that come first: what follows the body is neither payload, argument nor header', () => {
    const security = header(securityHeader(usernameToken('key')));
    const more = `<s:Body>${operation('<b/>')}</s:Body>${header('<h s:mustUnderstand="1"/>')}${security}`;
    const xml = envelope(`<s:Body>${operation('<a/>')}</s:Body>${more}`);
    expect(read(xml)).toMatchObject({ element: RECORD, mandatoryHeaders: [], security: undefined });
    expect(payloadOf(xml)).toBe(`<a xmlns="${NAMESPACE}"/>`);
  });

  it.each([
    ['Envelope', `<s:envelope xmlns:s="${SOAP_11_NAMESPACE}"/>`],
    ['Body', envelope('')],
  ])('have to be soap:%s', (name, xml) => {
    expect(faultOf(xml)).toMatchObject({
      status: 500,
      message: `Server was unable to read request. ---> Request format is invalid: Missing required soap:${name} element.`,
    });
  });
});

describe('the element of an envelope', () => {
  it.each([
    ['', undefined],
    [operation(''), RECORD],
    [`\n<!-- c -->${operation('')}`, RECORD],
    [`${operation('')}text`, RECORD],
    [`text${operation('')}`, undefined],
    ['text', undefined],
  ])('that begins the body %s is %j', (body, element) => {
    expect(read(message(body)).element).toEqual(element);
  });
});
