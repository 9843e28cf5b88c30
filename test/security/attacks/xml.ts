import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { NAMESPACE } from '../../support/bindings';
import { send } from '../../support/http';
import { parsedText } from '../../support/xml';
import { envelope, post, record, soap, type Attack } from './attack';

const MEBIBYTE = 1024 * 1024;
const ONE_RESULT = /^200 (?=[\s\S]*<RecordEventResult>[0-9a-f-]{36}<\/RecordEventResult>)/;

/** The default of MAX_REQUEST_BYTES. */
export const FULL_SIZE = 4 * MEBIBYTE;

/** The smallest MAX_REQUEST_BYTES, of those that divide the default, with which a message can have too many elements. */
export const SMALLEST_SIZE = MEBIBYTE;

const fill = (part: string, characters: number): string => part.repeat(Math.floor(characters / part.length));
const numbered = (count: number, text: (i: string) => string): string =>
  Array.from({ length: count }, (_, i) => text(String(i))).join(' ');

/** An attack that consists of one message, with its expected answer. */
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

/**
 * Attacks on the envelope reader: coercive parsing, oversized payloads, entities and others listed on ws-attacks.org.
 *
 * @param limit - the service's MAX_REQUEST_BYTES, at least {@link SMALLEST_SIZE}: most messages are as large as it allows.
 */
export function xmlAttacks(limit: number): readonly Attack[] {
  const room = limit - 1000;
  const share = limit / FULL_SIZE;
  return [
    message('coercive parsing: open elements', /^400 [\s\S]*deeper than 64/, () =>
      record(fill('<a>', share * 300_000)),
    ),
    message('coercive parsing: deep in a header', /^400 [\s\S]*deeper than 64/, () =>
      envelope('', fill('<a>', share * 300_000)),
    ),
    message('oversized payload', /^413 [\s\S]*MAX_REQUEST_BYTES/, () => record(fill('x', limit + MEBIBYTE))),
    message('largest payload of text', ONE_RESULT, () => record(fill('x', room))),
    message('largest payload of white space', ONE_RESULT, () => record(`<a>${fill(' ', room)}</a>`)),
    message('largest payload of references', ONE_RESULT, () => record(fill('&#65;', room))),
    message('largest payload of comments', ONE_RESULT, () => record(`<a>${fill('<!---->', room)}</a>`)),
    message('largest payload of CDATA', ONE_RESULT, () => record(fill('<![CDATA[x]]>', room))),
    message('CDATA that never ends', /^400 /, () => record(`<![CDATA[${fill(']', room)}`)),
    message('more elements than allowed', /^400 [\s\S]*250000 elements/, () => record(fill('<a/>', room))),
    message('oversized element name', /^400 [\s\S]*1024 characters/, () => record(`<${fill('a', room)}/>`)),
    message('oversized attribute value', ONE_RESULT, () => record(`<a b="${fill('x', room)}"/>`)),
    // The parser looks up the prefix before the name is measured.
    message('oversized prefix', /^400 [\s\S]*unbound namespace prefix/, () => record(`<${fill('a', room)}:b/>`)),
    message('far too many attributes', /^400 [\s\S]*256 attributes/, () =>
      record(`<a ${numbered(share * 100_000, (i) => `a${i}="1"`)}/>`),
    ),
    message('namespaces in scope times elements', ONE_RESULT, () => {
      const open = `<a ${numbered(250, (i) => `xmlns:n${i}="urn:${i}"`)}>`;
      return record(open.repeat(58) + fill('<n249:b/>', share * 1_000_000) + '</a>'.repeat(58));
    }),
    message('namespaces outside times mentions inside', ONE_RESULT, () => {
      const declarations = numbered(200, (i) => ` xmlns:${'p'.repeat(Number(i) + 1)}="urn:x"`);
      const content = `<RecordEvent xmlns="${NAMESPACE}"><a>${fill(`${'p'.repeat(200)}q:`, share * 3_000_000)}</a></RecordEvent>`;
      return envelope(content, '', declarations);
    }),
    message('namespaces outside times elements inside', /^400 [\s\S]*would grow by/, () =>
      envelope(
        `<RecordEvent xmlns="${NAMESPACE}">${fill('<x:a/>', share * 600_000)}</RecordEvent>`,
        '',
        ` xmlns:x="urn:${fill('x', 50_000)}"`,
      ),
    ),
    message('namespaces declared at every level', ONE_RESULT, () => {
      const open = (level: number): string => `<a ${numbered(200, (i) => `xmlns:n${i}="urn:${String(level)}:${i}"`)}>`;
      const levels = Array.from({ length: 60 }, (_, level) => open(level)).join('');
      return record(`${levels}${fill('n1:', 100_000)}${'</a>'.repeat(60)}`);
    }),
    message('an unknown envelope namespace of megabytes', /^500 (?=[\s\S]{0,1500}$)[\s\S]*VersionMismatch/, () =>
      record('').replace(/xmlns:s="[^"]*"/, `xmlns:s="urn:${fill('x', room)}"`),
    ),
    message('50,000 header blocks', ONE_RESULT, () =>
      envelope(`<RecordEvent xmlns="${NAMESPACE}"/>`, fill('<h xmlns="urn:x"/>', 900_000)),
    ),
    message('header blocks that must be understood', /^500 (?=[\s\S]{0,1500}$)[\s\S]*soap:MustUnderstand/, () =>
      envelope(
        `<RecordEvent xmlns="${NAMESPACE}"/>`,
        numbered(20_000, (i) => `<h${i} s:mustUnderstand="1"/>`),
      ),
    ),
    message('a WS-Security header of megabytes', /^500 (?=[\s\S]{0,1500}$)[\s\S]*4096 characters/, () => {
      const wsse = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd';
      const token = `<UsernameToken><Username>${fill('x', room)}</Username></UsernameToken>`;
      const header = `<Security xmlns="${wsse}" s:mustUnderstand="1">${token}</Security>`;
      return envelope(`<RecordEvent xmlns="${NAMESPACE}"/>`, header);
    }),
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
    message('DTD in UTF-16', DOCTYPE, () => Buffer.from(`\uFEFF${laughs()}`, 'utf16le')),
    message('DTD in UTF-7', /^4\d\d /, () => laughs().replaceAll('<', '+ADw-').replaceAll('>', '+AD4-'), {
      'Content-Type': 'text/xml; charset=utf-7',
    }),
    message('a reference to an undeclared entity', /^400 [\s\S]*entity/, () => record('&x;')),
    message('elements named as members of objects', ONE_RESULT, () =>
      record('<__proto__ a="1"/><constructor/><toString/><hasOwnProperty/><valueOf __proto__="1" constructor="2"/>'),
    ),
    message('an operation named __proto__', /^500 [\s\S]*supply a valid soap action/, () =>
      envelope('<__proto__ xmlns="http://tempuri.org/"/>'),
    ),
    message('half a character of UTF-16', /^400 /, () => Buffer.from([0xff, 0xfe, 0x3c]), {
      'Content-Type': 'text/xml; charset=utf-16',
    }),
    message('NUL in text', /^400 /, () => record('\0')),
    message('gzip bomb', /^413 [\s\S]*MAX_REQUEST_BYTES/, () => gzipSync(Buffer.alloc(100 * limit, 'x')), {
      'Content-Encoding': 'gzip',
    }),
    message('bomb in a bomb', /^4(?:13|15) /, () => gzipSync(gzipSync(Buffer.alloc(25 * limit))), {
      'Content-Encoding': 'gzip, gzip',
    }),
    {
      name: 'SOAPAction spoofing: an open action over a guarded body',
      answer: /^200 [\s\S]*<HelloWorldResult>Hello World/,
      once: (url) => soap(url, record('<spoofed/>'), { SOAPAction: `"${NAMESPACE}HelloWorld"`, 'X-API-Key': 'none' }),
    },
    {
      name: 'SOAPAction spoofing: a guarded action over an open body',
      answer: /^401 [\s\S]*(?:needs a record key|may not record events)/,
      once: (url) => {
        const body = envelope(`<HelloWorld xmlns="${NAMESPACE}"/>`);
        return soap(url, body, { SOAPAction: `${NAMESPACE}RecordEvent`, 'X-API-Key': 'none' });
      },
    },
    message('SOAPAction that is not an operation', /^500 [\s\S]*did not recognize/, () => record(''), {
      SOAPAction: fill('%41', 8000),
    }),
    {
      name: 'WS-Addressing spoofing: no request is sent out',
      answer: /^200 called 0 times$/,
      parallel: 1,
      once: addressingSpoofed,
    },
    { name: 'XML injection through a payload', answer: /^200 read back as it was sent$/, once: injected },
  ];
}

