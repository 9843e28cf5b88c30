import { sendRaw } from '../../support/raw';
import { KEY, type Attack } from './attack';

const PATH = '/webhooks/Services/WebHooks.asmx';
const KEYED = `Host: localhost\r\nX-API-Key: ${KEY}\r\n`;

/** A request as it goes over the wire. Reports the status of every answer on the connection, then the last text. */
function raw(name: string, answer: RegExp, ...parts: readonly (string | Buffer)[]): Attack {
  return {
    name,
    answer,
    once: async (url) => {
      const text = await sendRaw(url, ...parts);
      const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => status ?? '');
      return `${statuses.join('+')} ${text}`;
    },
  };
}

const post = (fields: string, body: string): string =>
  `POST ${PATH}/RecordEvent HTTP/1.1\r\n${KEYED}${fields}\r\n${body}`;
const get = (target: string, fields = ''): string =>
  `GET ${target} HTTP/1.1\r\n${KEYED}Connection: close\r\n${fields}\r\n`;

const SMUGGLED = `GET ${PATH}/GetEvents HTTP/1.1\r\nHost: localhost\r\n\r\n`;

/** Attacks on HTTP: smuggling, injection into header fields, tricks with paths. */
export const HTTP_ATTACKS: readonly Attack[] = [
  raw(
    'smuggling: Content-Length and Transfer-Encoding',
    /^400 /,
    post('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${SMUGGLED}`),
  ),
  raw('smuggling: two lengths', /^400 /, post('Content-Length: 0\r\nContent-Length: 44\r\n', SMUGGLED)),
  raw(
    'smuggling: line feeds alone',
    /^400 /,
    `POST ${PATH}/RecordEvent HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n${SMUGGLED}`,
  ),
  raw('smuggling: a folded field', /^400 /, post('Transfer-Encoding:\r\n chunked\r\nContent-Length: 4\r\n', SMUGGLED)),
  raw('smuggling: space before the colon', /^400 /, post('Content-Length : 4\r\n', 'abcd')),
  raw('smuggling: an unknown transfer coding', /^400 /, post('Transfer-Encoding: xchunked\r\n', SMUGGLED)),
  raw('smuggling: chunked that is not last', /^400 /, post('Transfer-Encoding: chunked, identity\r\n', SMUGGLED)),
  raw(
    'smuggling: a chunk that is longer than its size',
    /^400 /,
    post('Transfer-Encoding: chunked\r\n', '1\r\nabc\r\n0\r\n\r\n'),
  ),
  raw(
    'smuggling: chunk extensions without end',
    /^4\d\d /,
    post('Transfer-Encoding: chunked\r\n', `1;${'x'.repeat(100_000)}`),
  ),
  raw(
    'smuggling: a body on GET stays a body',
    /^200(?:\+200)? /,
    get(`${PATH}/HelloWorld`, 'Content-Length: 4\r\n').concat('abcd'),
  ),
  raw(
    'header injection: a bare CR in a value',
    /^400 /,
    get(`${PATH}/HelloWorld`, 'X-Request-Id: a\rSet-Cookie: b\r\n'),
  ),
  raw(
    'header injection: escapes in the path',
    /^500 (?![\s\S]*\r\nset-cookie[\s\S]*\r\n\r\n)/i,
    get(`${PATH}/%0d%0aSet-Cookie:%20a=b`),
  ),
  raw(
    'header injection: an id with markup',
    /^200 (?![\s\S]*<script)/,
    get(`${PATH}/HelloWorld`, 'X-Request-Id: <script>\r\n'),
  ),
  raw(
    'header injection: a host with markup',
    /^400 (?![\s\S]*<script)/,
    `GET ${PATH}?WSDL HTTP/1.1\r\nHost: "><script>\r\n\r\n`.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'),
  ),
  raw('path: .. out of the service', /^404 /, get('/webhooks/Services/../../../../etc/passwd')),
  raw('path: escaped slashes', /^(?:404|500) (?![\s\S]*root:)/, get(`${PATH}/..%2f..%2f..%2fetc%2fpasswd`)),
  raw('path: an escaped operation', /^404 |^500 /, get(`${PATH}%2fHelloWorld`)),
  raw('path: a parameter', /^404 /, get(`${PATH};/HelloWorld`)),
  raw('path: an escaped NUL', /^(?:404|500) /, get(`${PATH}/HelloWorld%00.txt`)),
  raw('path: NUL itself', /^400 /, get(`${PATH}/Hello\0World`)),
  raw('path: a broken escape', /^500 [\s\S]*method name is not valid/, get(`${PATH}/%zz`)),
  raw('path: backslashes', /^404 /, get('/webhooks\\Services\\WebHooks.asmx')),
  raw('path: a page behind a dot segment', /^200 /, get('/./metrics')),
  raw('path: an operation named constructor', /^500 [\s\S]*method name is not valid/, get(`${PATH}/constructor`)),
  raw('target: another server', /^200 |^404 /, get('http://evil.example/webhooks/Services/WebHooks.asmx')),
  raw('target: no path at all', /^40[04] /, get('*')),
  raw('method: CONNECT', /^405 /, 'CONNECT evil:443 HTTP/1.1\r\nHost: evil\r\n\r\n'),
  raw('method: TRACE', /^405 (?![\s\S]*X-Api-Key)/i, `TRACE ${PATH} HTTP/1.1\r\n${KEYED}Connection: close\r\n\r\n`),
  raw(
    'method: changed by a field',
    /^200 [\s\S]*Hello World/,
    get(`${PATH}/HelloWorld`, 'X-HTTP-Method-Override: DELETE\r\n'),
  ),
  raw('upgrade to another protocol', /^200 /, get(`${PATH}/HelloWorld`, 'Upgrade: websocket\r\n')),
  raw('a header of 100 KB', /^431 /, get(PATH, `X: ${'x'.repeat(100_000)}\r\n`)),
  raw('5,000 header fields', /^431 /, get(PATH, 'abcdef: ghijkl\r\n'.repeat(5000))),
  raw('HTTP/2 without being asked', /^505 /, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  raw('TLS on the plain port', /^400 /, Buffer.from('16030100c8010000c40303', 'hex'), '\r\n\r\n'),
  raw('a versionof HTTP that does not exist', /^505 /, `GET ${PATH} HTTP/9.9\r\nHost: localhost\r\n\r\n`),
  raw('nonsense', /^400 /, Buffer.from(Array.from({ length: 1000 }, (_, i) => (i * 7919) % 256))),
];
