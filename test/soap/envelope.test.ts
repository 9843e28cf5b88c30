import { payloadOf as recordedOf, readAnyMessage } from '../support/any-message';
import { Fault } from '../../src/soap/fault';
import { NAMESPACE, SOAP_11_NAMESPACE } from '../support/bindings';

const message = (body: string, header = '', declarations = '') =>
  `<s:Envelope xmlns:s="${SOAP_11_NAMESPACE}"${declarations}>${header}<s:Body>${body}</s:Body></s:Envelope>`;

const payloadOf = (inside: string, declarations = '') =>
  recordedOf(message(`<t:RecordEvent xmlns:t="${NAMESPACE}">${inside}</t:RecordEvent>`, '', declarations));

function faultOf(xml: string): Fault {
  try {
    readAnyMessage(xml);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('no fault');
}

describe('reading an envelope', () => {
  it.each([
    ['an unclosed element', message('<a>').replace(/<\/.*/, ''), 'unclosed tag'],
    ['nothing', '', 'document must contain a root element'],
    ['a second root', `${message('')}<b/>`, 'only one root'],
    ['an entity', message('&x;'), 'undefined entity'],
    ['an unbound prefix', message('<p:a/>'), 'unbound namespace prefix'],
    ['a duplicate attribute', message('<a b="1" b="2"/>'), 'duplicate attribute'],
    ['a control character', message('\u0001'), 'disallowed character'],
    [
      'a control character by reference in XML 1.1',
      `<?xml version="1.1"?>${message('&#1;')}`,
      'malformed character entity',
    ],
  ])('refuses %s with status 400 and the reason', (_what, xml, reason) => {
    const fault = faultOf(xml);
    expect([fault.code, fault.status]).toEqual(['Client', 400]);
    expect(fault.message).toMatch(/^Server was unable to read request\. ---> /);
    expect(fault.message).toContain(reason);
  });

  it.each([
    ['s:mustUnderstand="1"', 1],
    ['s:mustUnderstand="true"', 1],
    ['s:mustUnderstand="0"', 0],
    ['mustUnderstand="1"', 0],
    ['s:mustUnderstand="1" s:actor="http://schemas.xmlsoap.org/soap/actor/next"', 1],
    ['s:mustUnderstand="1" s:actor="urn:somebody-else"', 0],
  ])('counts the mandatory blocks of a header block with %s: %i', (attributes, count) => {
    const envelope = readAnyMessage(message('', `<s:Header><h xmlns="urn:x" ${attributes}/></s:Header>`));
    expect(envelope.mandatoryHeaders).toHaveLength(count);
  });
});

describe('the payload of an envelope', () => {
  it.each(['', '  \n ', '<!-- nothing -->', '<?pi?>'])('is undefined for %j', (inside) => {
    expect(payloadOf(inside)).toBeUndefined();
  });

  it('keeps text as it was written, white space included', () => {
    expect(payloadOf(' a &lt; b &#38; c ')).toBe(' a &lt; b &#38; c ');
    expect(payloadOf('\u00a0')).toBe('\u00a0');
    expect(payloadOf('\r\n\t<a/> \n')).toBe('<a/>');
    expect(payloadOf('<![CDATA[a < b]]>')).toBe('<![CDATA[a < b]]>');
  });

  it('declares the prefixes it uses that were declared further out, and no others', () => {
    expect(payloadOf('<x:a/><b/>', ' xmlns:x="urn:x" xmlns:unused="urn:u"')).toBe('<x:a xmlns:x="urn:x"/><b/>');
  });

  it('declares the default namespace', () => {
    expect(recordedOf(message(`<RecordEvent xmlns="${NAMESPACE}"><a>1</a></RecordEvent>`))).toBe(
      `<a xmlns="${NAMESPACE}">1</a>`,
    );
  });

  it('declares a prefix that only a value uses', () => {
    expect(payloadOf('<a k="x:int"/>', ' xmlns:x="urn:x"')).toBe('<a xmlns:x="urn:x" k="x:int"/>');
  });

  it('does not take the end of a longer prefix for a prefix', () => {
    expect(payloadOf('<s-env:a/>', ' xmlns:s-env="urn:s" xmlns:env="urn:e"')).toBe('<s-env:a xmlns:s-env="urn:s"/>');
  });

  it('is given all prefixes in scope where one may have letters beyond ASCII or be written with references', () => {
    const declarations = ' xmlns:éx="urn:é" xmlns:x="urn:x"';
    const all = ` xmlns:s="${SOAP_11_NAMESPACE}"${declarations} xmlns:t="${NAMESPACE}"`;
    expect(payloadOf('<éx:a/><b/>', declarations)).toBe(`<éx:a${all}/><b/>`);
    expect(payloadOf('<a>x&#58;b</a><b/>', declarations)).toBe(`<a${all}>x&#58;b</a><b/>`);
  });

  it('keeps a child’s own declaration and escapes the ones it adds', () => {
    expect(payloadOf('<x:a xmlns:x="urn:own"/>', ' xmlns:x="urn:out"')).toBe('<x:a xmlns:x="urn:own"/>');
    expect(payloadOf('<y.s:a/>', ' xmlns:y.s="urn:y" xmlns:y="urn:z"')).toBe('<y.s:a xmlns:y.s="urn:y"/>');
    expect(payloadOf('<x:a/>', ' xmlns:x="urn:&lt;&quot;&amp;"')).toBe('<x:a xmlns:x="urn:&lt;&quot;&amp;"/>');
  });

  it('is refused if outer declarations would make it many times as large', () => {
    const declarations = ` xmlns:x="urn:${'x'.repeat(100_000)}"`;
    expect(() => payloadOf('<x:a/>'.repeat(1000), declarations)).toThrow('would grow by');
    expect(payloadOf('<x:a/>'.repeat(5), declarations)).toHaveLength(5 * (100_000 + '<x:a xmlns:x="urn:"/>'.length));
  });

  it('is the whole body if its element is not the operation’s', () => {
    expect(recordedOf(message('<a><b/></a>'))).toBe('<a><b/></a>');
  });

  it('keeps what is between the children', () => {
    expect(payloadOf('<a/>\r\n text <!-- c --><b>\u{1F600}</b>')).toBe('<a/>\r\n text <!-- c --><b>\u{1F600}</b>');
  });

  it('may gain eight times the length of its message, and not one more', () => {
    const withGrowth = (namespace: string, spaces: number) =>
      message(
        `<t:RecordEvent xmlns:t="${NAMESPACE}">${'<x:a/>'.repeat(16)}${' '.repeat(spaces)}</t:RecordEvent>`,
        '',
        ` xmlns:x="${namespace}"`,
      );
    const namespace = 'n'.repeat(1000);
    const growth = 16 * ` xmlns:x="${namespace}"`.length;
    const spaces = growth / 8 - withGrowth(namespace, 0).length;
    expect(recordedOf(withGrowth(namespace, spaces))).toHaveLength(16 * '<x:a/>'.length + growth);
    expect(() => recordedOf(withGrowth(namespace, spaces - 1))).toThrow(
      `Server was unable to read request. ---> The payload would grow by more than ${String(growth - 8)} characters, since its ` +
        'elements use namespaces that are declared outside of them. Declare each namespace on an element inside the payload.',
    );
  });

  it('has no white space around its elements, and all of it beside text', () => {
    expect(payloadOf(' \t\r\n<a/>\n<b/> \t\r\n')).toBe(`<a/>\n<b/>`);
    expect(payloadOf('\n<!-- c -->\n<a/>')).toBe('<!-- c -->\n<a/>');
    expect(payloadOf(' <a/> x ')).toBe(' <a/> x ');
  });
});
