import * as fc from 'fast-check';
import { XmlElement } from '../../src/xml/xml-tree';
import { message as body, payloadOf, readAnyMessage } from '../support/any-message';
import { NAMESPACE, SOAP_11_NAMESPACE } from '../support/bindings';

const message = (inside: string, onEnvelope = '', onOperation = '') =>
  body(`<t:RecordEvent xmlns:t="${NAMESPACE}"${onOperation}>${inside}</t:RecordEvent>`, '', onEnvelope);
const RECORD_TAG = `RecordEvent xmlns="${NAMESPACE}"`;
const S = ` xmlns:s="${SOAP_11_NAMESPACE}"`;

/** Names, attributes and texts inside an element with every prefix replaced by its namespace, as a strict parser resolves it. */
function resolved(element: XmlElement): unknown[] {
  const valueIn = (one: XmlElement, text: string) =>
    text.replace(/([^\s:]+):/g, (_all, prefix: string) => `{${String(one.qualifiedName(`${prefix}:x`)?.namespace)}}`);
  return element.content.flatMap((child): unknown[] => {
    if (typeof child === 'string') return child.trim() === '' ? [] : [valueIn(element, child)];
    const attributes = child.attributes.map(({ uri, local, value }) => [uri, local, valueIn(child, value)]);
    return [[child.namespace, child.name, attributes, resolved(child)]];
  });
}

const PREFIXES = 'p p.q q n-1 a·b u‿v u⁀ e\u0301 x\u0300y \u{10000}z é Ω_ 日本'.split(' ');

const declarations = fc
  .uniqueArray(fc.constantFrom('', ...PREFIXES), { maxLength: 8 })
  .map((prefixes) =>
    prefixes.map((prefix) => ` xmlns${prefix && `:${prefix}`}="urn:${String(PREFIXES.indexOf(prefix))}"`).join(''),
  );
const everything = PREFIXES.map((prefix, i) => ` xmlns:${prefix}="urn:outer:${String(i)}"`).join('');
const name = fc
  .tuple(fc.constantFrom('', ...PREFIXES), fc.constantFrom('a', 'b·', 'c-1'))
  .map(([prefix, local]) => (prefix === '' ? local : `${prefix}:${local}`));
const referenced = (text: string) => text.replace(/[:p]/g, (one) => `&#${String(one.charCodeAt(0))};`);
const qualified = fc.oneof(name, name.map(referenced));
const { element } = fc.letrec<{ element: string }>((tie) => ({
  element: fc
    .tuple(
      name,
      declarations,
      fc.option(fc.tuple(name, qualified), { nil: undefined }),
      fc.array(fc.oneof({ maxDepth: 3 }, qualified, tie('element')), { maxLength: 3 }),
    )
    .map(([tag, declared, attribute, content]) => {
      const attributes = attribute === undefined ? '' : ` ${attribute[0]}="${attribute[1]}"`;
      return `<${tag}${declared}${attributes}>${content.join('<!-- - -->')}</${tag}>`;
    }),
}));

