import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { NAMESPACE } from '../../support/bindings';
import { send } from '../../support/http';
import { parsedText } from '../../support/xml';
import { envelope, post, record, soap, type Attack } from './attack';

const MEBIBYTE = 1024 * 1024;
const ROOM = 4 * MEBIBYTE - 1000;
const ONE_RESULT = /^200 (?=[\s\S]*<RecordEventResult>[0-9a-f-]{36}<\/RecordEventResult>)/;

const fill = (part: string, characters = ROOM): string => part.repeat(Math.floor(characters / part.length));
const numbered = (count: number, text: (i: string) => string): string =>
  Array.from({ length: count }, (_, i) => text(String(i))).join(' ');

/** A request that is a body, and what is answered. */
function message(name: string, answer: RegExp, body: () => string | Buffer, headers?: Record<string, string>): Attack {
  let made: string | Buffer | undefined;
  return { name, answer, once: (url) => soap(url, (made ??= body()), headers) };
}

const DOCTYPE = /^400 [\s\S]*document type declaration is not allowed/;
const withDtd = (subset: string, use: string): string => `<?xml version="1.0"?><!DOCTYPE x [${subset}]>${record(use)}`;

function laughs(): string {
  const levels = Array.from({ length: 10 }, (_, i) => `<!ENTITY a${String(i + 1)} "${`&a${String(i)};`.repeat(10)}">`);
  return withDtd(`<!ENTITY a0 "lol">${levels.join('')}`, '&a10;');
}

