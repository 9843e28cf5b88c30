import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  type BrotliDecompress,
  type Gunzip,
  type Inflate,
  type InflateRaw,
} from 'node:zlib';
import { HTTP_ERRORS, RequestError } from '../errors';
import { GrowingBuffer, MessageMemory, type HttpRequest } from '../request';
import type { HttpResponse } from '../response';
import { Semaphore } from '../../util/promises';
import { shortened } from '../../util/text';
import { Charset } from './charset';

const EMPTY = Buffer.alloc(0);

/** The most bytes of a body, as it arrives and after `Content-Encoding` is undone, and what is said of one with more. */
interface BodyLimit {
  readonly maxBytes: number;
  refusal(this: void): RequestError;
}

/** Reads request bodies whole, within a limit for each and one for all large bodies that are held at the same time. */
export class BodyReader {
  readonly #limit: BodyLimit;
  readonly #memory: MessageMemory;
  readonly #decoding = new Decoding();
  readonly #hint: (key: string, message: string) => void;

  /**
   * @param maxBytes - most bytes of one body, as it arrives and after `Content-Encoding` is undone
   * @param maxTotalBytes - most bytes of all large bodies whose calls are not answered yet
   * @param hint - called for each body that is not coded as its header says
   */
  constructor(maxBytes: number, maxTotalBytes: number, hint: (key: string, message: string) => void = () => undefined) {
    this.#hint = hint;
    this.#limit = { maxBytes, refusal: () => HTTP_ERRORS.bodyTooLarge(maxBytes) };
    this.#memory = new MessageMemory(maxTotalBytes, SMALL_BODY);
  }

  /**
   * Resolves to the body after `Content-Encoding` is undone; empty if the request has none. A body that is not coded, whatever
   * the header says, is left as it is. Sends `100 Continue` to a caller that waits for it, once nothing in the header speaks
   * against the body. Call it once for each request.
   *
   * @param lower - a lower limit for this body
   * @throws {RequestError} the body is larger than allowed (413, or the refusal of the lower limit), in an unknown content
   * coding (415), broken or cut short (400), or no memory is left for it (503). The rest of it is then not read.
   */
  read(request: HttpRequest, response: HttpResponse, lower?: BodyLimit): Promise<Buffer> {
    const { headers } = request;
    const limit = lower !== undefined && lower.maxBytes < this.#limit.maxBytes ? lower : this.#limit;
    const length = headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
    if (!request.hasBody || request.isBodyMissing) return Promise.resolve(EMPTY);
    if (length !== undefined && length > limit.maxBytes) return Promise.reject(limit.refusal());
    const { failure } = request;
    if (failure !== undefined) return Promise.reject(failure);
    const field = headers['content-encoding'];
    const coding = field === undefined ? 'identity' : this.#codingIn(field);
    if (coding !== 'identity' && !CODINGS.has(coding)) return Promise.reject(HTTP_ERRORS.contentCoding(coding));
    const isSmall = length !== undefined && length <= SMALL_BODY;
    let body: Promise<Buffer>;
    if (isSmall && coding === 'identity') body = request.takeBody(length);
    else {
      const arrived = receive(request, (bytes) => this.#refusal(bytes, limit, response));
      body = coding === 'identity' ? arrived : this.#decode(arrived, coding, limit, response);
    }
    if (headers.expect !== undefined) response.sendContinue();
    return body;
  }

  /** Gives back the room of the body that was read with a response, once nothing holds it any more. */
  release(response: HttpResponse): void {
    this.#memory.release(response);
  }

  /** Counts the bytes of a body. Returns why it may not have that many. */
  #refusal(bytes: number, { maxBytes, refusal }: BodyLimit, response: HttpResponse): RequestError | undefined {
    if (bytes <= maxBytes && this.#memory.resize(response, bytes)) return undefined;
    this.release(response);
    return bytes > maxBytes ? refusal() : HTTP_ERRORS.bodyMemory(this.#memory.maxBytes);
  }

  /** The coding that a `Content-Encoding` names, or `identity`. */
  #codingIn(field: string): string {
    const names = field.split(',').map((name) => name.trim().toLowerCase());
    const codings = names.filter((name) => name !== '' && name !== 'identity' && !isNoCoding(name));
    if (names.some(isNoCoding))
      this.#giveHint(`the Content-Encoding ${shortened(field)}, which names no content coding`);
    return codings.join(', ') || 'identity';
  }

  #giveHint(what: string): void {
    this.#hint(
      'content-coding',
      `A request has ${what}. The body was taken as it came: let the sender leave the field out.`,
    );
  }

  async #decode(arrived: Promise<Buffer>, coding: string, limit: BodyLimit, response: HttpResponse): Promise<Buffer> {
    const coded = await arrived;
    const body = new GrowingBuffer();
    const isCoded = await this.#decoding.decode(coded, coding, (piece) => {
      // The coded body is held beside it, but only of four bodies at a time.
      const error = this.#refusal(Math.max(body.length + piece.length, coded.length), limit, response);
      if (error !== undefined) throw error;
      body.add(piece);
    });
    if (!isCoded) {
      if ((coding === 'br' || coding === 'deflate' || isGzip(coded)) && !Charset.isPlainText(coded)) {
        this.release(response);
        throw HTTP_ERRORS.undecodable(coding);
      }
      this.#giveHint(`the Content-Encoding ${coding} and a body that is not`);
    }
    const whole = isCoded ? body.take() : coded;
    this.#memory.resize(response, whole.length);
    return whole;
  }
}

