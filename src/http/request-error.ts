import type { OutgoingHttpHeaders } from 'node:http';

/** What a refused request ran into, in a word for metrics and logs. */
export type Refusal = 'invalid' | 'too-large' | 'key' | 'signature' | 'cross-site' | 'busy' | 'rate' | 'timeout';

/** A request that is refused, for what it says or because too many come; the message names what is wrong. */
export class RequestError extends Error {
  override readonly name = 'RequestError';

  constructor(
    /** HTTP status that tells it. */
    readonly status: number,
    message: string,
    readonly refusal: Refusal = 'invalid',
    /** Header fields that belong to the status, as `WWW-Authenticate` to 401. */
    readonly headers?: OutgoingHttpHeaders,
  ) {
    super(message);
  }
}