/** Attacks on the reader of envelopes: ws-attacks.org's coercive parsing, oversized payloads, entities and their like. */
export const XML_ATTACKS: readonly Attack[] = [
  message('coercive parsing: 100,000 open elements', /^400 [\s\S]*deeper than 64/, () => record(fill('<a>', 300_000))),
  message('coercive parsing: deep with namespaces', /^400 [\s\S]*deeper than 64/, () =>
    record(numbered(50_000, (i) => `<a${i} xmlns:n${i}="urn:x">`)),
  ),
  message('coercive parsing: deep in a header', /^400 [\s\S]*deeper than 64/, () => envelope('', fill('<a>', 300_000))),
  message('oversized payload', /^413 [\s\S]*MAX_REQUEST_BYTES/, () => record(fill('x', 5 * MEBIBYTE))),
  message('largest payload of text', ONE_RESULT, () => record(fill('x'))),
  message('largest payload of white space', ONE_RESULT, () => record(`<a>${fill(' ')}</a>`)),
  message('largest payload of references', ONE_RESULT, () => record(fill('&#65;'))),
  message('largest payload of line breaks', ONE_RESULT, () => record(`<a>${fill('\r\n')}</a>`)),
  message('largest payload of comments', ONE_RESULT, () => record(`<a>${fill('<!---->')}</a>`)),
  message('a comment full of hyphens', ONE_RESULT, () => record(`<a><!--${fill('-a')}--></a>`)),
  message('largest payload of instructions', ONE_RESULT, () => record(`<a>${fill('<?a?>')}</a>`)),
  message('largest payload of CDATA', ONE_RESULT, () => record(fill('<![CDATA[x]]>'))),
  message('CDATA that never ends', /^400 /, () => record(`<![CDATA[${fill(']')}`)),
  message('more elements than allowed', /^400 [\s\S]*250000 elements/, () => record(fill('<a/>'))),
  message('oversized element name', /^400 [\s\S]*1024 characters/, () => record(`<${fill('a')}/>`)),
  message('oversized attribute name', /^400 [\s\S]*1024 characters/, () => record(`<a ${fill('b')}="1"/>`)),
  message('oversized attribute value', ONE_RESULT, () => record(`<a b="${fill('x')}"/>`)),
  message('oversized prefix', /^400 [\s\S]*(?:1024 characters|unbound namespace prefix)/, () =>
    record(`<${fill('a')}:b/>`),
  ),
  message('100,000 attributes', /^400 [\s\S]*256 attributes/, () =>
    record(`<a ${numbered(100_000, (i) => `a${i}="1"`)}/>`),
  ),
  message('100,000 namespaces', /^400 [\s\S]*256 attributes/, () =>
    record(`<a ${numbered(100_000, (i) => `xmlns:n${i}="urn:${i}"`)}/>`),
  ),
  message('namespaces in scope times elements', ONE_RESULT, () => {
    const open = `<a ${numbered(250, (i) => `xmlns:n${i}="urn:${i}"`)}>`;
    return record(open.repeat(58) + fill('<n249:b/>', 1_000_000) + '</a>'.repeat(58));
  }),
  message('namespaces outside times mentions inside', ONE_RESULT, () => {
    const declarations = numbered(200, (i) => ` xmlns:${'p'.repeat(Number(i) + 1)}="urn:x"`);
    const content = `<RecordEvent xmlns="${NAMESPACE}"><a>${fill(`${'p'.repeat(200)}q:`, 3_000_000)}</a></RecordEvent>`;
    return envelope(content, '', declarations);
  }),
  message('namespaces outside times elements inside', /^400 [\s\S]*would grow by/, () =>
    envelope(
      `<RecordEvent xmlns="${NAMESPACE}">${fill('<x:a/>', 600_000)}</RecordEvent>`,
      '',
      ` xmlns:x="urn:${fill('x', 50_000)}"`,
    ),
  ),
  message('names that collide in a hash table', /^400 [\s\S]*256 attributes/, () =>
    record(
      `<a ${numbered(10_000, (i) => `${Number(i).toString(2).replaceAll('0', 'Aa').replaceAll('1', 'BB')}="1"`)}/>`,
    ),
  ),
  message('entity expansion, recursive', DOCTYPE, laughs),
  message('entity expansion, quadratic', DOCTYPE, () =>
    withDtd(`<!ENTITY a "${fill('x', 100_000)}">`, fill('&a;', 100_000)),
  ),
  message('entity, external', DOCTYPE, () => withDtd('<!ENTITY a SYSTEM "file:///etc/passwd">', '&a;')),
  message('entity, parameter', DOCTYPE, () => withDtd('<!ENTITY % a SYSTEM "http://127.0.0.1:1/"> %a;', '')),
  message('DTD, external', DOCTYPE, () => `<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd">${record('')}`),
  message('DTD in UTF-16', DOCTYPE, () => Buffer.from(`\uFEFF${laughs()}`, 'utf16le')),
  message('DTD in UTF-16, told by the header alone', DOCTYPE, () => Buffer.from(laughs(), 'utf16le'), {
    'Content-Type': 'text/xml; charset=utf-16le',
  }),
  message('DTD in UTF-7', /^4\d\d /, () => laughs().replaceAll('<', '+ADw-').replaceAll('>', '+AD4-'), {
    'Content-Type': 'text/xml; charset=utf-7',
  }),
  message('a reference to an entity of nobody', /^400 [\s\S]*entity/, () => record('&x;')),
  message('elements named as members of objects', ONE_RESULT, () =>
    record('<__proto__ a="1"/><constructor/><toString/><hasOwnProperty/><valueOf __proto__="1" constructor="2"/>'),
  ),
  message('an operation named __proto__', /^500 [\s\S]*SOAPAction/, () =>
    envelope('<__proto__ xmlns="http://tempuri.org/"/>'),
  ),
  message('a header named __proto__', ONE_RESULT, () =>
    record('').replace('<s:Body>', '<s:Header><__proto__ xmlns="urn:x"><constructor/></__proto__></s:Header><s:Body>'),
  ),
  message('invalid UTF-8', /^400 [\s\S]*not valid utf-8/, () =>
    Buffer.concat([Buffer.from(record('')), Buffer.from([0xc0, 0xaf])]),
  ),
  message('half a character of UTF-16', /^400 [\s\S]*not valid utf-16/, () => Buffer.from([0xff, 0xfe, 0x3c]), {
    'Content-Type': 'text/xml; charset=utf-16',
  }),
  message('NUL in text', /^400 /, () => record('\0')),
  message('two envelopes', /^400 /, () => record('') + record('')),
  message('gzip bomb', /^413 [\s\S]*MAX_REQUEST_BYTES/, () => gzipSync(Buffer.alloc(400 * MEBIBYTE, 'x')), {
    'Content-Encoding': 'gzip',
  }),
  message(
    'brotli bomb',
    /^413 [\s\S]*MAX_REQUEST_BYTES/,
    () => brotliCompressSync(Buffer.alloc(400 * MEBIBYTE, 'x'), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
    { 'Content-Encoding': 'br' },
  ),
  message('bomb in a bomb', /^4(?:13|15) /, () => gzipSync(gzipSync(Buffer.alloc(100 * MEBIBYTE))), {
    'Content-Encoding': 'gzip, gzip',
  }),
  {
    name: 'SOAPAction spoofing: an open action over a guarded body',
    answer: /^200 [\s\S]*<HelloWorldResult>Hello World/,
    once: (url) => soap(url, record('<spoofed/>'), { SOAPAction: `"${NAMESPACE}HelloWorld"`, 'X-API-Key': 'none' }),
  },
  {
    name: 'SOAPAction spoofing: a guarded action over an open body',
    answer: /^401 [\s\S]*A key to record|^401 [\s\S]*not valid to record/,
    once: (url) => {
      const body = envelope(`<HelloWorld xmlns="${NAMESPACE}"/>`);
      return soap(url, body, { SOAPAction: `${NAMESPACE}RecordEvent`, 'X-API-Key': 'none' });
    },
  },
  message('SOAPAction that is no address', /^500 [\s\S]*did not recognize/, () => record(''), {
    SOAPAction: fill('%41', 8000),
  }),
  message(
    'a signed body beside another (wrapping)',
    /^401 /,
    () => envelope(`<RecordEvent xmlns="${NAMESPACE}"/>`, '<x:Wrapper xmlns:x="urn:x"><s:Body/></x:Wrapper>'),
    { 'X-API-Key': 'none' },
  ),
  {
    name: 'WS-Addressing spoofing: nobody is called',
    answer: /^200 called 0 times$/,
    parallel: 1,
    once: addressingSpoofed,
  },
  message('WS-Addressing that must be understood', /^500 [\s\S]*soap:MustUnderstand/, () =>
    record('').replace(
      '<s:Body>',
      '<s:Header><To xmlns="http://www.w3.org/2005/08/addressing" s:mustUnderstand="1">urn:x</To></s:Header><s:Body>',
    ),
  ),
  { name: 'XML injection through a payload', answer: /^200 read back as it was sent$/, once: injected },
];

/** The same reader meets other kinds of bodies over HTTP POST. */
export const BODY_ATTACKS: readonly Attack[] = [
  body('form with 2,000,000 fields', /^200 /, 'application/x-www-form-urlencoded', () => fill('a&')),
  body('form with fields that collide', /^200 /, 'application/x-www-form-urlencoded', () =>
    numbered(50_000, (i) => `${Number(i).toString(2).replaceAll('0', 'Aa').replaceAll('1', 'BB')}=1&`),
  ),
  body('form of percent signs', /^200 /, 'application/x-www-form-urlencoded', () => `a=${fill('%ff')}`),
  body(
    'form field named __proto__',
    /^200 /,
    'application/x-www-form-urlencoded',
    () => '__proto__=1&constructor=2&__proto__[x]=3',
  ),
  body(
    'JSON member named __proto__',
    /^200 /,
    'application/json',
    () => '{"__proto__":{"admin":true},"constructor":1}',
  ),
  body('JSON, deep', /^200 /, 'application/json', () => fill('[', ROOM / 2) + fill(']', ROOM / 2)),
  body(
    'JSON, deep, as a CloudEvent',
    /^400 /,
    'application/cloudevents+json',
    () => `{"specversion":"1.0","id":"1","source":"x","data":${fill('[', ROOM / 2)}${fill(']', ROOM / 2)}`,
  ),
  body('JSON, never closed', /^200 /, 'application/json', () => fill('{"a":')),
  body('JSON of 2,000,000 numbers', /^200 /, 'application/json', () => `[${fill('1,')}1]`),
  body(
    'CloudEvent with 300,000 attributes',
    /^400 /,
    'application/cloudevents+json',
    () =>
      `{"specversion":"1.0","id":"1","source":"x","type":"t",${numbered(250_000, (i) => `"a${i}":1`).replaceAll(' ', ',')}}`,
  ),
  body('text of what XML forbids', /^200 /, 'text/plain', () => fill('\uFFFE', ROOM / 3)),
  body('bytes that are no text', /^200 /, 'text/plain', () => Buffer.alloc(ROOM, 0xff)),
];

function body(name: string, answer: RegExp, type: string, make: () => string | Buffer): Attack {
  let made: string | Buffer | undefined;
  return { name, answer, once: (url) => post(url, type, (made ??= make())) };
}

async function addressingSpoofed(url: string): Promise<string> {
  let called = 0;
  const victim = createServer(() => called++).listen(0, '127.0.0.1');
  await once(victim, 'listening');
  const address = `http://127.0.0.1:${String((victim.address() as AddressInfo).port)}/`;
  const blocks = ['To', 'ReplyTo', 'FaultTo', 'From']
    .map((name) => `<w:${name}><w:Address>${address}</w:Address></w:${name}>`)
    .join('');
  const header = `<s:Header><w:Group xmlns:w="http://www.w3.org/2005/08/addressing"/>${blocks.replaceAll('<w:', '<w:')}</s:Header>`;
  const text = record('').replace(
    '<s:Body>',
    `${header.replace('<s:Header>', '<s:Header xmlns:w="http://www.w3.org/2005/08/addressing">')}<s:Body>`,
  );
  const answers = [
    await soap(url, text),
    await soap(url, text.replace('RecordEvent', 'Nothing'), { SOAPAction: 'urn:none' }),
  ];
  victim.close();
  return `${answers[0]?.slice(0, 3) ?? ''} called ${String(called)} times`;
}

async function injected(url: string): Promise<string> {
  const text = `</RecordEventResult></string>]]>&x;<!--${Math.random()}\r\n"'`;
  const answer = await post(url, 'text/plain', text);
  const id = parsedText(answer.slice(4));
  const read = await send(`${url}/GetEvents?id=${id}`);
  const [event] = JSON.parse(parsedText(read.body)) as { data: string }[];
  return `${String(read.status)} ${event?.data === text ? 'read back as it was sent' : read.body}`;
}
