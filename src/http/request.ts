import { randomBytes } from 'node:crypto';
import { IncomingMessage, type IncomingHttpHeaders } from 'node:http';
import type { MessageMemory } from './content/message-memory';
import { HTTP_ERRORS, type RequestError } from './errors';

/** A request as the servers make it. */
export class HttpRequest extends IncomingMessage {
  /** The id in logs and in the reply; see {@link RequestIds}. */
  id = '';
  /** Where the memory of its answer counts, if it came through a server. */
  answers: MessageMemory | undefined;
  #failure: RequestError | undefined;

  /** What stopped the body, if anything has. */
  get failure(): RequestError | undefined {
    return this.#failure ?? (this.destroyed ? HTTP_ERRORS.cutShort() : undefined);
  }

  /** Ends a body of which the rest cannot be read: its reader, present or later, gets this error. */
  fail(error: RequestError): void {
    this.#failure = error;
    if (this.listenerCount('error') > 0) this.emit('error', error);
  }
}

/** Whether a request has a body that is not empty. */
export function hasBody({ headers }: { readonly headers: IncomingHttpHeaders }): boolean {
  const length = headers['content-length'];
  return length === undefined ? headers['transfer-encoding'] !== undefined : Number(length) !== 0;
}

/** An id from outside is kept when it can do no harm in a log line, a header field or a query. */
const HARMLESS = /^[\w.:+/=@-]{1,128}$/;

/** Gives each request of a server an id. */
export class RequestIds {
  readonly #prefix = randomBytes(6).toString('hex');
  #requests = 0;

  /** Gives a request the id in its `X-Request-Id`, or a new one that is unique among all servers. */
  identify(request: HttpRequest): void {
    const given = request.headers['x-request-id'];
    request.id =
      typeof given === 'string' && HARMLESS.test(given) ? given : `${this.#prefix}-${(++this.#requests).toString(36)}`;
  }
}

/** The id of a request in logs and in its reply. Empty for a request that no server has received. */
export function requestId(request: IncomingMessage): string {
  return (request as Partial<HttpRequest>).id ?? '';
}
