import { CloudEventError } from '../events/cloudevents/attributes';
import type { Binding } from '../config/values';
import type { AccessControl } from '../access/access-control';
import { Caller } from '../access/caller';
import type { Config } from '../config/config';
import type { Contract, ServedOperation } from '../contract/contract';
import type { Proxies } from '../http/proxies';
import type { BodyReader } from '../http/content/body';
import type { MediaType } from '../http/content/media-type';
import { HTTP_ERRORS, RequestError } from '../http/errors';
import type { HttpRequest } from '../http/request';
import type { HttpResponse } from '../http/response';
import type { RateLimit } from '../http/rate-limit';
import { EventTooLargeError } from '../log/engine';
import type { EventLog } from '../log/event-log';
import { CallError, type Call, type CallContent } from '../service/call';
import { LARGE_MESSAGE, letOthersRun } from '../util/promises';
import type { Observer } from '../telemetry/observer';
import type { Refusals } from '../telemetry/refused-calls';
import type { Admission, Ticket } from './admission';
import type { Reader, ReaderThreads } from './reader-thread';

/** All that the calls and the pages of the endpoint share. `app.ts` makes it once. */
export interface Endpoint {
  readonly config: Pick<Config, 'limits' | 'webhookOrigins' | 'senderHandshakes' | 'recordPaths' | 'recordAnswer'>;
  /** With a leading slash. */
  readonly path: string;
  readonly contract: Contract;
  readonly operations: ReturnType<Contract['operationsOf']>;
  readonly log: EventLog;
  readonly proxies: Proxies;
  readonly rate: RateLimit;
  readonly access: AccessControl;
  readonly admission: Admission;
  readonly bodies: BodyReader;
  readonly readerThreads: ReaderThreads;
  /** Reads a `Content-Type`, and remembers those that come again and again. */
  mediaType(this: void, value: string): MediaType | undefined;
  readonly observer: Pick<Observer, 'ended' | 'hint'>;
  /** The refused and failed calls of all processes of the service. */
  refusals(this: void): Promise<Refusals>;
}

const EMPTY = Buffer.alloc(0);

/** Most characters of a `Content-Type`, whose reading takes quadratic time. */
const MAX_MEDIA_TYPE_LENGTH = 1000;

/** The refusal that an error of any step means; undefined if the service failed. */
function refusalOf(error: unknown): RequestError | undefined {
  if (error instanceof RequestError) return error;
  if (error instanceof CallError) return HTTP_ERRORS[error.kind](error.message);
  if (error instanceof CloudEventError) return HTTP_ERRORS.invalidInput(error.message);
  if (error instanceof EventTooLargeError) return HTTP_ERRORS.eventTooLarge(error.message);
  return undefined;
}

/**
 * One call, from the header of its request to its reply. Calls take these steps, but a caller who has proved nothing before `read` takes
 * its slot after the third `access`:
 *
 *     header ─► rate ─► route ─► access ─► body ─► access ─► slot ─► read ─► access ─► invoke ─► reply
 *                 │       │        │        │        │        │       │        │         │
 *                 └───────┴────────┴────────┴────────┴────┬───┴───────┴────────┴─────────┘
 *                                                         ▼
 *                                       refuse (any step throws)        ─► report, in either case
 *
 * Each `access` asks the `Caller`: `checkHeader` before the body is read, `verify` the signature of its bytes before they are used, and
 * `require` once the message has named the operation. Only the last lets a call through. A binding's subclass supplies route, read, invoke,
 * reply and refuse. Steps that are often done at once return `void` or a promise, since awaiting costs a turn of the microtasks.
 */
export abstract class IncomingCall implements Call {
  /** The binding; the version of a SOAP message is certain only once it has been read. */
  abstract readonly binding: Binding;
  /** The operation, once the header fields or the message have named one of the service. */
  operation: ServedOperation | undefined;
  readonly method: string;
  readonly headers: HttpRequest['headers'];
  /** The slot of the call, which is given back however it ends, and earlier while its operation waits. */
  readonly ticket: Ticket;
  readonly caller: Caller;
  readonly hint: Observer['hint'];
  /** The `Content-Type` of the request, if it has one that can be read. */
  mediaType: MediaType | undefined;

