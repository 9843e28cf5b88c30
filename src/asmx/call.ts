import type { IncomingMessage } from 'node:http';
import type { Callers } from '../http/caller';
import type { Binding, Call, Content, Fields } from '../service/call';

/** Where the endpoint is, as callers see it. */
export interface EndpointAddress {
  /** Path of the endpoint, with a leading slash. */
  readonly path: string;
  readonly callers: Callers;
}

/** A call that came as an HTTP request, whichever binding it came over; each adds what the caller said. */
export abstract class RequestCall implements Call {
  readonly #request: IncomingMessage;
  readonly #address: EndpointAddress;
  readonly binding: Binding;

  constructor(request: IncomingMessage, binding: Binding, address: EndpointAddress) {
    this.#request = request;
    this.#address = address;
    this.binding = binding;
  }

  get method(): string {
    return this.#request.method ?? '';
  }

  get target(): string {
    return this.#request.url ?? '';
  }

  get headers(): IncomingMessage['headers'] {
    return this.#request.headers;
  }

  remoteAddress(): string | undefined {
    return this.#address.callers.address(this.#request);
  }

  endpointUrl(): string {
    return this.#address.callers.baseUrl(this.#request) + this.#address.path;
  }

  abstract content(): Content;
  abstract parameters(): Fields;
}
