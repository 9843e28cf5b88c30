import {
  envelope,
  header,
  message,
  payloadOf,
  readAnyMessage as read,
  record,
  version12,
} from '../support/any-message';
import { NAMESPACE, SOAP_11_NAMESPACE } from '../support/bindings';
import { securityHeader, usernameToken } from '../support/wsse';

const RECORD = { namespace: NAMESPACE, name: 'RecordEvent' };
const UNREADABLE = 'Server was unable to read request. --->';
const ADDRESSING = 'http://www.w3.org/2005/08/addressing';

const faultOf = (xml: string) => {
  try {
    read(xml);
  } catch (error) {
    return error as Error;
  }
  throw new Error('no fault');
};
const attributes = (count: number) => Array.from({ length: count }, (_, i) => ` a${String(i)}="1"`).join('');

const COMPLICATED = message(
  `${record('<a> x </a>')}<b/>`,
  `<h xmlns="urn:h" SOAP:mustUnderstand="1"/><w:To xmlns:w="${ADDRESSING}">x</w:To>${securityHeader(usernameToken('k<!-- -->ey'))}`,
);

describe('the reader of envelopes', () => {
  // Saxes reads a message with an instruction.
  it.each(['', '<?pi?>'])('reads a message, itself and with saxes: %s', (before) => {
    expect(read(before + COMPLICATED)).toMatchObject({
      mandatoryHeaders: [{ namespace: 'urn:h', name: 'h' }],
      security: { problem: undefined, password: 'key' },
      hasAddressing: true,
      element: RECORD,
    });
    expect(payloadOf(before + COMPLICATED)).toBe(`${record('<a> x </a>')}<b/>`);
  });

  it.each([
    ['64 levels', message('<a>'.repeat(62) + '</a>'.repeat(62))],
    ['256 attributes', message(`<a${attributes(256)}/>`)],
    ['two elements with 129 attributes each', message(`<a${attributes(129)}/>`.repeat(2))],
    ['names of 1,024 characters', message(`<${'a'.repeat(1024)} ${'b'.repeat(1024)}="1"/>`)],
    ['a comment, an instruction and white space around it', `<!-- c --><?pi?>\t${message('')}\n<!-- c -->`],
  ])('reads %s', (_what, xml) => {
    expect(() => read(xml)).not.toThrow();
  });

  it.each([
    ['<a>'.repeat(63), 'elements nested deeper than 64 levels'],
    [`<?pi?>${'<a>'.repeat(63)}`, 'elements nested deeper than 64 levels'],
    ['<a/>'.repeat(250_000), 'more than 250000 elements'],
    [`<${'a'.repeat(1025)}/>`, 'a name of more than 1024 characters'],
    [`<a ${'a'.repeat(1025)}="1"/>`, 'a name of more than 1024 characters'],
    [`<a${attributes(257)}/>`, 'an element with more than 256 attributes'],
  ])('refuses %.20s… with the limit', (body, limit) => {
    const text = `${UNREADABLE} The XML has ${limit}, which is more than this service reads.`;
    expect(faultOf(message(body))).toMatchObject({ status: 400, message: text });
  });

  it.each([
    ['what ends too early', message('').replace('</s:Envelope>', ''), 'unclosed tag: s:Envelope. Line 1, position 81.'],
    ['nothing', '', 'document must contain a root element'],
    ['a document type declaration', `<!DOCTYPE a>${message('')}`, 'A document type declaration is not allowed.'],
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
    const text = expect.stringContaining(reason) as string;
    expect(faultOf(xml)).toMatchObject({ code: 'Client', status: 400, message: text });
  });

  it.each([
    ['<b>a & b</b>', 6],
    ['<b>&lt; &amp c &gt;</b>', 9],
    ['<![CDATA[ & ]]><!-- & --><?x & ?>&', 34],
  ])('names the place of an ampersand that hides all after it: %s', (inside, position) => {
    for (const lines of [1, 60_000])
      expect(faultOf(message(`${'<x/>\r\n'.repeat(lines)}${inside}\n`)).message).toBe(
        `${UNREADABLE} An & that begins no reference must be written as &amp;. Line ${String(lines + 1)}, position ${String(position)}.`,
      );
  });
});

