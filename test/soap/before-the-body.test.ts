import { useService } from '../support/service';
import { openWire, PATH, request } from '../support/wire';

const RECORD_KEY = 'record-key-0123456789';
const READ_KEY = 'read-key-0123456789abc';
const NAMESPACE = 'http://tempuri.org/';
const LARGE = 1_000_000;

const soap11 = (operation: string) => ['Content-Type: text/xml', `SOAPAction: "${NAMESPACE}${operation}"`];
const soap12 = (operation: string) => [`Content-Type: application/soap+xml; action="${NAMESPACE}${operation}"`];
const WRONG = 'Authorization: Bearer not-the-key-0123456';

const service = useService({ RECORD_KEYS: RECORD_KEY, READ_KEYS: READ_KEY });

/** Sends a header, and no byte of its body; resolves to the header of the answer. */
async function answerTo(...fields: readonly string[]): Promise<string> {
  const wire = await openWire(service.url);
  wire.write(request(`POST ${PATH}`, 'Expect: 100-continue', ...fields));
  const answer = await wire.until(/\r\n\r\n/);
  wire.socket.destroy();
  return answer;
}

const length = (bytes: number) => `Content-Length: ${String(bytes)}`;

describe('before it reads the body of a SOAP message', () => {
  it.each([
    ['a read key, if the message is large', [...soap11('RecordEvent'), `X-API-Key: ${READ_KEY}`, length(LARGE)]],
    ['a record key, if the message is large', [...soap12('GetEvents'), `X-API-Key: ${RECORD_KEY}`, length(LARGE)]],
    ['no key, if the message is large', [...soap11('RecordEvent'), length(LARGE)]],
    [
      'a wrong key, if the message is large and its header names no operation',
      ['Content-Type: text/xml', WRONG, length(LARGE)],
    ],
    ['a signature for what only a key opens', [...soap11('GetEvents'), 'webhook-signature: v1,x', length(LARGE)]],
  ])('the service refuses %s', async (_what, fields) => {
    expect(await answerTo(...fields)).toMatch(/^HTTP\/1\.1 401 [^]*\r\nWWW-Authenticate: Basic/i);
  });

  it.each([
    ['a valid key', [...soap11('RecordEvent'), `X-API-Key: ${RECORD_KEY}`, length(LARGE)]],
    ['a valid key, and no action', ['Content-Type: application/soap+xml', `X-API-Key: ${RECORD_KEY}`, length(LARGE)]],
    [
      'a key for another operation, and no action',
      ['Content-Type: application/soap+xml', `X-API-Key: ${READ_KEY}`, length(10)],
    ],
    ['no key, which may be in the message', [...soap11('RecordEvent'), length(60_000)]],
    ['a wrong key, since a right one may be in the message', [...soap11('RecordEvent'), WRONG, length(60_000)]],
    ['a wrong key for an operation that needs none', [...soap11('HelloWorld'), WRONG, length(10)]],
  ])('the service asks for the body after %s', async (_what, fields) => {
    expect(await answerTo(...fields)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  });
});
