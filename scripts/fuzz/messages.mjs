// Makes SOAP messages, most of them right or nearly right, from a seed.
import { readFileSync } from 'node:fs';
import { randomOf } from '../support.mjs';

const NAMESPACE = 'http://tempuri.org/';
const SOAP = ['http://schemas.xmlsoap.org/soap/envelope/', 'http://www.w3.org/2003/05/soap-envelope'];
const WSS = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss';
const WSSE = `${WSS}-wssecurity-secext-1.0.xsd`;
const WSU = `${WSS}-wssecurity-utility-1.0.xsd`;

const XML = 'http://www.w3.org/XML/1998/namespace';
const XMLNS = 'http://www.w3.org/2000/xmlns/';

/** What breaks a message, or nearly, wherever it is put in: several on a line, with ¦ between them. */
const SPLINTERS = [
  `<¦>¦/¦/>¦</¦&¦;¦"¦'¦=¦:¦-¦--¦!¦?¦]¦]]¦]]>¦ ¦\t¦\n¦\r`,
  '\r\n¦\n\r¦\0¦\x01¦\x0b¦\x1f¦\x7f¦\x85¦\xa0¦\u2028¦\ufeff¦\ufffe¦\uffff¦\ufffd',
  '\ud800¦\udc00¦😀¦\ud83d<¦\udbff\udfff¦é¦日本¦😀¦\u0300¦·',
  '&lt;¦&gt;¦&amp;¦&quot;¦&apos;¦&#65;¦&#x41;¦&#X41;¦&#0;¦&#1;¦&#9;¦&#10;¦&#13;¦&#32;',
  '&#xD800;¦&#xFFFE;¦&#x10FFFF;¦&#x110000;¦&#58;¦&#x3a;¦&;¦&#;¦&#x;¦&lt¦&x;¦&LT;¦& lt;',
  '&#0000000000065;¦&#x1F600;¦&#-5;¦&#1e2;¦&constructor;¦&__proto__;¦&#6 5;¦&l\r\nt;',
  '<!--¦-->¦<!-- c -->¦<!---->¦<!--->¦<!-- -- -->¦<!-- a --->¦<!-->¦<!- a -->¦<!--\r\n-\r-->',
  '<![CDATA[¦<![CDATA[]]>¦<![CDATA[ ]]>¦<![CDATA[a:b<&]]>¦<![CDATA[]]]]>¦<![CDATA[\r\n]]>¦<![cdata[x]]>¦<![',
  '<?xml version="1.0"?>¦<?pi?>¦<?pi x?>¦<?xml?>¦<?XML x?>¦<??>¦<?¦?>¦<?p:i?>¦<?xml-stylesheet x?>',
  '<!DOCTYPE a>¦<!DOCTYPE a [<!ENTITY b "c">]>¦<!ELEMENT a>¦<!x>¦<!>¦<>¦</>¦< a>¦</ a>¦<a/ >¦<a / >',
  '<a/>¦<b></b>¦<a>¦</a>¦<a¦</a¦<:a/>¦<a:/>¦<a:b:c/>¦<a::b/>¦<p:1a/>¦<p:-a/>¦<1a/>¦<-a/>¦<.a/>¦<é/>¦<a·/>',
  '<p:a/>¦<s:a/>¦<q:b>¦</q:b>¦<xml:a/>¦<xmlns:a/>¦<xmlns/>¦<xml/>¦<__proto__/>¦<constructor>¦<a.b-c_d/>',
  ` a="1"¦ a="2"¦ a='1'¦ a=1¦ a¦ a=¦ a = "1"¦ a\n=\n"1"¦ a="1"b="2"¦ a="<"¦ a=">"¦ a="&lt;"`,
  ` a="&#10;&#13;&#9;"¦ a="\r\n\t \n\r"¦ a="'"¦ a='"'¦ p:a="1"¦ q:a="1"¦ p:a="2"¦ é="1"¦ a:b:c="1"¦ :a="1"`,
  ' xmlns=""¦ xmlns="urn:d"¦ xmlns=" urn:d "¦ xmlns:p=""¦ xmlns:p=" "¦ xmlns:p="urn:p"¦ xmlns:q="urn:p"',
  ' xmlns:p="urn:q"¦ xmlns:-p="urn:q"¦ p:.a="1"',
  ` xmlns:xml="${XML}"¦ xmlns:p="${XML}"¦ xmlns="${XML}"¦ xmlns:p="${XMLNS}"¦ xmlns="${XMLNS}"`,
  ' xmlns:xml="urn:x"¦ xmlns:xmlns="urn:x"',
  ' xml:lang="en"¦ xml:lang="de"¦ xml:space="preserve"¦ xmlns:="urn:x"¦ xmlns:p="urn:&lt;&quot;"',
  ' xmlns:p="\xa0"¦ __proto__="1"',
  's:mustUnderstand="1"¦ s:mustUnderstand=" true "¦ xsi:nil="true"¦ xsi:type="xsd:int"¦ Type="x"¦text¦a:b',
  'xsd:int¦p:¦:p',
  '<s:Header>¦</s:Header>¦<s:Body>¦</s:Body>¦<s:Body/>¦</s:Envelope>¦<s:Header/>',
  '<RecordEvent xmlns="http://tempuri.org/">¦</RecordEvent>',
].flatMap((line) => line.split('¦'));