/**
 * Waits for the end of a body that is not used: a request whose body is broken is not carried out.
 *
 * @throws {RequestError} 400: the body is broken or cut short; 413: it is larger than 64 KiB
 */
export function skipBody(request: HttpRequest, response: HttpResponse): Promise<void> {
  const { failure, headers } = request;
  if (failure !== undefined) return Promise.reject(failure);
  const tooLarge = () => HTTP_ERRORS.unneededBodyTooLarge(String(request.method), SMALL_BODY);
  if (Number(headers['content-length'] ?? 0) > SMALL_BODY) return Promise.reject(tooLarge());
  const skipped = receive(request, (bytes) => (bytes > SMALL_BODY ? tooLarge() : undefined));
  if (headers.expect !== undefined) response.sendContinue();
  return skipped.then(() => undefined);
}

/** Resolves to a body once all of it has arrived. `refusal` returns the reason why a body may not have a length. */
function receive(request: HttpRequest, refusal: (bytes: number) => RequestError | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = new GrowingBuffer();
    const take = (piece: Buffer): void => {
      const error = refusal(body.length + piece.length);
      if (error === undefined) body.add(piece);
      else fail(error);
    };
    const end = (): void => {
      forget();
      resolve(body.take());
    };
    const fail = (error: Error): void => {
      forget();
      request.pause();
      reject(error instanceof RequestError ? error : HTTP_ERRORS.cutShort());
    };
    // A call that waits would hold its body by way of these.
    const forget = (): void => {
      request.off('data', take).off('end', end).off('error', fail);
    };
    request.on('data', take).on('end', end).on('error', fail);
  });
}

/** Bodies of up to this many bytes do not count: on all connections together they take less than a process has. */
const SMALL_BODY = 65_536;

/** The content codings that can be undone (RFC 9110, section 8.4.1). */
const CODINGS: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate', 'br']);

/** Values of `Content-Encoding` that code nothing: some senders write encodings of MIME. Others write a character set. */
const NOT_CODINGS: ReadonlySet<string> = new Set(['none', '7bit', '8bit', 'binary', 'base64', 'quoted-printable']);

function isNoCoding(name: string): boolean {
  return NOT_CODINGS.has(name) || Charset.named(name).isKnown;
}

/** Returns the decoder for a body by its first bytes, since senders confuse the three formats of zlib. Undefined: it is not coded. */
function decoderOf(coding: string, body: Buffer): BrotliDecompress | Gunzip | Inflate | InflateRaw | undefined {
  if (coding === 'br') return createBrotliDecompress();
  if (isGzip(body)) return createGunzip();
  const [method = 0, flags = 0] = body;
  // RFC 1950, section 2.2: the method is 8, the window at most 32 KiB.
  if ((method & 0x8f) === 8 && ((method << 8) | flags) % 31 === 0) return createInflate();
  return coding === 'deflate' ? createInflateRaw() : undefined;
}

/** RFC 1952, section 2.3.1 */
function isGzip(body: Buffer): boolean {
  return body[0] === 0x1f && body[1] === 0x8b;
}

/** As many bodies are decoded at once as Node has threads for it. */
const MAX_AT_ONCE = 4;

/** Undoes content codings, a few at a time: a decoder may take a megabyte for a body of one kilobyte, which nothing counts. */
export class Decoding {
  readonly #running = new Semaphore(MAX_AT_ONCE);

  /**
   * Gives `take` what a body decodes to, piece by piece. Resolves to whether the body is valid in its coding, to its last byte.
   *
   * @throws what `take` throws.
   */
  async decode(body: Buffer, coding: string, take: (piece: Buffer) => void): Promise<boolean> {
    const decoder = decoderOf(coding, body);
    if (decoder === undefined) return false;
    try {
      await this.#running.run(async () => {
        decoder.end(body);
        for await (const piece of decoder) take(piece as Buffer);
      });
    } catch (error) {
      if (error instanceof RequestError) throw error;
      return false;
    }
    const rest = body.subarray(decoder.bytesWritten);
    // Archives of gzip may be filled up with zeros.
    return rest.length === 0 || (isGzip(body) && rest.every((byte) => byte === 0));
  }
}
