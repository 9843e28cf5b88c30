import type { ServerResponse } from 'node:http';
import type { Callers } from '../http/callers';
import type { HttpRequest } from '../http/request';
import type { MediaType, MediaTypes } from '../http/content/media-type';
import type { RequestError } from '../http/errors';
import type { Binding, Call, Content } from '../service/call';
import type { Place } from './place';

/** What every binding knows of the endpoint. */
export interface EndpointOptions {
  /** Path of the endpoint, with a leading slash. */
  readonly path: string;
  readonly callers: Callers;
  readonly mediaTypes: MediaTypes;
  /**
   * Hears what an operator may want to change, seen in a call; it is told every time.
   *
   * @param key - names the kind of hint; one of a few.
   */
  readonly hint?: ((key: string, message: string) => void) | undefined;
}

/**
 * One request for an operation on its way through the pipeline, and the call that it makes. A binding supplies the steps
 * that differ; the order in which they are taken is drawn at {@link Pipeline}.
 */
export abstract class Exchange implements Call {
  /** The binding; of a SOAP message its version is certain only once it has been read. */
  abstract readonly binding: Binding;
  /** The operation that is called; undefined until the header or the message has named one of the service. */
  operation: string | undefined;
  /** The password of a WS-Security header; undefined where there is no such header, or it gave none. */
  password: string | undefined;
  /** Why a WS-Security header gave no password. */
  passwordProblem: string | undefined;
  /** What the call holds while it is in progress; undefined: it is not on its way through the pipeline. */
  place: Place | undefined;

  readonly request: HttpRequest;
  readonly response: ServerResponse;
  /** What the request's `Content-Type` says; undefined: it has none, or none that can be read. */
  readonly mediaType: MediaType | undefined;
  readonly #endpoint: EndpointOptions;

  constructor(request: HttpRequest, response: ServerResponse, endpoint: EndpointOptions) {
    this.request = request;
    this.response = response;
    this.mediaType = endpoint.mediaTypes.parse(request.headers['content-type']);
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

  abstract content(): Content;

  /** Lets go of the message: nobody asks for it any more. */
  protected abstract forgetMessage(): void;

  async whileIdle<T>(wait: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.place === undefined) throw new Error('The call is not in progress.');
    this.forgetMessage();
    return this.place.whileIdle(wait);
  }

  /** Tells the operator what to change. */
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
