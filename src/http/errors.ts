import { maxHeaderSize, type OutgoingHttpHeaders } from 'node:http';
import { EventLogError } from '../log/engine';
import { shortened } from '../util/text';

/** Why a request was refused, in one word for metrics, logs and pages. */
export const REFUSALS = ['invalid', 'too-large', 'key', 'signature', 'cross-site', 'busy', 'rate', 'timeout'] as const;
type Category = (typeof REFUSALS)[number];

/** A request that is refused for what it is, or because too many arrive. The message tells its sender why. */
export class RequestError extends Error {
  override readonly name: string = 'RequestError';

  constructor(
    readonly status: number,
    message: string,
    readonly category: Category = 'invalid',
    /** Header fields that the status calls for, such as `WWW-Authenticate` with 401. */
    readonly headers?: OutgoingHttpHeaders,
  ) {
    super(message);
  }
}

/** Basic comes first: browsers then ask for a password, so that a person can use the service page. */
const CHALLENGE = { 'WWW-Authenticate': ['Basic realm="WebHook", charset="UTF-8"', 'Bearer realm="WebHook"'] };

const HOW_TO_SEND_A_KEY = 'Send it as Authorization: Bearer, as the password of Authorization: Basic, ';

const RETRY = { 'Retry-After': '1' };

/** The content codings of requests that can be undone, as `Accept-Encoding` lists them. */
const ACCEPTED_CODINGS = 'gzip, deflate';

const HANDSHAKE_PROBLEMS: Readonly<Record<string, string>> = {
  ERR_SSL_HTTP_REQUEST: 'the caller speaks plain HTTP; its address must begin with https://',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the caller does not speak TLS',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'the caller speaks TLS 1.1 or older, and TLS 1.2 or 1.3 is needed',
  ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: 'the caller has no certificate, and one of TLS_CLIENT_CA is needed',
};

const seconds = (milliseconds: number) => `${String(milliseconds / 1000)} s`;

/** An error after which the connection cannot be used. */
const closing = (status: number, message: string) =>
  new RequestError(status, message, 'invalid', { Connection: 'close' });

const busy = (message: string) => new RequestError(503, message, 'busy', RETRY);
const tooLarge = (message: string) => new RequestError(413, message, 'too-large');
const tooLate = (message: string) => new RequestError(408, message, 'timeout');
const crossSite = (message: string) => new RequestError(403, message, 'cross-site');
const handshake = (problem: string, category: Category) =>
  new RequestError(400, `A TLS handshake failed: ${problem}.`, category);
const unauthorized = (message: string, category: Category = 'key') =>
  new RequestError(401, message, category, CHALLENGE);

