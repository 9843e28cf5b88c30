import fc from 'fast-check';
import { NAMESPACE, SOAP_11_NAMESPACE, SOAP_12_NAMESPACE } from '../support/bindings';
import { send } from '../support/http';
import { openWire } from '../support/wire';
import { useService } from '../support/service';
import { WSSE } from '../support/wsse';
import { anyCharacter } from '../support/arbitraries';

/** No input may take longer, in milliseconds. */
const MAX_TIME = 1000;

const STACK = /\n\s+at \S+ \(|node_modules|\.js:\d+/;

const parts = (text: string) => text.split('|');

/** Pieces from which texts are made that are nearly envelopes. */
const PIECES = [
  ...parts('<?xml version="1.0"?>|<?xml version="1.1" encoding="utf-16"?>|</s:Envelope>|<s:Header>|</s:Header>'),
  ...[SOAP_11_NAMESPACE, SOAP_12_NAMESPACE].map((namespace) => `<s:Envelope xmlns:s="${namespace}">`),
  ...parts(`<s:Body>|</s:Body>|<s:Body/>|<RecordEvent xmlns="${NAMESPACE}">|</RecordEvent>`),
  ...parts(`<w:Security xmlns:w="${WSSE}"><w:UsernameToken>|<w:Password>x</w:Password></w:UsernameToken></w:Security>`),
  ...parts('<a b="c" s:mustUnderstand="1">|</a>|<__proto__ constructor="1"/>|<!DOCTYPE a [<!ENTITY b "c">]>|&b;|&#0;'),
  ...parts(`&lt;|<![CDATA[|]]>|<!--|-->|<?pi|?>|xmlns:s=""|"|'|<|>|\0|\uFFFE|\uD800|\r\n`),
];
const TYPES = [
  ...parts('text/xml|application/soap+xml; action="x"|application/json|text/xml; charset=utf-16|a/b; charset=x'),
  ...parts('application/x-www-form-urlencoded|application/cloudevents+json'),
];
const FIELDS = parts('SOAPAction|Content-Encoding|ce-id|ce-specversion|Accept-Encoding|X-Request-Id');
const BYTES = [
  ...parts('GET |POST |HEAD |/webhooks/Services/WebHooks.asmx|/RecordEvent| HTTP/1.1\r\n| HTTP/1.0\r\n'),
  ...parts('Host: localhost\r\n|Content-Length: 5\r\n|Content-Length: -5\r\n|Transfer-Encoding: chunked\r\n'),
  ...parts('Connection: close\r\n|Expect: 100-continue\r\n|Upgrade: h2c\r\n|5\r\n12345\r\n0\r\n\r\n|0\r\n'),
  ...parts('\r\n|\n|\r|:| |%00|..|\0'),
];

/** Texts that are mostly made of these pieces. */
const madeOf = (pieces: readonly string[], maxLength: number) => {
  const arbitrary = fc.constantFrom(...pieces);
  return fc
    .array(fc.oneof({ weight: 5, arbitrary }, fc.string({ unit: anyCharacter, maxLength: 8 })), { maxLength })
    .map((texts) => texts.join(''));
};

/**
 * Sends what is nearly right, in ever new ways: no input may stop the service, hold it up or bring out a stack trace. What a SOAP message may
 * be, `scripts/fuzz` tries.
 *
 * @param requests - how many requests are made, and as many streams of bytes.
 */
export function describeFuzz(requests: number): void {
  describe('fuzzing over HTTP', () => {
    const service = useService({ MAX_REQUEST_BYTES: '4096', REQUEST_TIMEOUT: '1s' });

    const answersStill = async () => (await send(`${service.url}/HelloWorld`)).status === 200;

    it(`answers ${String(requests)} odd requests at once, without a stack trace`, async () => {
      const question = fc.record({
        path: fc.constantFrom('', '/RecordEvent', '/GetEvents', '/HelloWorld', '?op=', '?WSDL', '/x', '/metrics'),
        query: fc.string({ unit: 'grapheme-ascii', maxLength: 12 }).map(encodeURIComponent),
        method: fc.constantFrom('GET', 'POST', 'PUT', 'HEAD', 'OPTIONS'),
        type: fc.oneof(fc.constantFrom(...TYPES), fc.string({ unit: 'grapheme-ascii', maxLength: 20 })),
        field: fc.constantFrom(...FIELDS),
        value: fc.oneof(
          fc.constantFrom('gzip', '1.0', '"http://tempuri.org/RecordEvent"'),
          fc.string({ unit: 'grapheme-ascii' }),
        ),
        body: fc
          .oneof(madeOf(PIECES, 24), fc.json(), fc.string({ unit: anyCharacter }))
          .map((text) => Buffer.from(text)),
      });
      const ask = fc.asyncProperty(question, async ({ path, query, method, type, field, value, body }) => {
        const started = performance.now();
        const bytes = method === 'GET' || method === 'HEAD' ? {} : { body };
        const headers = { 'Content-Type': type.trim() || 'x/y', [field]: value.trim() };
        const answer = await send(service.url + path + query, { method, headers, ...bytes });
        expect(answer.status).toBeGreaterThanOrEqual(200);
        expect(answer.body).not.toMatch(STACK);
        expect(performance.now() - started).toBeLessThan(MAX_TIME);
      });
      await fc.assert(ask, { numRuns: requests });
      expect(await answersStill()).toBe(true);
    }, 120_000);

    it(`answers or closes ${String(requests)} odd streams of bytes, without a stack trace`, async () => {
      const stream = madeOf(BYTES, 16).map((text) => Buffer.from(text, 'latin1'));
      const speak = fc.asyncProperty(stream, async (bytes) => {
        const wire = await openWire(service.url);
        // The end of the stream is the end of the connection: nothing waits for a time-out.
        wire.socket.end(bytes);
        const started = performance.now();
        const answer = await wire.untilClosed();
        expect(performance.now() - started).toBeLessThan(MAX_TIME);
        expect(answer).toMatch(/^$|^HTTP\/1\.1 \d{3} /);
        expect(answer).not.toMatch(STACK);
      });
      await fc.assert(speak, { numRuns: requests });
      expect(await answersStill()).toBe(true);
    }, 120_000);
  });
}
