import type { OutgoingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import type { Router } from 'express';
import { decoded, type HttpRequest } from '../http/request';
import type { HttpResponse } from '../http/response';
import { HTTP_ERRORS, type RequestError } from '../http/errors';
import type { CallContent, ParameterValues } from '../service/call';
import { Sender } from '../senders/sender';
import { Binding } from '../config/values';
import type { Contract, ServedOperation } from '../contract/contract';
import { IncomingCall, type Endpoint } from '../call/incoming-call';
import { readContent } from './http-content';
import { readParameters } from './http-parameters';
import { errorIn, NOT_SNIFFED, resultIn, stringReply, type Representation } from './reply-format';

/** Returns what the calls of an endpoint over HTTP GET and POST share: how they write a result, and the methods that are on. */
function sharedBy({ namespace, protocols: { bindings } }: Contract) {
  const methods = [...(bindings.has('httpget') ? ['GET'] : []), ...(bindings.has('httppost') ? ['POST'] : [])];
  return {
    asString: stringReply(namespace),
    allow: ['OPTIONS', ...methods].sort().join(', '),
    methodText:
      methods.length === 0
        ? 'HTTP GET and HTTP POST are off (PROTOCOLS).'
        : `Call an operation with ${methods.join(' or ')}.`,
  };
}

type HttpShared = ReturnType<typeof sharedBy>;

/** Routes HTTP GET and POST on `{path}/<Operation>`, and answers OPTIONS. Other methods are calls too: most are refused, see `route`. */
export function routeOperations(router: Router, endpoint: Endpoint): void {
  const shared = sharedBy(endpoint.contract);
  const answer = (binding: 'httpget' | 'httppost') => (request: HttpRequest, response: HttpResponse) =>
    new HttpCall(request, response, binding, endpoint, shared).answer();
  router
    // Without a group, which Express would decode or refuse.
    .route(new RegExp(`^${endpoint.path.replace(/[^\w/]/g, '\\$&')}/.+$`, 'is'))
    // Comes before GET, or Express would route HEAD there: asking for the header alone must not call the operation.
    .head(answer('httpget'))
    .get(answer('httpget'))
    .options((request, response) => answerOptions(request, response, endpoint, shared))
    .all(answer('httppost'));
}

const RECORD_PATH_METHODS = ['DELETE', 'PATCH', 'POST', 'PUT'];
const RECORD_PATH = {
  allow: [...RECORD_PATH_METHODS, 'OPTIONS'].sort().join(', '),
  methodText: `Below RecordEvent/ events are recorded with ${RECORD_PATH_METHODS.join(', ')}.`,
};

/** Returns the operation that the path names, if there is one, and whether the path goes on below it (RECORD_PATHS). */
function operationPathIn({ path }: HttpRequest, { config, operations, path: endpoint }: Endpoint) {
  const named = path.slice(endpoint.length + 1);
  const slash = config.recordPaths ? named.indexOf('/') : -1;
  const outer = slash === -1 ? undefined : operations.get(named.slice(0, slash));
  if (outer?.access === 'record') return { name: outer.name, operation: outer, isRecordPath: true };
  const name = decoded(named);
  return { name, operation: operations.get(name), isRecordPath: false };
}

/** Names the methods, or grants or refuses (405) the delivery of events (CloudEvents HTTP 1.1 Web Hooks, section 4.1). */
function answerOptions(request: HttpRequest, response: HttpResponse, endpoint: Endpoint, shared: HttpShared): void {
  const { operation, isRecordPath } = operationPathIn(request, endpoint);
  const { allow } = isRecordPath ? RECORD_PATH : shared;
  const origin = request.headers['webhook-request-origin'];
  if (origin === undefined) return response.replyWithoutBody({ Allow: allow });
  const granted = operation?.access === 'record' ? grantedFields(String(origin), endpoint.config) : undefined;
  if (granted === undefined) {
    const message = 'Delivery of events is not granted to this WebHook-Request-Origin (WEBHOOK_ORIGINS).';
    throw HTTP_ERRORS.method(message, allow);
  }
  response.replyWithoutBody({ Allow: allow, ...granted });
}

const ORIGIN = /^[\x21-\x7e]{1,255}$/;
const MINUTE = 60_000;

/** Header fields that grant the delivery (section 4.2), if the origin may. No `WebHook-Request-Callback` is ever called. */
function grantedFields(
  origin: string,
  { webhookOrigins, limits: { rate } }: Endpoint['config'],
): OutgoingHttpHeaders | undefined {
  const isNamed = (name: string): boolean => name === '*' || name.toLowerCase() === origin.toLowerCase();
  if (origin === '*' || !ORIGIN.test(origin) || !webhookOrigins?.some(isNamed)) return undefined;
  const perMinute = rate && Math.max(1, Math.floor((rate.calls * MINUTE) / rate.milliseconds));
  return { 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': String(perMinute ?? '*') };
}

/** A `GET` or `POST` of `{path}/<Operation>`, answered with one `string` element or, if the caller prefers it, with JSON. */
class HttpCall extends IncomingCall {
  readonly #operationPath = operationPathIn(this.request, this.endpoint);
  #body: Buffer = EMPTY;
  #handshake: ReturnType<typeof Sender.handshakes.of>;
  /** The reply to the call, once `invoke` has made it: `reply` needs its status and type, too. */
  #result: Representation = EMPTY_200;

  constructor(
    request: HttpRequest,
    response: HttpResponse,
    override readonly binding: 'httpget' | 'httppost',
    endpoint: Endpoint,
    private readonly shared: HttpShared,
  ) {
    super(request, response, endpoint);
  }

  override route(): void {
    const { binding, method, headers, request } = this;
    const { contract, operations } = this.endpoint;
    const { protocols } = contract;
    const { name, operation, isRecordPath } = this.#operationPath;
    const { allow, methodText } = isRecordPath ? RECORD_PATH : this.shared;
    const served = isRecordPath ? RECORD_PATH_METHODS : [binding === 'httpget' ? 'GET' : 'POST'];
    if (!served.includes(method)) {
      // Some senders ask with another method than they deliver with.
      const asked = { method, headers, query: request.queryString };
      this.#handshake = Sender.handshakes.of(this.#answeredHandshakes(), asked);
      if (this.#handshake === undefined) throw HTTP_ERRORS.method(methodText, allow);
    }
    if (!protocols.bindings.has(binding))
      throw protocols.refusal(`${Binding.names[binding]} is off (PROTOCOLS)`, allow, name);
    if (operation === undefined) throw unknownOperation(name, operations);
    this.operation = operation;
  }

  /** Keeps the body, which is parsed when the operation asks for its content or its parameters. */
  override read(body: Buffer): void {
    if (this.binding === 'httppost') this.#body = body;
    else if (body.length > 0 && this.operation?.access === 'record') throw HTTP_ERRORS.bodyOfGet();
  }

  /** Method and path of a call with a record path: the same key under another path is another delivery. */
  get keyScope(): string | undefined {
    const { isRecordPath, name } = this.#operationPath;
    if (!isRecordPath) return undefined;
    const { path, receivedPath } = this.request;
    // The keys of earlier versions have the path below the operation, in its normal form.
    const place = path === receivedPath ? path.slice(`${this.endpoint.path}/${name}`.length) : receivedPath;
    return `${this.method} ${place}`;
  }

  #answeredHandshakes(): readonly string[] {
    const { senderHandshakes = [] } = this.endpoint.config;
    return this.#operationPath.operation?.access === 'record' ? senderHandshakes : [];
  }

  override async invoke(operation: ServedOperation): Promise<string> {
    const parameters = operation.parameters.length > 0 ? await this.#parameters(operation) : {};
    // The operation may call `content`, which sets `#handshake` if the payload is one.
    const result = await operation.run(this, parameters);
    const answer = this.#handshake?.answer ?? (operation.access === 'record' ? this.#ownAnswer() : undefined);
    this.#result = answer
      ? { headers: NOT_SNIFFED, ...answer }
      : resultIn(this.headers.accept, result, operation.resultType, this.shared.asString);
    return this.#result.body;
  }

  /** The answer of a call that records, if it is another than the id of the event. */
  #ownAnswer(): Representation | undefined {
    if (this.mediaType?.isForm && Sender.of(this.headers)?.wantsEmptyAnswerToForms) return EMPTY_200;
    const { recordAnswer } = this.endpoint.config;
    return recordAnswer === 'empty' && this.binding === 'httppost' ? NO_CONTENT_204 : undefined;
  }

  override reply(body: string): void | Promise<void> {
    const { status, contentType, headers } = this.#result;
    if (status === 204) return this.response.replyWithoutBody();
    return this.response.replyCompressed(contentType, body, headers);
  }

  override refuse(error: unknown, refusal: RequestError | undefined): void {
    const { status, message, headers } = refusal ?? HTTP_ERRORS.failed(error);
    // A caller's mistake has the status 500 only if the original answers so.
    const isOriginal = refusal?.status === 500;
    const answer = errorIn(this.headers.accept, status, message, isOriginal);
    this.response.reply(status, answer.contentType, answer.body, { ...answer.headers, ...headers });
  }

  override async content(): Promise<CallContent> {
    const { request, headers, method, keyScope, caller } = this;
    const content = await this.readWith(CONTENT_READER, {
      body: this.#body,
      query: request.queryString,
      headers,
      method,
      keyScope,
      signedBy: caller.signedBy?.sender.name,
      handshakes: this.#answeredHandshakes(),
    });
    this.#handshake ??= content.handshake;
    return content;
  }

  override forget(): void {
    super.forget();
    this.#body = EMPTY;
  }

  async #parameters({ asked, values }: ServedOperation): Promise<ParameterValues> {
    const texts = await this.readWith(PARAMETERS_READER, {
      body: this.#body,
      query: this.request.queryString,
      headers: this.headers,
      parameters: asked,
    });
    return values((name) => texts.get(name) ?? []);
  }
}

/** The readers of a request, also in another thread. */
const CONTENT_READER = { module: join(__dirname, 'http-content'), name: 'readContent', read: readContent };
const PARAMETERS_READER = { module: join(__dirname, 'http-parameters'), name: 'readParameters', read: readParameters };

const EMPTY_200: Representation = { contentType: 'text/plain; charset=utf-8', body: '', headers: NOT_SNIFFED };
const NO_CONTENT_204: Representation = { ...EMPTY_200, status: 204 };

const EMPTY = Buffer.alloc(0);

/** The text and the status 500 are the original's. */
function unknownOperation(name: string, operations: Endpoint['operations']): RequestError {
  const rightName = [...operations.keys()].find((other) => other.toLowerCase() === name.toLowerCase());
  return rightName === undefined
    ? HTTP_ERRORS.unknownOperation(name)
    : HTTP_ERRORS.operationInAnotherCase(name, rightName);
}