  constructor(
    readonly request: HttpRequest,
    readonly response: HttpResponse,
    protected readonly endpoint: Endpoint,
  ) {
    this.method = request.method ?? '';
    this.headers = request.headers;
    request.call = this;
    this.ticket = endpoint.admission.ticket(response);
    this.caller = new Caller(request, endpoint.access);
    this.hint = endpoint.observer.hint;
  }

  /** Takes the call through all steps. Rejects only if not even the refusal can be sent. */
  async answer(): Promise<void> {
    try {
      const operation = await this.#receive();
      const result = await this.invoke(operation);
      // Its access may have ended meanwhile.
      if (this.ticket.waited > 0) this.caller.require(operation.access);
      // Writing a large result and encoding it take long: others run in between.
      if (result.length > LARGE_MESSAGE) await letOthersRun();
      const sending = this.reply(result);
      if (sending !== undefined) await sending;
      this.endpoint.observer.ended(this);
    } catch (error) {
      const refusal = refusalOf(error);
      this.refuse(error, refusal);
      this.endpoint.observer.ended(this, refusal ?? error);
    } finally {
      this.ticket.giveBack();
    }
  }

  /** Takes the call up to its operation, and resolves to that. A call that waits keeps nothing of its body. */
  async #receive(): Promise<ServedOperation> {
    const { rate, bodies } = this.endpoint;
    const { request, response, ticket, caller } = this;
    rate.count(request);
    const type = this.headers['content-type'];
    if (type !== undefined && type.length > MAX_MEDIA_TYPE_LENGTH)
      throw HTTP_ERRORS.mediaTypeTooLong(MAX_MEDIA_TYPE_LENGTH);
    this.mediaType = type === undefined ? undefined : this.endpoint.mediaType(type);
    this.route();
    const needs = this.operation?.access;
    caller.checkHeader(needs, this.binding.startsWith('soap'));
    const body = request.hasBody ? await bodies.read(request, response, caller.unprovedLimit) : EMPTY;
    if (caller.signature !== undefined) await caller.verify(body, needs);
    // Without a proof so far, the message is small enough to be read at once, and may have a key in it.
    const mayHaveKeyInBody = caller.isUnproved;
    if (!mayHaveKeyInBody) ticket.takeSlot();
    const reading = this.read(body);
    if (reading !== undefined) {
      await reading;
      // Copying a large message from the thread and passing it on take long: others run in between.
      await letOthersRun();
    }
    const { operation } = this;
    if (operation === undefined) throw new Error('The call has been read, and names no operation.');
    caller.require(operation.access);
    if (mayHaveKeyInBody) ticket.takeSlot(caller.isUnproved);
    if (caller.unprovedLimit !== undefined && !caller.isUnproved) bodies.countAsProved(response);
    return operation;
  }

  /** Checks the header fields, and finds the operation if they name it. Throws a {@link RequestError} if they are wrong. */
  abstract route(): void;

  /** Reads the body, and finds the operation if the header fields do not name it. Throws a {@link RequestError} if it is wrong. */
  abstract read(body: Buffer): void | Promise<void>;

  /** Runs an operation of the service and resolves to the body of the reply. Throws what the operation throws. */
  abstract invoke(operation: ServedOperation): Promise<string>;

  abstract reply(body: string): void | Promise<void>;

  /** Tells the caller why the call is refused or, without a `refusal`, that the service failed. */
  abstract refuse(error: unknown, refusal: RequestError | undefined): void;

  abstract content(): CallContent | Promise<CallContent>;

  /** A subclass also lets go of the message. */
  forget(): void {
    this.caller.forgetBody();
  }

  /** Reads the message, in another thread if it is large. */
  protected readWith<Message extends { readonly body: Buffer }, Result>(
    reader: Reader<Message, Result>,
    message: Message,
  ): Result | Promise<Result> {
    if (message.body.length > LARGE_MESSAGE) return this.endpoint.readerThreads.read(reader, message);
    return reader.read(message, this.mediaType);
  }

  async whileIdle<T>(wait: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.forget();
    this.endpoint.bodies.release(this.response);
    return this.ticket.whileIdle(wait);
  }

  reserve(bytes: number): void {
    this.response.reserve(bytes);
  }

  get target(): string {
    const { receivedPath, path, url = '' } = this.request;
    return receivedPath === path ? url : receivedPath + url.slice(path.length);
  }

  remoteAddress(): string | undefined {
    return this.endpoint.proxies.address(this.request);
  }

  endpointUrl(): string {
    return this.endpoint.proxies.baseUrl(this.request) + this.endpoint.path;
  }
}
