import type { OutgoingHttpHeaders } from 'node:http';

/** Why a request was refused, in one word for metrics and logs. */
export type Refusal = 'invalid' | 'too-large' | 'key' | 'signature' | 'cross-site' | 'busy' | 'rate' | 'timeout';

/** A request that is refused because of what it is, or because too many come. The message tells its sender why. */
export class RequestError extends Error {
  override readonly name: string = 'RequestError';

  constructor(
    /** HTTP status of the answer. */
    readonly status: number,
    message: string,
    readonly refusal: Refusal = 'invalid',
    /** Header fields that the status calls for, such as `WWW-Authenticate` with 401. */
    readonly headers?: OutgoingHttpHeaders,
  ) {
    super(message);
  }
}
