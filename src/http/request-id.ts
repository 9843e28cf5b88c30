import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** An id from outside is taken when it can do no harm in a log line, a header field or a query. */
const SANE = /^[\w.:+/=@-]{1,128}$/;

const ID = Symbol('request id');

type Identified = IncomingMessage & { [ID]?: string };

const ofThisProcess = randomBytes(6).toString('hex');
let requests = 0;

/** The id of a request in logs and in its reply: that of `X-Request-Id`, or else one of its own, always the same. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  if (typeof given === 'string' && SANE.test(given)) return given;
  return ((request as Identified)[ID] ??= `${ofThisProcess}-${(++requests).toString(36)}`);
}
