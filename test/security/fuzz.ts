import fc from 'fast-check';
import { NAMESPACE, SOAP_11_NAMESPACE, SOAP_12_NAMESPACE } from '../support/bindings';
import { send } from '../support/http';
import { openConnection, untilClosed } from '../support/raw';
import { startService, type TestService } from '../support/service';
import { WSSE } from '../support/wsse';
import { anyCharacter } from '../support/arbitraries';

/** No input may take longer, in milliseconds. */
const MAX_TIME = 1000;

const STACK = /\n\s+at \S+ \(|node_modules|\.js:\d+/;

/** Pieces from which texts are made that are nearly envelopes. */
const PIECES = [
  '<?xml version="1.0"?>',
  '<?xml version="1.1" encoding="utf-16"?>',
  `<s:Envelope xmlns:s="${SOAP_11_NAMESPACE}">`,
  `<s:Envelope xmlns:s="${SOAP_12_NAMESPACE}">`,
  '</s:Envelope>',
  '<s:Header>',
  '</s:Header>',
  '<s:Body>',
  '</s:Body>',
  '<s:Body/>',
  `<RecordEvent xmlns="${NAMESPACE}">`,
  '</RecordEvent>',
  '<a b="c" s:mustUnderstand="1">',
  '</a>',
  `<w:Security xmlns:w="${WSSE}"><w:UsernameToken>`,
  '<w:Password>x</w:Password></w:UsernameToken></w:Security>',
  '<__proto__ constructor="1"/>',
  '<!DOCTYPE a [<!ENTITY b "c">]>',
  '&b;',
  '&#0;',
  '&lt;',
  '<![CDATA[',
  ']]>',
  '<!--',
  '-->',
  '<?pi',
  '?>',
  'xmlns:s=""',
  '"',
  "'",
  '<',
  '>',
  '\0',
  '\uFFFE',
  '\uD800',
  '\r\n',
];

const nearlyXml = fc
  .array(
    fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...PIECES) }, fc.string({ unit: anyCharacter, maxLength: 8 })),
    {
      maxLength: 24,
    },
  )
  .map((parts) => parts.join(''));

interface Question {
  readonly path: string;
  readonly query: string;
  readonly method: string;
  readonly type: string;
  readonly field: string;
  readonly value: string;
  readonly body: Buffer;
}

/**
 * Sends what is nearly right, in ever new ways: no input may stop the service, hold it up or bring out a stack trace. What a SOAP message may
 * be, `scripts/fuzz` tries.
 *
 * @param requests - how many requests are made, and as many streams of bytes.
 */
export function describeFuzz(requests: number): void {
  describe('fuzzing over HTTP', () => {
    let service: TestService;
    beforeAll(async () => {
      service = await startService({ MAX_REQUEST_BYTES: '4096', REQUEST_TIMEOUT: '1s' });
    });
    afterAll(() => service.stop());

    const answersStill = async () => (await send(`${service.url}/HelloWorld`)).status === 200;

    it(`answers ${String(requests)} odd requests at once, without a stack trace`, async () => {
      const question = fc.record({
        path: fc.constantFrom('', '/RecordEvent', '/GetEvents', '/HelloWorld', '?op=', '?WSDL', '/x', '/metrics'),
        query: fc.string({ unit: 'grapheme-ascii', maxLength: 12 }).map(encodeURIComponent),
        method: fc.constantFrom('GET', 'POST', 'PUT', 'HEAD', 'OPTIONS'),
        type: fc.oneof(
          fc.constantFrom(
            'text/xml',
            'application/soap+xml; action="x"',
            'application/json',
            'text/xml; charset=utf-16',
          ),
          fc.constantFrom('application/x-www-form-urlencoded', 'application/cloudevents+json', 'a/b; charset=x'),
          fc.string({ unit: 'grapheme-ascii', maxLength: 20 }),
        ),
        field: fc.constantFrom(
          'SOAPAction',
          'Content-Encoding',
          'ce-id',
          'ce-specversion',
          'Accept-Encoding',
          'X-Request-Id',
        ),
        value: fc.oneof(
          fc.constantFrom('gzip', '1.0', '"http://tempuri.org/RecordEvent"'),
          fc.string({ unit: 'grapheme-ascii' }),
        ),
        body: fc.oneof(nearlyXml, fc.json(), fc.string({ unit: anyCharacter })).map((text) => Buffer.from(text)),
      });
      const ask = async ({ path, query, method, type, field, value, body }: Question) => {
        const started = performance.now();
        const bytes = method === 'GET' || method === 'HEAD' ? {} : { body };
        const headers = { 'Content-Type': type.trim() || 'x/y', [field]: value.trim() };
        const answer = await send(service.url + path + query, { method, headers, ...bytes });
        expect(answer.status).toBeGreaterThanOrEqual(200);
        expect(answer.body).not.toMatch(STACK);
        expect(performance.now() - started).toBeLessThan(MAX_TIME);
      };
      await fc.assert(fc.asyncProperty(question, ask), { numRuns: requests });
      expect(await answersStill()).toBe(true);
    }, 120_000);

    it(`answers or closes ${String(requests)} odd streams of bytes, without a stack trace`, async () => {
      const PARTS = [
        'GET ',
        'POST ',
        'HEAD ',
        '/webhooks/Services/WebHooks.asmx',
        '/RecordEvent',
        ' HTTP/1.1\r\n',
        ' HTTP/1.0\r\n',
        'Host: localhost\r\n',
        'Content-Length: 5\r\n',
        'Content-Length: -5\r\n',
        'Transfer-Encoding: chunked\r\n',
        'Connection: close\r\n',
        'Expect: 100-continue\r\n',
        'Upgrade: h2c\r\n',
        '\r\n',
        '\n',
        '\r',
        ':',
        ' ',
        '5\r\n12345\r\n0\r\n\r\n',
        '0\r\n',
        '%00',
        '..',
        '\0',
      ];
      const stream = fc
        .array(
          fc.oneof(
            { weight: 6, arbitrary: fc.constantFrom(...PARTS) },
            fc.string({ unit: anyCharacter, maxLength: 6 }),
          ),
          { maxLength: 16 },
        )
        .map((parts) => Buffer.from(parts.join(''), 'latin1'));
      const speak = async (bytes: Buffer) => {
        const socket = await openConnection(service.url);
        const closed = untilClosed(socket);
        // The end of the stream is the end of the connection: nothing waits for a time-out.
        socket.end(bytes);
        const started = performance.now();
        const answer = await closed;
        expect(performance.now() - started).toBeLessThan(MAX_TIME);
        expect(answer).toMatch(/^$|^HTTP\/1\.1 \d{3} /);
        expect(answer).not.toMatch(STACK);
      };
      await fc.assert(fc.asyncProperty(stream, speak), { numRuns: requests });
      expect(await answersStill()).toBe(true);
    }, 120_000);
  });
}
