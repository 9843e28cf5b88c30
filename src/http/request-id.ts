import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** An id from outside is kept when it can do no harm in a log line, a header field or a query. */
const HARMLESS = /^[\w.:+/=@-]{1,128}$/;

const ID = Symbol('request id');

type IdentifiedRequest = IncomingMessage & { [ID]?: string };

/** Gives each request of a server an id. */
export class RequestIds {
  readonly #prefix = randomBytes(6).toString('hex');
  #requests = 0;

  /** Gives a request the id in its `X-Request-Id`, or a new one that is unique among all servers. */
  identify(request: IncomingMessage): void {
    const given = request.headers['x-request-id'];
    (request as IdentifiedRequest)[ID] =
      typeof given === 'string' && HARMLESS.test(given) ? given : `${this.#prefix}-${(++this.#requests).toString(36)}`;
  }
}

/** The id of a request in logs and in its reply. Empty for a request that no server has received. */
export function requestId(request: IncomingMessage): string {
  return (request as IdentifiedRequest)[ID] ?? '';
}
