import { randomBytes } from 'node:crypto';
import { IncomingMessage, type IncomingHttpHeaders } from 'node:http';
import { GatheredBytes } from './content/gathered-bytes';
import { HTTP_ERRORS, type RequestError } from './errors';

/**
 * A request as the servers make it. Its body goes the usual way, through the queue and the events of a stream, only where
 * that is of use: a small body is taken as it comes from Node's parser, and of a request without one nobody is told that it
 * has ended. Both save a tenth of a call.
 */
export class HttpRequest extends IncomingMessage {
  /** The body that is taken; undefined: the body is a stream, or there is none. */
  #taken: TakenBody | undefined;
  #failure: RequestError | undefined;

  /** What stopped the body; undefined: nothing has so far. */
  get failure(): RequestError | undefined {
    return this.#failure ?? (this.destroyed ? HTTP_ERRORS.cutShort() : undefined);
  }

  /**
   * Resolves to the body as soon as its last byte is there, mostly with the one chunk that came. Then it is no stream. Call it
   * once, for a body that is not empty.
   *
   * @param length - how many bytes it has; all of them are held meanwhile.
   * @throws {RequestError} what {@link HttpRequest.fail} says, or 400: the connection was closed before the last byte.
   */
  takeBody(length: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      // What came before stands in the queue of the stream.
      const early = this.readableLength > 0 ? (this.read() as Buffer) : undefined;
      this.#taken = new TakenBody(length, resolve, reject);
      if (early !== undefined) this.#taken.add(early);
    });
  }

  /** Ends a body of which the rest cannot be read: whoever reads it, now or later, gets this error. */
  fail(error: RequestError): void {
    this.#failure = error;
    this.#taken?.fail(error);
    if (this.listenerCount('error') > 0) this.emit('error', error);
  }

  get #isStream(): boolean {
    return this.#taken === undefined && hasBody(this);
  }

  /** Is given the body by Node's parser, chunk by chunk, then null. */
  override push(chunk: Buffer | null): boolean {
    if (this.#isStream) return super.push(chunk);
    if (chunk !== null) this.#taken?.add(chunk);
    return true;
  }

  override resume(): this {
    return this.#isStream ? super.resume() : this;
  }

  // @ts-expect-error -- it is an accessor in Node too, which Node's types do not say.
  override get readableEnded(): boolean {
    if (!this.#isStream) return this.complete;
    return Reflect.get(IncomingMessage.prototype, 'readableEnded', this) === true;
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#taken?.fail(HTTP_ERRORS.cutShort());
    super._destroy(error, callback);
  }
}

/** A body on its way. Once it is read it holds nothing, since a call that waits is to hold no more than it needs. */
class TakenBody {
  readonly #length: number;
  #resolve: ((body: Buffer) => void) | undefined;
  #reject: ((error: RequestError) => void) | undefined;
  #pieces: GatheredBytes | undefined;

  constructor(length: number, resolve: (body: Buffer) => void, reject: (error: RequestError) => void) {
    this.#length = length;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  add(chunk: Buffer): void {
    if (chunk.length === this.#length) this.#resolve?.(chunk);
    else {
      const pieces = (this.#pieces ??= new GatheredBytes());
      pieces.add(chunk);
      if (pieces.length < this.#length) return;
      this.#resolve?.(pieces.take());
    }
    this.#forget();
  }

  fail(error: RequestError): void {
    this.#reject?.(error);
    this.#forget();
  }

  #forget(): void {
    this.#resolve = undefined;
    this.#reject = undefined;
    this.#pieces = undefined;
  }
}

/** Whether a request has a body that is not empty. */
export function hasBody({ headers }: { readonly headers: IncomingHttpHeaders }): boolean {
  const length = headers['content-length'];
  return length === undefined ? headers['transfer-encoding'] !== undefined : Number(length) !== 0;
}

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
