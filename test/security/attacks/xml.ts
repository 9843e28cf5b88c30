import { gzipSync } from 'node:zlib';
import { message as envelope, record as operation } from '../../support/any-message';
import { WSSE } from '../../support/wsse';
import { post, soap, type Attack } from './attack';

/** RecordEvent with text inside. */
const record = (inside: string) => envelope(operation(inside));

const MEBIBYTE = 1024 * 1024;
const ONE_RESULT = /^200 (?=[^]*<RecordEventResult>[0-9a-f-]{36}<\/RecordEventResult>)/;

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

const DOCTYPE = /^400 [^]*document type declaration is not allowed/;
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
    message('coercive parsing: open elements', /^400 [^]*deeper than 64/, () => record(fill('<a>', share * 300_000))),
    message('coercive parsing: deep in a header', /^400 [^]*deeper than 64/, () =>
      envelope('', fill('<a>', share * 300_000)),
    ),
    message('oversized payload', /^413 [^]*MAX_REQUEST_BYTES/, () => record(fill('x', limit + MEBIBYTE))),
    message('largest payload of text', ONE_RESULT, () => record(fill('x', room))),
    message('largest payload of white space', ONE_RESULT, () => record(`<a>${fill(' ', room)}</a>`)),
    message('largest payload of references', ONE_RESULT, () => record(fill('&#65;', room))),
    message('largest payload of comments', ONE_RESULT, () => record(`<a>${fill('<!---->', room)}</a>`)),
    message('largest payload of CDATA', ONE_RESULT, () => record(fill('<![CDATA[x]]>', room))),
    message('CDATA that never ends', /^400 /, () => record(`<![CDATA[${fill(']', room)}`)),
    message('more elements than allowed', /^400 [^]*250000 elements/, () => record(fill('<a/>', room))),
    message('oversized element name', /^400 [^]*1024 characters/, () => record(`<${fill('a', room)}/>`)),
    message('oversized attribute value', ONE_RESULT, () => record(`<a b="${fill('x', room)}"/>`)),
    // The parser looks up the prefix before the name is measured.
    message('oversized prefix', /^400 [^]*unbound namespace prefix/, () => record(`<${fill('a', room)}:b/>`)),
    message('far too many attributes', /^400 [^]*256 attributes/, () =>
      record(`<a ${numbered(share * 100_000, (i) => `a${i}="1"`)}/>`),
    ),
    message('namespaces in scope times elements', ONE_RESULT, () => {
      const open = `<a ${numbered(250, (i) => `xmlns:n${i}="urn:${i}"`)}>`;
      return record(open.repeat(58) + fill('<n249:b/>', share * 1_000_000) + '</a>'.repeat(58));
    }),
    message('namespaces outside times mentions inside', ONE_RESULT, () => {
      const declarations = numbered(200, (i) => ` xmlns:${'p'.repeat(Number(i) + 1)}="urn:x"`);
      return envelope(operation(`<a>${fill(`${'p'.repeat(200)}q:`, share * 3_000_000)}</a>`), '', declarations);
    }),
    message('namespaces outside times elements inside', /^400 [^]*would grow by/, () =>
      envelope(operation(fill('<x:a/>', share * 600_000)), '', ` xmlns:x="urn:${fill('x', 50_000)}"`),
    ),
    message('namespaces declared at every level', ONE_RESULT, () => {
      const open = (level: number): string => `<a ${numbered(200, (i) => `xmlns:n${i}="urn:${String(level)}:${i}"`)}>`;
      const levels = Array.from({ length: 60 }, (_, level) => open(level)).join('');
      return record(`${levels}${fill('n1:', 100_000)}${'</a>'.repeat(60)}`);
    }),
    message('an unknown envelope namespace of megabytes', /^500 (?=[^]{0,1500}$)[^]*VersionMismatch/, () =>
      record('').replace(/xmlns:s="[^"]*"/, `xmlns:s="urn:${fill('x', room)}"`),
    ),
    message('50,000 header blocks', ONE_RESULT, () => envelope(operation(''), fill('<h xmlns="urn:x"/>', 900_000))),
    message('header blocks that must be understood', /^500 (?=[^]{0,1500}$)[^]*soap:MustUnderstand/, () =>
      envelope(
        operation(''),
        numbered(20_000, (i) => `<h${i} s:mustUnderstand="1"/>`),
      ),
    ),
    message('a WS-Security header of megabytes', /^500 (?=[^]{0,1500}$)[^]*4096 characters/, () => {
      const token = `<UsernameToken><Username>${fill('x', room)}</Username></UsernameToken>`;
      const header = `<Security xmlns="${WSSE}" s:mustUnderstand="1">${token}</Security>`;
      return envelope(operation(''), header);
    }),
    message('names that collide in a hash table', /^400 [^]*256 attributes/, () =>
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
    message('elements named as members of objects', ONE_RESULT, () =>
      record('<__proto__ a="1"/><constructor/><toString/><hasOwnProperty/><valueOf __proto__="1" constructor="2"/>'),
    ),
    message('half a character of UTF-16', /^400 /, () => Buffer.from([0xff, 0xfe, 0x3c]), {
      'Content-Type': 'text/xml; charset=utf-16',
    }),
    message('gzip bomb', /^413 [^]*MAX_REQUEST_BYTES/, () => gzipSync(Buffer.alloc(100 * limit, 'x')), {
      'Content-Encoding': 'gzip',
    }),
    message('bomb in a bomb', /^4(?:13|15) /, () => gzipSync(gzipSync(Buffer.alloc(25 * limit))), {
      'Content-Encoding': 'gzip, gzip',
    }),
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
