import { gzipSync } from 'node:zlib';
import { message as envelope, record as operation } from '../support/any-message';
import { send } from '../support/http';
import { peakOf, startProcess, type ServiceProcess } from '../support/process';
import { useSharedFolder } from '../support/temporary-folder';
import { WSSE } from '../support/wsse';

/** The most memory that the process may have with default limits, in bytes. */
const MAX_MEMORY = 512_000_000;

const ONE_RESULT = /^200 (?=[^]*<RecordEventResult>[0-9a-f-]{36}<\/RecordEventResult>)/;

/** RecordEvent with text inside. */
const record = (inside: string) => envelope(operation(inside));
const fill = (part: string, characters: number) => part.repeat(Math.floor(characters / part.length));
const numbered = (count: number, text: (i: string) => string, separator = ' ') =>
  Array.from({ length: count }, (_, i) => text(String(i))).join(separator);

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const JSON_TYPE = { 'Content-Type': 'application/json' };
const CLOUD_EVENT = { 'Content-Type': 'application/cloudevents+json' };
const event = (more: string) => `{"specversion":"1.0","id":"1","source":"x","type":"t",${more}}`;

type Attack = readonly [
  name: string,
  /** What its answer must look like: the status, and then the text. */
  answer: RegExp,
  body: () => string | Buffer,
  /** With a content type the body is sent by HTTP POST, otherwise as SOAP. */
  headers?: Readonly<Record<string, string>>,
];

/** Messages of the kinds that ws-attacks.org lists, nearly as large as they may be, and similar ones for the readers of other bodies. */
const attacksOf = (room: number): readonly Attack[] => [
  ['open elements', /^400 [^]*deeper than 64/, () => record(fill('<a>', room))],
  ['text', ONE_RESULT, () => record(fill('x', room))],
  ['white space', ONE_RESULT, () => record(`<a>${fill(' ', room)}</a>`)],
  ['references', ONE_RESULT, () => record(fill('&#65;', room))],
  ['comments', ONE_RESULT, () => record(`<a>${fill('<!---->', room)}</a>`)],
  ['CDATA', ONE_RESULT, () => record(fill('<![CDATA[x]]>', room))],
  ['CDATA that never ends', /^400 /, () => record(`<![CDATA[${fill(']', room)}`)],
  ['more elements than allowed', /^400 [^]*250000 elements/, () => record(fill('<a/>', room))],
  ['an element name', /^400 [^]*1024 characters/, () => record(`<${fill('a', room)}/>`)],
  ['an attribute value', ONE_RESULT, () => record(`<a b="${fill('x', room)}"/>`)],
  // The parser looks up the prefix before the name is measured.
  ['a prefix', /^400 [^]*unbound namespace prefix/, () => record(`<${fill('a', room)}:b/>`)],
  ['attributes', /^400 [^]*256 attributes/, () => record(`<a ${numbered(room / 42, (i) => `a${i}="1"`)}/>`)],
  [
    'namespaces in scope times elements',
    ONE_RESULT,
    () => {
      const open = `<a ${numbered(250, (i) => `xmlns:n${i}="urn:${i}"`)}>`;
      return record(open.repeat(58) + fill('<n249:b/>', room / 4) + '</a>'.repeat(58));
    },
  ],
  [
    'namespaces outside times mentions inside',
    ONE_RESULT,
    () => {
      const declarations = numbered(200, (i) => ` xmlns:${'p'.repeat(Number(i) + 1)}="urn:x"`);
      return envelope(operation(`<a>${fill(`${'p'.repeat(200)}q:`, room / 2)}</a>`), '', declarations);
    },
  ],
  ['header blocks', ONE_RESULT, () => envelope(operation(''), fill('<h xmlns="urn:x"/>', room))],
  [
    'a WS-Security header',
    /^500 (?=[^]{0,1500}$)[^]*with a Password/,
    () => {
      const token = `<UsernameToken><Username>${fill('x', room - 1000)}</Username></UsernameToken>`;
      return envelope(operation(''), `<Security xmlns="${WSSE}" s:mustUnderstand="1">${token}</Security>`);
    },
  ],
  ['gzip', /^413 [^]*MAX_REQUEST_BYTES/, () => gzipSync(Buffer.alloc(100 * room)), { 'Content-Encoding': 'gzip' }],
  ['a form with as many fields as fit', /^200 /, () => fill('a&', room), FORM],
  ['a form of percent signs', /^200 /, () => `a=${fill('%ff', room)}`, FORM],
  ['JSON, deep', /^200 /, () => fill('[', room / 2) + fill(']', room / 2), JSON_TYPE],
  ['JSON, never closed', /^200 /, () => fill('{"a":', room), JSON_TYPE],
  [
    'a deep CloudEvent',
    /^400 /,
    () => event(`"data":${fill('[', room / 2 - 100)}${fill(']', room / 2 - 100)}`),
    CLOUD_EVENT,
  ],
  [
    'a CloudEvent with as many attributes as fit',
    /^400 /,
    () => event(numbered(room / 17, (i) => `"a${i}":1`, ',')),
    CLOUD_EVENT,
  ],
  ['bytes that are not text', /^200 /, () => Buffer.alloc(room, 0xff), { 'Content-Type': 'text/plain' }],
];

/** Attacks once with each: it gets its answer, which gives nothing away, and others are still served. */
export function describeAttacks(maxRequestBytes: number): void {
  describe(`with messages of ${String(maxRequestBytes)} bytes, an attack is answered and the service goes on:`, () => {
    let service: ServiceProcess;
    const folder = useSharedFolder();
    beforeAll(async () => {
      service = await startProcess({ MAX_REQUEST_BYTES: String(maxRequestBytes) }, folder.path);
    });
    afterAll(() => service.end('SIGTERM'));

    const attacks = attacksOf(maxRequestBytes - 1000).map((attack) => [attack[0], attack] as const);
    it.each(attacks)('%s', async (_name, [, expected, body, headers = {}]) => {
      const url = 'Content-Type' in headers ? `${service.url}/RecordEvent` : service.url;
      const soap = { 'Content-Type': 'text/xml; charset=utf-8' };
      const answer = await send(url, { method: 'POST', headers: { ...soap, ...headers }, body: body() });
      expect(`${String(answer.status)} ${answer.body.slice(0, 1000)}`).toMatch(expected);
      expect(answer.body).not.toMatch(/\n\s+at |node_modules|\.js:\d/);
      expect((await send(`${service.url}/HelloWorld`)).status).toBe(200);
      if (process.platform === 'linux') expect(await peakOf(service)).toBeLessThan(MAX_MEMORY);
    });
  });
}