/** Every error of HTTP: status, text, header fields. SOAP's faults are in `FAULTS`. What they quote of a caller is shortened. */
export const HTTP_ERRORS = {
  // Reading a request (RFC 9112). Most of these close the connection.
  unreadable: () => new RequestError(400, 'This is not a valid HTTP request.'),
  noVersion: () => closing(400, 'The request line has no version of HTTP.'),
  unsupportedVersion: () => closing(505, 'Only HTTP/1.1 and HTTP/1.0 are supported.'),
  /** @param status - 501, or 400 if the end of the body cannot be known (RFC 9112, section 6.3) */
  transferCoding: (status: 400 | 501) => closing(status, 'The only transfer coding that is supported is chunked.'),
  expectation: () => closing(417, 'The only expectation that is supported is 100-continue.'),
  invalidTarget: () => closing(400, 'The target is not valid.'),
  fragment: () => closing(400, 'The target has a #, which no target may have: write it as %23.'),
  missingHost: () => closing(400, 'The request has no Host header, which HTTP/1.1 requires.'),
  repeatedHost: () => closing(400, 'The request has more than one Host header.'),
  invalidHost: () => new RequestError(400, 'The Host header is not a valid authority.'),
  tunnel: () => new RequestError(405, 'CONNECT is not supported.', 'invalid', { Allow: 'GET, HEAD, OPTIONS, POST' }),
  /** One text for fields and bytes: only Node 20 distinguishes them. */
  headerTooLarge: (maxFields: number) =>
    new RequestError(
      431,
      `The header has more than ${String(maxFields)} fields or ${String(maxHeaderSize)} bytes.`,
      'too-large',
    ),
  chunkExtensions: () => tooLarge('The body has chunk extensions of more than 16 KiB.'),
  /** Both in milliseconds. */
  requestTimeout: (header: number, request: number) =>
    tooLate(
      `The request did not arrive in time: its header within ${seconds(header)}, all of it within ${seconds(request)} (REQUEST_TIMEOUT).`,
    ),
  tls: () => closing(400, 'The caller speaks TLS: its address must begin with http://, or the service needs TLS_CERT.'),

  // TLS. Only the operator reads these, and a caller that speaks plain HTTP.
  handshake: (code: string) =>
    handshake(HANDSHAKE_PROBLEMS[code] ?? code, code.endsWith('_CERTIFICATE') ? 'key' : 'invalid'),
  clientCertificate: (code: string) =>
    handshake(`the caller's certificate is not one of TLS_CLIENT_CA (${code})`, 'key'),
  handshakeTimeout: (timeout: number) =>
    new RequestError(400, `A TLS handshake took more than ${seconds(timeout)}.`, 'timeout'),

  // Load
  notAccepted: (why: string) => busy(`A connection could not be accepted: ${why}`),
  answerNotRead: (timeout: number) => tooLate(`A caller did not read its answer within ${seconds(timeout)}.`),
  tooSlow: () => tooLate('A caller that follows the events is too far behind.'),
  connections: (max: number) => busy(`Too many connections: more than ${String(max)} (MAX_CONNECTIONS).`),
  pipelined: () => busy('Too many requests wait for the answers before theirs.'),
  callsInFlight: (max: number) => busy(`Too many calls are in flight: more than ${String(max)} (MAX_IN_FLIGHT).`),
  pagesInFlight: (max: number) =>
    busy(`Too many pages of events are being made: more than ${String(max)}, a quarter of MAX_IN_FLIGHT.`),
  downloads: (max: number) => busy(`Too many downloads of events at once: more than ${String(max)}.`),
  callsWaiting: (max: number) =>
    busy(`Too many calls wait for events: more than ${String(max)}, nine tenths of MAX_CONNECTIONS.`),
  unproved: (what: string) =>
    busy(`Too many ${what} of callers without a valid key: they share a quarter of its capacity.`),
  bodyMemory: (maxBytes: number) =>
    busy(
      `Too many large requests at once: their bodies have more than ${String(maxBytes)} bytes together (MAX_BODY_MEMORY).`,
    ),
  answerMemory: (maxBytes: number) =>
    busy(
      `Too many large answers at once: unsent ones have more than ${String(maxBytes)} bytes together ` +
        '(MAX_BODY_MEMORY).',
    ),
  /** `period` and `left`, which remains of it, are in milliseconds. */
  rate: (calls: number, period: number, left: number) =>
    new RequestError(
      429,
      `Too many requests from this address: more than ${String(calls)} in ${seconds(period)} (RATE_LIMIT).`,
      'rate',
      { 'Retry-After': String(Math.ceil(left / 1000)) },
    ),

  // Bodies
  cutShort: () => new RequestError(400, 'The request body cannot be read: the connection was closed before its end.'),
  undecodable: (coding: string) => new RequestError(400, `The request body cannot be read: it is not valid ${coding}.`),
  bodyTooLarge: (maxBytes: number) =>
    tooLarge(`Maximum request length exceeded: the body has more than ${String(maxBytes)} bytes (MAX_REQUEST_BYTES).`),
  eventTooLarge: tooLarge,
  bodyOfGet: () =>
    new RequestError(400, 'Over GET only the query is recorded, but this request also has a body. Send it with POST.'),
  contentCoding: (coding: string) =>
    new RequestError(
      415,
      `The content coding ${coding.slice(0, 40)} is not supported. Send ${ACCEPTED_CODINGS}, or none.`,
      'invalid',
      { 'Accept-Encoding': ACCEPTED_CODINGS },
    ),
  /** RFC 9110, section 15.5.16; `Accept-Post` is from W3C Linked Data Platform 1.0, section 7.1. */
  eventFormat: (essence: string, structured: string, batched: string) =>
    new RequestError(
      415,
      `CloudEvents as ${shortened(essence)} are not supported. Send them as ${structured} or ${batched}.`,
      'invalid',
      { 'Accept-Post': `${structured}, ${batched}` },
    ),
  mediaTypeTooLong: (maxLength: number) =>
    new RequestError(400, `The Content-Type has more than ${String(maxLength)} characters.`),
  tooManyFields: () => new RequestError(400, 'The query string or the form has too many fields.'),
  tooManyJsonParts: () => new RequestError(400, 'The JSON has more than 100,000 objects, arrays and members.'),
  notAnObject: () => new RequestError(400, 'The body must be a JSON object of the parameters, each given once.'),
  /** Something in a request that was read cannot be used; `problem` is a sentence. */
  invalidInput: (problem: string) => new RequestError(400, problem),
  formWithFiles: () =>
    new RequestError(415, 'Send parameters as application/x-www-form-urlencoded or as JSON, not as a form with files.'),
  /** draft-ietf-httpapi-idempotency-key-header. */
  keyReuse: (problem: string) => new RequestError(422, problem),

  /** A trusted proxy states something that cannot be used. */
  forwarded: (problem: string) => new RequestError(400, `The forwarded ${problem}.`),

  // Access
  key: (problem: string) =>
    unauthorized(`${problem} ${HOW_TO_SEND_A_KEY}as X-API-Key, or over SOAP as a WS-Security UsernameToken.`),
  keyInHeader: (maxBytes: number) =>
    unauthorized(
      `A message of more than ${String(maxBytes)} bytes needs a valid key in its header fields, or a valid signature. ` +
        `${HOW_TO_SEND_A_KEY}or as X-API-Key.`,
    ),
  signature: (problem: string) => unauthorized(problem, 'signature'),
  /** @param sign - the header field that shows it, perhaps with advice. */
  otherSite: (sign: string) =>
    crossSite(
      `A page of another site may not call operations with what a browser adds by itself (${sign}). ` +
        'Send a key as X-API-Key or Authorization: Bearer.',
    ),
  otherSiteLink: () =>
    crossSite(
      'A link on another site led here, and events are not shown that way. To open this page, click into the address bar and press Enter.',
    ),
  unknownHost: (name: string) =>
    crossSite(
      `Without a key, this service answers only under this machine's own names and addresses, not ${shortened(name)}. ` +
        'If that name is yours, add it to ALLOWED_HOSTS.',
    ),
  eventsClosed: (why: string) =>
    new RequestError(
      403,
      `${why} Without READ_KEYS, events are shown to this machine alone: set READ_KEYS, and open this page with one of its keys.`,
      'key',
    ),

  // Addresses and methods
  nothingHere: () => new RequestError(404, 'There is nothing at this address.'),
  method: (text: string, allow: string) => new RequestError(405, text, 'invalid', { Allow: allow }),
  noSuchEvent: () => new RequestError(404, 'There is no such event in the log: it was forgotten or never recorded.'),
  noSuchOperation: (name: string) => new RequestError(404, `The service has no operation ${shortened(name)}.`),
  /** Status and text of this and the next are the original's. */
  unknownOperation: (name: string) => new RequestError(500, `${shortened(name)} Web Service method name is not valid.`),
  operationInAnotherCase: (name: string, rightName: string) =>
    new RequestError(
      500,
      `Invalid method name '${name}',  method names are case sensitive.   ` +
        `The method name '${rightName}' with the same name but different casing was found.\nParameter name: methodName`,
    ),
  /** @param isForMethod - whether another method would be served. Both texts are the original's, apart from `off`. */
  unrecognizedFormat: (isForMethod: boolean, ending: string, off: string, allow: string): RequestError => {
    const message = `Request format is unrecognized${ending}. ${off}`;
    return isForMethod ? HTTP_ERRORS.method(message, allow) : new RequestError(500, message);
  },

  /** A failure of the service. Callers get the reason, as from ASP.NET. A log that cannot be used may work again soon. */
  failed: (error: unknown, message = messageChain(error)) => {
    const [status, headers] = error instanceof EventLogError ? [503, RETRY] : [500];
    // The category is not used: the observer gets the error itself.
    return new RequestError(status, message, 'invalid', headers);
  },
} as const;

/** Joins the messages of an error and its causes, outermost first, as ASP.NET chains them. */
function messageChain(error: unknown): string {
  const messages: string[] = [];
  for (let link = error; link instanceof Error; link = link.cause) messages.push(link.message);
  return messages.join(' ---> ') || 'Unknown error.';
}
