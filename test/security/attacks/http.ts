import { sendRaw } from '../../support/wire';
import { KEY, type Attack } from './attack';

const PATH = '/webhooks/Services/WebHooks.asmx';
const KEYED = `Host: localhost\r\nX-API-Key: ${KEY}\r\n`;

const post = (field: string, body: string): string =>
  `POST ${PATH}/RecordEvent HTTP/1.1\r\n${KEYED}${field}\r\n\r\n${body}`;
const get = (target: string, field = 'Accept: */*'): string =>
  `GET ${target} HTTP/1.1\r\n${KEYED}Connection: close\r\n${field}\r\n\r\n`;
const hello = (field: string) => get(`${PATH}/HelloWorld`, field);

const SMUGGLED = `GET ${PATH}/GetEvents HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const LINE_FEEDS = `POST ${PATH}/RecordEvent HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n`;

/** Requests as they go over the wire: the status of every answer on the connection, and then the last text. */
const REQUESTS: readonly (readonly [name: string, answer: RegExp, request: string | Buffer])[] = [
  ['smuggling: two lengths', /^400 /, post('Content-Length: 0\r\nContent-Length: 44', SMUGGLED)],
  ['smuggling: line feeds alone', /^400 /, LINE_FEEDS + SMUGGLED],
  ['smuggling: a folded field', /^400 /, post('Transfer-Encoding:\r\n chunked\r\nContent-Length: 4', SMUGGLED)],
  ['smuggling: space before the colon', /^400 /, post('Content-Length : 4', 'abcd')],
  ['smuggling: a chunk beyond its size', /^400 /, post('Transfer-Encoding: chunked', '1\r\nabc\r\n0\r\n\r\n')],
  ['smuggling: chunk extensions', /^4\d\d /, post('Transfer-Encoding: chunked', `1;${'x'.repeat(100_000)}`)],
  ['smuggling: a body on GET stays a body', /^200(?:\+200)? /, `${hello('Content-Length: 4')}abcd`],
  ['injection: a bare CR in a value', /^400 /, hello('X-Request-Id: a\rSet-Cookie: b')],
  ['injection: escapes in the path', /^500 (?![^]*\nset-cookie[^]*\r\n\r\n)/i, get(`${PATH}/%0d%0aSet-Cookie:%20a=b`)],
  ['injection: an id with markup', /^200 (?![^]*<script)/, hello('X-Request-Id: <script>')],
  [
    'injection: a host with markup',
    /^400 (?![^]*<script)/,
    get(`${PATH}?WSDL`).replace('Host: localhost', 'Host: "><script>'),
  ],
  ['path: .. out of the service', /^404 /, get('/webhooks/Services/../../../../etc/passwd')],
  ['path: escaped slashes', /^(?:404|500) (?![^]*root:)/, get(`${PATH}/..%2f..%2f..%2fetc%2fpasswd`)],
  ['path: an escaped operation', /^404 |^500 /, get(`${PATH}%2fHelloWorld`)],
  ['path: a parameter', /^404 /, get(`${PATH};/HelloWorld`)],
  ['path: an escaped NUL', /^(?:404|500) /, get(`${PATH}/HelloWorld%00.txt`)],
  ['path: NUL itself', /^400 /, get(`${PATH}/Hello\0World`)],
  ['path: a broken escape', /^500 [^]*method name is not valid/, get(`${PATH}/%zz`)],
  ['path: backslashes', /^404 /, get('/webhooks\\Services\\WebHooks.asmx')],
  ['path: an operation named constructor', /^500 [^]*method name is not valid/, get(`${PATH}/constructor`)],
  ['target: no path at all', /^40[04] /, get('*')],
  ['method: TRACE', /^405 (?![^]*X-Api-Key)/i, get(PATH).replace('GET', 'TRACE')],
  ['method: changed by a field', /^200 [^]*Hello World/, hello('X-HTTP-Method-Override: DELETE')],
  ['a header of 100 KB', /^431 /, hello(`X: ${'x'.repeat(100_000)}`)],
  ['TLS on the plain port', /^400 /, Buffer.from('16030100c8010000c403030d0a0d0a', 'hex')],
  ['nonsense', /^400 /, Buffer.from(Array.from({ length: 1000 }, (_, i) => (i * 7919) % 256))],
];

/** Attacks on HTTP: smuggling, injection into header fields, tricks with paths. */
export const HTTP_ATTACKS: readonly Attack[] = REQUESTS.map(([name, answer, request]) => ({
  name,
  answer,
  once: async (url) => {
    const text = await sendRaw(url, request);
    const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => status);
    return `${statuses.join('+')} ${text}`;
  },
}));
