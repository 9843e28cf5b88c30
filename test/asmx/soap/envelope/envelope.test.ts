import { readEnvelope } from '../../src/asmx/envelope';
import { Fault } from '../../src/asmx/fault';
import { NAMESPACE, SOAP_11_NAMESPACE, SOAP_12_NAMESPACE } from '../support/bindings';

const RECORD = { namespace: NAMESPACE, name: 'RecordEvent' };

const message = (body: string, header = '', declarations = '') =>
  `<s:Envelope xmlns:s="${SOAP_11_NAMESPACE}"${declarations}>${header}<s:Body>${body}</s:Body></s:Envelope>`;

const payloadOf = (inside: string, declarations = '') =>
  readEnvelope(message(`<t:RecordEvent xmlns:t="${NAMESPACE}">${inside}</t:RecordEvent>`, '', declarations)).payload(
    RECORD,
  );

function faultOf(xml: string): Fault {
  try {
    readEnvelope(xml);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('no fault');
}

describe('reading an envelope', () => {
  it('tells version and operation element', () => {
    const envelope = readEnvelope(
      message('<x:GetEvents xmlns:x="urn:y"/>').replaceAll(SOAP_11_NAMESPACE, SOAP_12_NAMESPACE),
    );
    expect(envelope.version.binding).toBe('soap12');
    expect(envelope.element).toEqual({ namespace: 'urn:y', name: 'GetEvents' });
  });

  it.each([
    ['an unclosed element', message('<a>').slice(0, -30), 'unclosed tag'],
    ['nothing', '', 'document must contain a root element'],
    ['a second root', `${message('')}<b/>`, 'only one root'],
    ['a document type declaration', `<!DOCTYPE x>${message('')}`, 'document type declaration'],
    ['an entity', message('&x;'), 'undefined entity'],
    ['an unbound prefix', message('<p:a/>'), 'unbound namespace prefix'],
    ['a duplicate attribute', message('<a b="1" b="2"/>'), 'duplicate attribute'],
    ['a control character', message('\u0001'), 'disallowed character'],
    [
      'a control character by reference in XML 1.1',
      `<?xml version="1.1"?>${message('&#1;')}`,
      'malformed character entity',
    ],
    ['65 levels', message('<a>'.repeat(63) + '</a>'.repeat(63)), 'nested deeper than 64 levels'],
    [
      '257 attributes',
      message(`<a ${Array.from({ length: 257 }, (_, i) => `a${String(i)}="1"`).join(' ')}/>`),
      '256 attributes',
    ],
    ['a long element name', message(`<${'a'.repeat(1025)}/>`), '1024 characters'],
    ['a long attribute name', message(`<a ${'b'.repeat(1025)}="1"/>`), '1024 characters'],
  ])('refuses %s with status 400 and the reason', (_what, xml, reason) => {
    const fault = faultOf(xml);
    expect([fault.code, fault.status]).toEqual(['Client', 400]);
    expect(fault.message).toMatch(/^Server was unable to read request\. ---> /);
    expect(fault.message).toContain(reason);
  });

  it('says where the XML is wrong', () => {
    expect(faultOf(message('\n  <b></c>')).message).toContain('Line 2, position 9.');
  });

  it.each([
    ['<a/>', 'Missing required soap:Envelope element.'],
    [`<s:Envelope xmlns:s="${SOAP_11_NAMESPACE}"/>`, 'Missing required soap:Body element.'],
    [
      `<s:Envelope xmlns:s="${SOAP_11_NAMESPACE}"><s:Body/><s:Header/></s:Envelope>`,
      'The element s:Header is not allowed here',
    ],
    [
      `<s:Envelope xmlns:s="${SOAP_11_NAMESPACE}"><s:Body/><s:Body/></s:Envelope>`,
      'The element s:Body is not allowed here',
    ],
    [`<s:Envelope xmlns:s="${SOAP_12_NAMESPACE}"><s:Body/><x/></s:Envelope>`, 'The element x is not allowed here'],
    [`<s:Envelope xmlns:s="${SOAP_11_NAMESPACE}">x<s:Body/></s:Envelope>`, 'Text is not allowed in s:Envelope'],
  ])('refuses %s as no SOAP message', (xml, reason) => {
    const fault = faultOf(xml);
    expect([fault.code, fault.status]).toEqual(['Client', 500]);
    expect(fault.message).toContain(`Server was unable to read request. ---> Request format is invalid: ${reason}`);
  });

  it('takes an element behind the body in SOAP 1.1', () => {
    const xml = `<s:Envelope xmlns:s="${SOAP_11_NAMESPACE}"><s:Body><a/></s:Body><x xmlns="urn:x">t<y/></x></s:Envelope>`;
    expect(readEnvelope(xml).payload(RECORD)).toBe('<a/>');
  });

  it.each([
    ['s:mustUnderstand="1"', 1],
    ['s:mustUnderstand="true"', 1],
    ['s:mustUnderstand="0"', 0],
    ['mustUnderstand="1"', 0],
    ['s:mustUnderstand="1" s:actor="http://schemas.xmlsoap.org/soap/actor/next"', 1],
    ['s:mustUnderstand="1" s:actor="urn:somebody-else"', 0],
  ])('finds in a header block with %s mandatory blocks: %i', (attributes, count) => {
    const envelope = readEnvelope(message('', `<s:Header><h xmlns="urn:x" ${attributes}/></s:Header>`));
    expect(envelope.mandatoryHeaders).toHaveLength(count);
  });
});

describe('the payload of an envelope', () => {
  it.each(['', '  \n ', '<!-- nothing -->', '<?pi?>'])('is not there in %j', (inside) => {
    expect(payloadOf(inside)).toBeUndefined();
  });

  it('is text as it was written, white space included', () => {
    expect(payloadOf(' a &lt; b &#38; c ')).toBe(' a &lt; b &#38; c ');
    expect(payloadOf('\u00a0')).toBe('\u00a0');
    expect(payloadOf('\r\n\t<a/> \n')).toBe('<a/>');
    expect(payloadOf('<![CDATA[a < b]]>')).toBe('<![CDATA[a < b]]>');
  });

  it('carries prefixes that were declared further out, where they are used', () => {
    expect(payloadOf('<x:a/><b/>', ' xmlns:x="urn:x" xmlns:unused="urn:u"')).toBe(
      '<x:a xmlns:x="urn:x"/><b xmlns:x="urn:x"/>',
    );
  });

  it('carries the default namespace', () => {
    expect(readEnvelope(message(`<RecordEvent xmlns="${NAMESPACE}"><a>1</a></RecordEvent>`)).payload(RECORD)).toBe(
      `<a xmlns="${NAMESPACE}">1</a>`,
    );
  });

  it('carries a prefix that only a value uses', () => {
    expect(payloadOf('<a k="x:int"/>', ' xmlns:x="urn:x"')).toBe('<a xmlns:x="urn:x" k="x:int"/>');
  });

  it('carries a prefix with a hyphen, and takes no longer prefix for it', () => {
    expect(payloadOf('<s-env:a/>', ' xmlns:s-env="urn:s" xmlns:env="urn:e"')).toBe('<s-env:a xmlns:s-env="urn:s"/>');
    expect(payloadOf('<éx:a/>', ' xmlns:éx="urn:é" xmlns:x="urn:x"')).toBe('<éx:a xmlns:éx="urn:é"/>');
  });

  it('keeps a child’s own declaration and escapes what it carries', () => {
    expect(payloadOf('<x:a xmlns:x="urn:own"/>', ' xmlns:x="urn:out"')).toBe('<x:a xmlns:x="urn:own"/>');
    expect(payloadOf('<y.s:a/>', ' xmlns:y.s="urn:y" xmlns:y="urn:z"')).toBe('<y.s:a xmlns:y.s="urn:y"/>');
    expect(payloadOf('<x:a/>', ' xmlns:x="urn:&lt;&quot;&amp;"')).toBe('<x:a xmlns:x="urn:&lt;&quot;&amp;"/>');
  });

  it('is refused where outer declarations would make it many times as large', () => {
    const declarations = ` xmlns:x="urn:${'x'.repeat(100_000)}"`;
    expect(() => payloadOf('<x:a/>'.repeat(1000), declarations)).toThrow('would grow by');
    expect(payloadOf('<x:a/>'.repeat(10), declarations)).toHaveLength(10 * (100_000 + '<x:a xmlns:x="urn:"/>'.length));
  });

  it('is the whole body where the element is another than the operation’s', () => {
    expect(readEnvelope(message('<a><b/></a>')).payload(RECORD)).toBe('<a><b/></a>');
  });

  it('keeps what stands between the children', () => {
    expect(payloadOf('<a/>\r\n text <!-- c --><b>\u{1F600}</b>')).toBe('<a/>\r\n text <!-- c --><b>\u{1F600}</b>');
  });
});
