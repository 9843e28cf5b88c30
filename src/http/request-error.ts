/** A request that cannot be served because of what it says; the message names what is wrong. The sender's mistake. */
export class RequestError extends Error {
  override readonly name = 'RequestError';

  constructor(
    /** HTTP status that tells it. */
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}