const ODD_ATTRIBUTES = SPLINTERS.filter((text) => text.startsWith(' ') && text.includes('='));

/** With ¦ between them. */
const WORDS =
  '¦x¦ x ¦42¦Jane Doe¦2026-11-22T03:12:49Z¦xsd:int¦p:q q:p¦a &amp; b¦&#65;&#x42;¦é 日本 😀¦a]b]]c¦a>b'.split('¦');

/** Recorded messages of clients. */
const RECORDED = JSON.parse(readFileSync(new URL('../../test/fixtures/asmx-cases.json', import.meta.url), 'utf8'))
  .map(({ request }) => request.body)
  .filter((body) => typeof body === 'string' && body.includes('Envelope'));

/** Makes one message after another; the same ones for the same seed. */
export function messagesOf(seed) {
  const random = randomOf(seed);
  const below = (count) => Math.floor(random() * count);
  const one = (list) => list[below(list.length)];
  const chance = (share) => random() < share;
  const some = (max, make) => Array.from({ length: below(max + 1) }, make).join('');

  const space = () => (chance(0.85) ? '' : one([' ', '\n', '\r\n', '\t', '\n  ', '<!-- c -->', '\r']));
  const inTag = () => (chance(0.9) ? ' ' : one(['  ', '\n', '\r\n\t', '\t', '\r']));
  const beforeEnd = () => (chance(0.9) ? '' : one([' ', '\n', '\t ']));
  const quoted = (text) => (chance(0.85) ? `"${text}"` : `'${text}'`);
  const prefix = () => (chance(0.9) ? one(['p', 'q']) : one(['p.q', 'n-1', 's', 'xsi', 'xsd', '_x']));
  const local = () =>
    one(['a', 'b', 'Item', 'OrderId', 'x.y', 'limit', 'after', '_1', 'constructor', 'Envelope', 'Body', '__proto__']);
  const uri = () =>
    one(['urn:p', 'urn:q', NAMESPACE, 'urn:a&amp;b', 'http://example.com/ns#x', ' urn:space ', 'urn:&quot;', ...SOAP]);
  const words = () =>
    one(WORDS) +
    (chance(0.1) ? one(['\r\n', '\n', '&#13;', '&#10;', '\t', '&lt;', '\u0085', '&#x1F600;', '://', 'p:']) : '');
  const attribute = () => {
    const name = chance(0.7) ? local() : `${prefix()}:${local()}`;
    return `${inTag()}${name}=${quoted(words())}`;
  };
  const declaration = () => `${inTag()}xmlns${chance(0.4) ? '' : `:${prefix()}`}=${quoted(chance(0.05) ? '' : uri())}`;
  /** Duplicates if both prefixes have the same namespace. */
  const twins = () => ((name) => ` p:${name}="1"${chance(0.5) ? ` ${name}="2"` : ''} q:${name}="3"`)(local());
  const attributes = () => {
    if (chance(0.6)) return '';
    const odd = chance(0.04) ? one(ODD_ATTRIBUTES) : '';
    return odd + (chance(0.05) ? twins() : some(2, attribute)) + (chance(0.3) ? some(2, declaration) : '');
  };
  const element = (depth) => {
    const name = chance(0.8) ? local() : `${prefix()}:${local()}`;
    const tag = `${name}${attributes()}${beforeEnd()}`;
    if (chance(0.2)) return `<${tag}/>`;
    return `<${tag}>${content(depth + 1)}</${name}${beforeEnd()}>`;
  };
  const content = (depth) =>
    some(depth > 3 ? 1 : 3, () => {
      const kind = random();
      if (kind < 0.45) return words();
      if (kind < 0.9 && depth < 6) return element(depth);
      if (kind < 0.94) return `<![CDATA[${one(['', ' ', 'a:b', '<&>', 'p:x ]] >', '\r\n'])}]]>`;
      if (kind < 0.98) return `<!--${one(['', ' c ', ' a - b ', '&x; <y>', '\r\n'])}-->`;
      return one(['<?pi x?>', '\u2028', space()]);
    });
  const operation = () => {
    const name = one(['RecordEvent', 'HelloWorld', 'GetEvents', 'Other']);
    if (chance(0.5))
      return `<${name} xmlns="${NAMESPACE}"${attributes()}${chance(0.3) ? ' />' : `>${content(0)}</${name}>`}`;
    const declared = chance(0.5) ? ` xmlns:t="${NAMESPACE}"` : '';
    return declared === '' ? element(0) : `<t:${name}${declared}${attributes()}>${content(0)}</t:${name}>`;
  };
  const security = () => {
    const token = () => `<w:Nonce${chance(0.3) ? attribute() : ''}>${words()}</w:Nonce>`;
    const right = `<w:UsernameToken u:Id="t"><w:Username>u</w:Username><w:Password Type="${WSS}-username-token-profile-1.0#Password${one(['Text', 'Digest'])}">${words()}</w:Password>${some(1, token)}</w:UsernameToken>`;
    const time = `<u:Timestamp><u:Created>${words()}</u:Created><u:Expires>${one(['2099-01-01T00:00:00Z', 'x', '2001-01-01T00:00:00Z'])}</u:Expires></u:Timestamp>`;
    const must = chance(0.5) ? ' s:mustUnderstand="1"' : '';
    return `<w:Security xmlns:w="${WSSE}" xmlns:u="${WSU}"${must}>${space()}${chance(0.8) ? right : some(2, token)}${chance(0.4) ? time : ''}${space()}</w:Security>`;
  };
  const block = () => {
    const kind = random();
    if (kind < 0.4) return security();
    if (kind < 0.6) return `<d:To xmlns:d="http://www.w3.org/2005/08/addressing">${words()}</d:To>`;
    const marks = some(
      2,
      () =>
        ` s:${one(['mustUnderstand', 'actor', 'role', 'relay'])}="${one(['1', '0', 'true', ' 1 ', '', 'urn:x', `${SOAP[1]}/role/next`, 'http://schemas.xmlsoap.org/soap/actor/next'])}"`,
    );
    return `<h xmlns="urn:h"${marks}>${content(3)}</h>`;
  };
  const prologue = () =>
    (chance(0.6)
      ? `<?xml version=${quoted(chance(0.95) ? one(['1.0', '1.1']) : one(['1.9', '2.0', '1.']))}${chance(0.7) ? ` encoding=${quoted(chance(0.95) ? one(['utf-8', 'x_1']) : '8')}` : ''}${chance(0.1) ? ` standalone=${quoted(chance(0.9) ? one(['yes', 'no']) : 'x')}` : ''}${chance(0.1) ? ' ' : ''}?>`
      : '') +
    (chance(0.02) ? '\ufeff' : '') +
    space() +
    (chance(0.1) ? space() : '');
  const envelope = () => {
    const p = chance(0.7) ? 's' : one(['soap', 'SOAP-ENV', 'e', '']);
    const q = p === '' ? '' : `${p}:`;
    const others = [
      ` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"`,
      ' xmlns:xsd="http://www.w3.org/2001/XMLSchema"',
    ];
    const declarations = `${chance(0.5) ? others.join('') : ''} xmlns${p && `:${p}`}="${one(SOAP)}"${p === 's' || chance(0.7) ? '' : ` xmlns:s="${SOAP[0]}"`}${some(2, () => ` xmlns:${one(['p', 'q', 'p.q', 'n-1', '_x'])}${below(2)}="${uri()}"`)}${chance(0.9) ? ' xmlns:p="urn:p"' : ''}${chance(0.9) ? ` xmlns:q="urn:${one(['q', 'q', 'q', 'p'])}"` : ''}`;
    const header = chance(0.35) ? `<${q}Header>${space()}${some(2, block)}${space()}</${q}Header>` : '';
    const body = `<${q}Body${chance(0.1) ? attributes() : ''}>${space()}${chance(0.9) ? operation() : content(0)}${chance(0.1) ? content(1) : ''}${space()}</${q}Body>`;
    const after = chance(0.04) ? element(2) : '';
    return `${prologue()}<${q}Envelope${declarations}>${space()}${header}${space()}${body}${after}${space()}</${q}Envelope>${space()}${chance(0.01) ? element(5) : ''}`;
  };
  const around = (inside) =>
    `<s:Envelope xmlns:s="${one(SOAP)}"><s:Body><RecordEvent xmlns="${NAMESPACE}">${inside}</RecordEvent></s:Body></s:Envelope>`;
  const numbered = (count, make) => Array.from({ length: count }, (_, i) => make(i)).join('');
  /** Attacks and messages at the limits. */
  const extreme = () =>
    one([
      () => around('<a>'.repeat(55 + below(12)) + '</a>'.repeat(55 + below(12))),
      () => ((depth) => around('<a>'.repeat(depth) + '</a>'.repeat(depth)))(55 + below(12)),
      () => around(`<a ${numbered(one([15, 16, 17, 255, 256, 257]), (i) => ` a${i}="1"`)}/>`),
      () => around(`<a ${numbered(one([15, 16, 17, 256]), (i) => ` xmlns:n${i}="urn:${i}"`)}><n${below(17)}:b/></a>`),
      () => ((name) => around(`<${name}>x</${name}>`))('n'.repeat(one([255, 256, 257, 1023, 1024, 1025]))),
      () => around(`<a ${'n'.repeat(one([255, 256, 257, 1023, 1024, 1025]))}="1"/>`),
      () => around(`<a><!--${'-a'.repeat(below(20))}--></a>`),
      () => around(']'.repeat(below(5)) + one(['>', '&gt;', '<b/>', '<![CDATA[>]]>'])),
      () => `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]>${around('&a;')}`,
      () => `<s:Envelope xmlns:s="${one(SOAP)}"${one([' ', ''])}x="${'>'.repeat(below(1200))}"><s:Body/></s:Envelope>`,
    ])();
  const mutated = (text) => {
    for (let count = 1 + below(3); count > 0; count--) {
      const place = below(text.length + 1);
      const kind = random();
      const length = chance(0.5) ? 1 : below(20);
      if (kind < 0.55) text = text.slice(0, place) + one(SPLINTERS) + text.slice(place);
      else if (kind < 0.7) text = text.slice(0, place) + text.slice(place + length);
      else if (kind < 0.85) text = text.slice(0, place) + one(SPLINTERS) + text.slice(place + length);
      else if (kind < 0.92) text = text.slice(0, place + length) + text.slice(place);
      else if (kind < 0.96) text = text.slice(0, place);
      // Behind a tag's name, where attributes are.
      else text = text.replace(/(<[\w:]+)(?=[ >])/g, (tag) => (chance(0.2) ? tag + one(SPLINTERS) : tag));
    }
    return text;
  };
  return () => {
    const kind = random();
    const message = kind < 0.08 ? one(RECORDED) : kind < 0.14 ? extreme() : envelope();
    return chance(0.4) ? mutated(message) : message;
  };
}