describe('the parts of an envelope', () => {
  const BODY = '<s:Body/>';
  const HEADER = '<s:Header/>';
  const OTHER = '<o:x xmlns:o="urn:o"/>';

  it('have the version of its namespace', () => {
    expect([message(''), version12(message(''))].map((xml) => read(xml).binding)).toEqual(['soap11', 'soap12']);
    for (const namespace of ['', 'urn:x', `${SOAP_11_NAMESPACE}x`])
      expect(faultOf(`<Envelope xmlns="${namespace}"/>`)).toMatchObject({
        code: 'VersionMismatch',
        message: `Possible SOAP version mismatch: Envelope namespace ${namespace} was unexpected. Expecting ${SOAP_11_NAMESPACE}.`,
      });
  });

  it.each([
    ['no soap:Envelope', `<s:envelope xmlns:s="${SOAP_11_NAMESPACE}"/>`],
    ['no soap:Body', envelope('')],
    ['a second header', envelope(HEADER + HEADER + BODY)],
    ['another element of SOAP', envelope('<s:x/>' + BODY)],
    ['an element of another namespace', envelope(OTHER + BODY)],
    ['text', envelope(`x${BODY}`)],
    ['white space that XML does not know', envelope(`\u00a0${BODY}`)],
    ['text in SOAP 1.2', version12(envelope(`${HEADER}x${BODY}`))],
  ])('are refused with %s before the body, as in the original', (what, xml) => {
    const missing = what === 'no soap:Envelope' ? 'Envelope' : 'Body';
    const text = `${UNREADABLE} Request format is invalid: Missing required soap:${missing} element.`;
    expect(faultOf(xml)).toMatchObject({ status: 500, message: text });
  });

  it('may not be followed by an element of another namespace in SOAP 1.2', () => {
    expect(faultOf(version12(envelope(BODY + OTHER))).message).toContain(
      'Request format is invalid: The element o:x is not allowed after soap:Body.',
    );
  });

  it.each([
    version12(envelope(HEADER + BODY)),
    envelope(BODY + OTHER),
    envelope(BODY + HEADER),
    envelope(BODY + BODY),
    envelope(BODY + '<s:x/>'),
    version12(envelope(`${BODY}\u00a0${BODY}`)),
    envelope(`<s:Header> x </s:Header>${BODY}`),
  ])('may be what the original takes: %s', (xml) => {
    expect(() => read(xml)).not.toThrow();
  });

  it('are those that come first: what follows the body is neither payload, argument nor header', () => {
    const security = header(securityHeader(usernameToken('key')));
    const more = `<s:Body>${record('<b/>')}</s:Body>${header('<h s:mustUnderstand="1"/>')}${security}`;
    const xml = envelope(`<s:Body>${record('<a/>')}</s:Body>${more}`);
    expect(read(xml)).toMatchObject({ element: RECORD, mandatoryHeaders: [], security: undefined });
    expect(payloadOf(xml)).toBe(`<a xmlns="${NAMESPACE}"/>`);
  });
});

describe('the header blocks that must be understood', () => {
  const ROLE_12 = 'http://www.w3.org/2003/05/soap-envelope/role/';
  const block = (attributes: string) => `<h xmlns="urn:x" ${attributes}><i s:mustUnderstand="1"/></h>`;
  const blocksOf = (xml: string) => read(xml).mandatoryHeaders;

  it.each([
    ['s:mustUnderstand="1"', 1],
    ['s:mustUnderstand=" true "', 1],
    ['s:mustUnderstand="TRUE"', 0],
    ['mustUnderstand="1"', 0],
    [`s:mustUnderstand="1" s:role=" ${ROLE_12}next "`, 1],
    [`s:mustUnderstand="1" s:role="${ROLE_12}ultimateReceiver"`, 1],
    ['s:mustUnderstand="1" s:role=""', 1],
    ['s:mustUnderstand="1" s:actor="urn:somebody-else"', 1],
    ['s:role="urn:somebody-else" s:mustUnderstand="1" s:relay="true"', 0],
  ])('of SOAP 1.2 with %s: %i', (attributes, count) => {
    const expected = Array(count).fill({ namespace: 'urn:x', name: 'h' });
    expect(blocksOf(version12(message('', block(attributes))))).toEqual(expected);
  });

  it.each([
    ['http://schemas.xmlsoap.org/soap/actor/next', 1],
    ['urn:somebody-else', 0],
  ])('of SOAP 1.1 for %s: %i', (actor, count) => {
    expect(blocksOf(message('', block(`s:mustUnderstand="1" s:actor="${actor}"`)))).toHaveLength(count);
  });

  it('are listed, 64 at most', () => {
    const blocks = (count: number) =>
      Array.from({ length: count }, (_, i) => `<h${String(i)} s:mustUnderstand="1"/>`).join('');
    expect([2, 64, 65].map((count) => blocksOf(message('', blocks(count))).length)).toEqual([2, 64, 64]);
  });

  it('are neither in the body nor after it', () => {
    expect(blocksOf(message('<h s:mustUnderstand="1"/>'))).toEqual([]);
    expect(blocksOf(envelope('<s:Body/><o:x xmlns:o="urn:o"><h s:mustUnderstand="1"/></o:x>'))).toEqual([]);
  });
});

it('a WS-Security header is read with what stands inside of it alone', () => {
  const securityOf = (blocks: string) => read(message('', blocks)).security;
  const security = securityOf(`<a xmlns="">x</a>${securityHeader(usernameToken('key'))}<a xmlns=""><b>y</b></a>`);
  expect(security).toMatchObject({ password: 'key', problem: undefined, mandatory: false });
  const empty = securityOf(`${securityHeader('')}<x xmlns=""><UsernameToken/></x>`);
  expect(empty?.problem?.message).toContain('it has no UsernameToken with a Username');
});
