import type { ServerResponse } from 'node:http';
import type { Callers } from '../http/callers';
import type { HttpRequest } from '../http/request';
import type { MediaType } from '../http/content/content-type';
import type { RequestError } from '../http/errors';
import { SMALL_BODY } from '../http/content/body';
import { KEPT_BYTES, type ReadBody } from '../telemetry/refused-calls';
import type { Binding, Call, Content } from '../service/call';
import type { Admission, Ticket } from './admission';

/** What the calls of one endpoint share, over whichever binding they come. */
export interface EndpointOptions {
  /** Path of the endpoint, with a leading slash. */
  readonly path: string;
  readonly callers: Callers;
  /** Reads a `Content-Type`, and remembers those that come again and again. */
  readonly mediaType: (value: string) => MediaType | undefined;
  readonly admission: Admission;
  /**
   * Called for each call that suggests a setting. Not deduplicated.
   *
   * @param key - names the kind of hint; one of a few.
   */
  readonly hint?: ((key: string, message: string) => void) | undefined;
}

/**
 * One call, from the header of its request to its reply. The {@link Pipeline} takes it through its steps, a binding's subclass
 * supplies the steps that differ, and the operation sees of it what {@link Call} shows.
 */
export abstract class IncomingCall implements Call {
  /** The binding; the version of a SOAP message is certain only once it has been read. */
  abstract readonly binding: Binding;
  /** The operation, once the header fields or the message have named one of the service. */
  operation: string | undefined;
  /** The password in a WS-Security header. */
  password: string | undefined;
  /** Why a WS-Security header yields no password. */
  passwordProblem: string | undefined;
  signedBy: string | undefined;

  readonly request: HttpRequest;
  readonly response: ServerResponse;
  /** What the call holds while it is in progress. */
  readonly ticket: Ticket;
  /** The `Content-Type` of the request, if it has one that can be read. */
  readonly mediaType: MediaType | undefined;
  readonly #endpoint: EndpointOptions;
  #hasMessage = true;
  #start: Buffer | undefined;
  #bytes = 0;

  constructor(request: HttpRequest, response: ServerResponse, endpoint: EndpointOptions) {
    this.request = request;
    this.response = response;
    this.ticket = endpoint.admission.ticket(response);
    const type = request.headers['content-type'];
    this.mediaType = type === undefined ? undefined : endpoint.mediaType(type);
    this.#endpoint = endpoint;
  }

  /** Whether the request's body belongs to the call. */
  abstract readonly hasBody: boolean;

  /** Whether the message, and not the header fields alone, may say who calls. */
  abstract readonly provesInMessage: boolean;

  /**
   * Checks what the header fields say, and finds the operation where they name it.
   *
   * @throws {RequestError} they are wrong.
   */
  abstract route(): void;

  /**
   * Reads the body, and finds the operation where the header fields did not name it.
   *
   * @throws {RequestError} it is wrong.
   */
  abstract read(body: Buffer): void | Promise<void>;

  /** Whether the call, once it has been read, needs much more memory than its body. */
  get isLarge(): boolean {
    return false;
  }

  /**
   * Runs the operation and resolves to the body of the reply.
   *
   * @throws whatever the operation throws.
   */
  abstract invoke(): Promise<string>;

  /** Sends the reply. */
  abstract reply(body: string): void | Promise<void>;

  /** Tells the caller why the call is refused or, without a `refusal`, that the service failed. */
  abstract refuse(error: unknown, refusal: RequestError | undefined): void;

  /** Finds in the message what {@link Call.content} promises. */
  protected abstract readContent(): Content;

  /** Lets go of the message, which is not asked for again. */
  protected abstract forgetMessage(): void;

  content(): Content {
    if (!this.#hasMessage) throw new Error('What the caller sent is gone: call content() before whileIdle().');
    return this.readContent();
  }

  /** Keeps the beginning of the body, for the report of a call that is refused. A small body is kept as it is, without a copy. */
  keepStart(body: Buffer): void {
    this.#start = body.length <= SMALL_BODY ? body : Buffer.from(body.subarray(0, KEPT_BYTES));
    this.#bytes = body.length;
  }

  /** What has been read of the body; undefined where that is nothing, and after a wait. */
  get body(): ReadBody | undefined {
    return this.#start && this.#bytes > 0 ? { start: this.#start, bytes: this.#bytes } : undefined;
  }

  async whileIdle<T>(wait: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#hasMessage = false;
    this.#start = undefined;
    this.forgetMessage();
    return this.ticket.whileIdle(wait);
  }

  /** Suggests a setting to the operator. */
  protected hint(key: string, message: string): void {
    this.#endpoint.hint?.(key, message);
  }

  get method(): string {
    return this.request.method ?? '';
  }

  get target(): string {
    return this.request.url ?? '';
  }

  get headers(): HttpRequest['headers'] {
    return this.request.headers;
  }

  remoteAddress(): string | undefined {
    return this.#endpoint.callers.address(this.request);
  }

  endpointUrl(): string {
    return this.#endpoint.callers.baseUrl(this.request) + this.#endpoint.path;
  }
}