/**
 * Attacks on the readers of other bodies, over HTTP POST.
 *
 * @param limit - as for {@link xmlAttacks}.
 */
export function bodyAttacks(limit: number): readonly Attack[] {
  const room = limit - 1000;
  const share = limit / FULL_SIZE;
  return [
    body('form with as many fields as fit', /^200 /, 'application/x-www-form-urlencoded', () => fill('a&', room)),
    body('form of percent signs', /^200 /, 'application/x-www-form-urlencoded', () => `a=${fill('%ff', room)}`),
    body(
      'JSON member named __proto__',
      /^200 /,
      'application/json',
      () => '{"__proto__":{"admin":true},"constructor":1}',
    ),
    body('JSON, deep', /^200 /, 'application/json', () => fill('[', room / 2) + fill(']', room / 2)),
    body(
      'JSON, deep, as a CloudEvent',
      /^400 /,
      'application/cloudevents+json',
      () => `{"specversion":"1.0","id":"1","source":"x","data":${fill('[', room / 2)}${fill(']', room / 2)}`,
    ),
    body('JSON, never closed', /^200 /, 'application/json', () => fill('{"a":', room)),
    body(
      'CloudEvent with as many attributes as fit',
      /^400 /,
      'application/cloudevents+json',
      () =>
        `{"specversion":"1.0","id":"1","source":"x","type":"t",${numbered(share * 250_000, (i) => `"a${i}":1`).replaceAll(' ', ',')}}`,
    ),
    body('bytes that are not text', /^200 /, 'text/plain', () => Buffer.alloc(room, 0xff)),
  ];
}

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
