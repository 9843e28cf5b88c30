import { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Deferred, Semaphore } from '../../util/promises';
import { HTTP_ERRORS, type RequestError } from '../errors';

const EMPTY = Buffer.alloc(0);

/**
 * A message whose body is read whole past the stream, and which never emits 'end' if it has none. A stream takes 15 to 20 % of a call
 * that does not record, and 3 to 7 % if it only has to end. This is the one place that depends on how Node reads messages:
 * its parser calls `push`, and after the answer Node calls `resume` and lets go of the message if `readableEnded`.
 */
export class UnstreamedMessage extends IncomingMessage {
  #hasBody: boolean | undefined;
  #failure: RequestError | undefined;
  /** Whether the body bypasses the stream, into `#gathering` until it has ended. */
  #isBypassed = false;
  #gathering: Gathering | undefined;

  /** The bytes of its body, before a content coding is undone; NaN if it comes in chunks. */
  get bodyLength(): number {
    return this.headers['transfer-encoding'] === undefined ? Number(this.headers['content-length'] ?? 0) : NaN;
  }

  /** True if it has a body that is not empty. Kept, since Node and the call ask several times. */
  get hasBody(): boolean {
    return (this.#hasBody ??= this.bodyLength !== 0);
  }

  /**
   * Resolves to the body, which bypasses the stream, once its last byte has arrived. Call it once, for a body that is not empty.
   *
   * @param checkSize - returns the refusal of a body with a number of bytes; the rest is then left in the stream.
   * @param turns - shared by several bodies, which are read a piece at a time.
   * @throws {RequestError} that refusal, the error given to {@link UnstreamedMessage.fail}, or 400: the connection was closed too early.
   */
  takeBody(checkSize?: (bytes: number) => RequestError | undefined, turns?: Turns): Promise<Buffer> {
    const failure = this.#failure ?? (this.destroyed ? HTTP_ERRORS.cutShort() : undefined);
    if (failure !== undefined) return Promise.reject(failure);
    const gathering = { body: new GrowingBuffer(), whole: new Deferred<Buffer>(), checkSize, turns };
    // Some or all of it may have arrived before, and be in the stream.
    const arrived = this.readableLength > 0 ? (this.read() as Buffer) : null;
    this.#isBypassed = true;
    this.#gathering = gathering;
    if (arrived !== null) this.#add(arrived);
    if (this.complete) this.#add(null);
    return gathering.whole.promise;
  }

  #add(piece: Buffer | null): void {
    const gathering = this.#gathering;
    if (gathering === undefined) return;
    const { body, whole, checkSize } = gathering;
    if (piece === null) whole.resolve(body.take());
    else {
      const error = checkSize?.(body.length + piece.length);
      if (error === undefined) return body.add(piece);
      this.#isBypassed = false;
      whole.reject(error);
    }
    // Lets go of the body, which a call that waits must not hold.
    this.#gathering = undefined;
  }

  /** Ends a body that cannot be read on: its reader, present or later, gets this error. */
  fail(error: RequestError): void {
    this.#failure = error;
    this.#gathering?.whole.reject(error);
  }

  get #isStream(): boolean {
    return !this.#isBypassed && this.hasBody;
  }

  /** Called by Node's parser with each piece of the body, then with null. After false, Node pauses the socket until it is resumed. */
  override push(piece: Buffer | null): boolean {
    if (this.#isStream) return super.push(piece);
    this.#add(piece);
    const turns = this.#gathering?.turns;
    // Several chunks in one piece take one turn.
    if (turns !== undefined && !this.socket.isPaused()) void turns.next(this).then(() => this.socket.resume());
    return turns === undefined;
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
    this.#gathering?.whole.reject(HTTP_ERRORS.cutShort());
    super._destroy(error, callback);
  }
}

interface Gathering {
  readonly body: GrowingBuffer;
  readonly whole: Deferred<Buffer>;
  readonly checkSize: ((bytes: number) => RequestError | undefined) | undefined;
  readonly turns: Turns | undefined;
}

/** Bytes that arrive in pieces, in one buffer that doubles: pieces of one byte would take more than a hundred times their length. */
export class GrowingBuffer {
  #bytes: Buffer = EMPTY;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Adds bytes at the end. A first piece is kept as it is, and must not change afterwards. */
  add(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (this.#length === 0) this.#bytes = piece;
    else {
      if (length > this.#bytes.length) {
        const bytes = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#length));
        this.#bytes.copy(bytes, 0, 0, this.#length);
        this.#bytes = bytes;
      }
      piece.copy(this.#bytes, this.#length);
    }
    this.#length = length;
  }

  /** Returns all bytes and forgets them. They take at most about twice their length in memory. */
  take(): Buffer {
    const bytes = this.#length === this.#bytes.length ? this.#bytes : this.#bytes.subarray(0, this.#length);
    this.#bytes = EMPTY;
    this.#length = 0;
    if (bytes.buffer.byteLength <= 2 * bytes.length) return bytes;
    // `Buffer.from` would keep the memory from which Node gives small buffers, 64 KiB since version 24.
    const copy = Buffer.allocUnsafeSlow(bytes.length);
    bytes.copy(copy);
    return copy;
  }
}

/**
 * Lets one of several connections go on in each turn of the event loop. In a turn Node reads up to 2 MB of each, and accepts one: new ones
 * would wait for seconds.
 */
export class Turns {
  readonly #one = new Semaphore(1);

  /** Resolves when it is the turn of a request; one that is gone by then takes none. */
  next(request: { readonly destroyed: boolean }): Promise<void> {
    return this.#one.run(() => (request.destroyed ? Promise.resolve() : nextTurn()));
  }
}