describe('the payload of a message', () => {
  it.each<[inside: string, payload: string | undefined, declarations?: string]>([
    ['', undefined],
    ['  \n <!-- nothing -->', undefined],
    [' <?pi?>', '<?pi?>'],
    ['<![CDATA[ ]]>\n', '<![CDATA[ ]]>'],
    ['&#32;', '&#32;'],
    ['\u00a0', '\u00a0'],
    [' a &lt; b &#38; c ', ' a &lt; b &#38; c '],
    ['<![CDATA[a < b]]>', '<![CDATA[a < b]]>'],
    [' \t\r\n<a/>\n<b ></b > \t\r\n', '<a/>\n<b ></b >'],
    ['\n<!-- c -->\n<a/>', '<!-- c -->\n<a/>'],
    [' <a><b/></a> x <!-- c --><b>\u{1F600}</b>', ' <a><b/></a> x <!-- c --><b>\u{1F600}</b>'],
    ['<x:a/><b/>', '<x:a xmlns:x="urn:x"/><b/>', ' xmlns:x="urn:x" xmlns:unused="urn:u"'],
    ['<a k="x:int"/>', '<a xmlns:x="urn:x" k="x:int"/>', ' xmlns:x="urn:x"'],
    ['<a/><b>s:x</b>', `<a/><b${S}>s:x</b>`],
    ['<a><![CDATA[s:x]]></a>', `<a${S}><![CDATA[s:x]]></a>`],
    ['<s-env:a/>', '<s-env:a xmlns:s-env="urn:s"/>', ' xmlns:s-env="urn:s" xmlns:env="urn:e"'],
    ['<x:a xmlns:x="urn:own"/>', '<x:a xmlns:x="urn:own"/>', ' xmlns:x="urn:out"'],
    ['<y.s:a/>', '<y.s:a xmlns:y.s="urn:y"/>', ' xmlns:y.s="urn:y" xmlns:y="urn:z"'],
    ['<x:a/>', '<x:a xmlns:x="urn:&lt;&quot;&amp;"/>', ' xmlns:x="urn:&lt;&quot;&amp;"'],
  ])('%j in the operation is %j', (...[inside, payload, declarations]) => {
    expect(payloadOf(message(inside, declarations))).toBe(payload);
  });

  it('is given all prefixes in scope where one may have letters beyond ASCII or be written with references', () => {
    const declarations = ' xmlns:éx="urn:é" xmlns:x="urn:x"';
    const all = `${S}${declarations} xmlns:t="${NAMESPACE}"`;
    expect(payloadOf(message('<éx:a/><b/>', declarations))).toBe(`<éx:a${all}/><b/>`);
    expect(payloadOf(message('<a>x&#58;b</a><b/>', declarations))).toBe(`<a${all}>x&#58;b</a><b/>`);
  });

  it.each([
    ['elements beside the operation’s', `<${RECORD_TAG}><a href="#1"/></RecordEvent><multiRef id="1">x</multiRef>`],
    ['text after the operation’s', `<${RECORD_TAG}><a/></RecordEvent>x`],
    ['an instruction after the operation’s', `<${RECORD_TAG}/><?pi?>`],
    ['white space in a CDATA section before it', `<!-- --><![CDATA[ ]]><${RECORD_TAG} ></RecordEvent >`],
    ['attributes of the operation’s', `<${RECORD_TAG} number="7"/>`],
    ['a language of the operation’s', `<${RECORD_TAG} xml:lang="en"><a/></RecordEvent>`],
    ['a null', `<${RECORD_TAG} xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"/>`],
    ['an instruction alone', '<?pi?>'],
    ['another element', '<a><b/></a>'],
    ['that element in another namespace', '<r:RecordEvent xmlns:r="urn:r">x</r:RecordEvent>'],
    ['text before an element', 'x<a/> '],
  ])('with %s is all of the body', (_what, inside) => {
    expect(payloadOf(body(inside))).toBe(inside);
    expect(readAnyMessage(body(inside)).content).toMatchObject({ soapPart: 'body' });
  });

  it('is the content of the operation’s element if that only says how it is encoded', () => {
    const ENCODING = 'http://schemas.xmlsoap.org/soap/encoding/';
    const style = `s:encodingStyle="${ENCODING}" xmlns:e="${ENCODING}" e:root="1"`;
    const xml = body(`<!-- --><${RECORD_TAG} ${style}><a xmlns=""/></RecordEvent ><!-- -->`);
    expect(payloadOf(xml.replace('<s:Body', `<s:Body ${style}`))).toBe('<a xmlns=""/>');
  });

  it.each([
    ['an element', `<${RECORD_TAG}/>`, '</s:Body>'],
    ['nothing', '', '</s:Body >'],
  ])('is soap:Body itself if that has attributes, with %s in it', (_what, inside, end) => {
    const xml = `<s:Envelope${S} xmlns:u="urn:u"><s:Body u:Id="1">${inside}${end}<!-- --></s:Envelope>`;
    const payload = `<s:Body${S} xmlns:u="urn:u" u:Id="1">${inside}${end}`;
    expect(payloadOf(xml)).toBe(payload);
    expect(readAnyMessage(xml).content).toMatchObject({ soapPart: 'envelope' });
    expect(payloadOf(xml.replace(/>([^<]*)<\/s:Body >/, '/>'))).toBe(payload.replace('></s:Body >', '/>'));
  });

  it('keeps the service’s namespace on thousands of small elements', () => {
    const xml = body(`<${RECORD_TAG}>${'<i>1</i>'.repeat(20_000)}</RecordEvent>`);
    expect(payloadOf(xml)).toHaveLength(20_000 * `<i xmlns="${NAMESPACE}">1</i>`.length);
  });

  const prefixes = Array.from(
    { length: 220 },
    (_, i) => ` xmlns:p${String(i)}="http://schemas.example.com/ns/${String(i)}/"`,
  );
  const mentions = Array.from({ length: 220 }, (_, i) => `p${String(i)}:`).join(' ');
  const children = '<a/>'.repeat(3000);

  it.each([
    ['no element mentions', children],
    ['one attribute mentions', `<m a="${mentions}"/>${children}`],
    ['a text between the elements mentions', `${children}${mentions}`],
    ['elements deep inside mention', `<m>${'<n>'.repeat(40)}${mentions}${'</n>'.repeat(40)}</m>${children}`],
  ])('does not declare, on elements that do not use them, 220 prefixes that %s', (_where, inside) => {
    const xml = message(inside, prefixes.join(''));
    expect(payloadOf(xml)?.length).toBeLessThan(xml.length);
  });

  const long = `urn:${'x'.repeat(10_000)}`;
  it.each([
    ['a prefix', message('<x:a/>'.repeat(3000), ` xmlns:x="${long}"`)],
    ['a default namespace', message('<a/>'.repeat(3000), '', ` xmlns="${long}"`)],
    [
      'a long default namespace, with much else',
      message(`${'<a/>'.repeat(450)}${' '.repeat(600_000)}`, '', ` xmlns="${long}"`),
    ],
    ['quotes in the namespace', message('<x:a/>'.repeat(3000), ` xmlns:x='${'"'.repeat(300)}'`)],
  ])('that %s would make many times as long is refused', (_what, xml) => {
    expect(() => payloadOf(xml)).toThrow('would grow by');
  });

  it('may gain eight times the length of its message, and not one more', () => {
    const namespace = 'n'.repeat(1000);
    const withGrowth = (spaces: number) =>
      message(`${'<x:a/>'.repeat(16)}${' '.repeat(spaces)}`, ` xmlns:x="${namespace}"`);
    const growth = 16 * ` xmlns:x="${namespace}"`.length;
    const spaces = growth / 8 - withGrowth(0).length;
    expect(payloadOf(withGrowth(spaces))).toHaveLength(16 * '<x:a/>'.length + growth);
    expect(() => payloadOf(withGrowth(spaces - 1))).toThrow(
      `Server was unable to read request. ---> The payload would grow by more than ${String(growth - 8)} characters, since its ` +
        'elements use namespaces that are declared outside of them. Declare each namespace on an element inside the payload.',
    );
  });

  it('says outside of its message what it says inside, whatever prefixes it uses and wherever they are declared', () => {
    fc.assert(
      fc.property(fc.array(element, { minLength: 1, maxLength: 3 }), declarations, (children, onOperation) => {
        const xml = message(children.join(' '), `${everything} xmlns="urn:default"`, onOperation);
        const payload = payloadOf(xml) ?? '';
        const [operation] = XmlElement.read(xml)
          .children(SOAP_11_NAMESPACE, 'Body')
          .flatMap((one) => one.children());
        expect(resolved(XmlElement.read(`<x>${payload}</x>`))).toEqual(operation && resolved(operation));
      }),
    );
  });
});
