import { createInflateRaw, createUnzip } from 'node:zlib';
import type { Config } from '../../config/config';
import { HTTP_ERRORS, RequestError } from '../errors';
import type { HttpRequest } from '../request';
import { MessageMemory, SMALL_MESSAGE } from './message-memory';
import { GrowingBuffer, Turns } from './unstreamed-message';
import type { HttpResponse } from '../response';
import { Semaphore } from '../../util/promises';
import { Charset } from './media-type';

const EMPTY = Buffer.alloc(0);

/** How many bodies are decoded at once: each decoder takes some 50 KB, which nothing counts. Node has four threads for them. */
const DECODERS = 4;

const CODINGS: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate']);

/** Values of `Content-Encoding` that code nothing: some senders write encodings of MIME. Others write a character set. */
const NOT_CODINGS = new Set(['', 'identity', 'none', '7bit', '8bit', 'binary', 'base64', 'quoted-printable']);

/** Returns the refusal of a body with a number of bytes, if it may not have as many. */
type CheckSize = (bytes: number) => RequestError | undefined;

/** Reads request bodies whole, within a limit for each and one for all large bodies that are held at the same time. */
export class BodyReader {
  /** The part of a limit that callers share who have proved nothing: they use up no more of what others need. */
  static shareOf(this: void, limit: number): number {
    return Math.ceil(limit / 4);
  }

  readonly #memory: MessageMemory;
  /** Those of the same bodies whose callers have proved nothing. */
  readonly #unproved: MessageMemory;
  readonly #decoding = new Semaphore(DECODERS);
  readonly #turns = new Turns();
  /** How many bodies of callers who have proved nothing are awaited. */
  #awaited = 0;

  constructor(private readonly config: Pick<Config, 'maxRequestBytes' | 'limits'>) {
    const { maxBodyMemory } = config.limits;
    this.#memory = new MessageMemory(maxBodyMemory);
    this.#unproved = new MessageMemory(BodyReader.shareOf(maxBodyMemory));
  }

  /**
   * Resolves to the body after `Content-Encoding` is undone; a text that is not coded is left as it is. Sends `100 Continue` to a caller
   * that waits for it, once the header fields are accepted. Call it once for each request.
   *
   * @param unprovedLimit - most bytes of a caller who has proved nothing; such callers share a part of the memory and of the connections.
   * @throws {RequestError} the body is larger than allowed (413, or 401 for want of a proof), in an unknown content coding (415), broken or
   * cut short (400), or no memory is left for it (503). What remains of it is then not read.
   */
  read(request: HttpRequest, response: HttpResponse, unprovedLimit?: number): Promise<Buffer> {
    if (unprovedLimit === undefined) return this.#read(request, response);
    if (this.#awaited >= BodyReader.shareOf(this.config.limits.maxConnections))
      return Promise.reject(HTTP_ERRORS.unproved('bodies that are awaited'));
    this.#awaited++;
    return this.#read(request, response, unprovedLimit).finally(() => this.#awaited--);
  }

  #read(request: HttpRequest, response: HttpResponse, unprovedLimit?: number): Promise<Buffer> {
    const { headers, bodyLength } = request;
    if (!request.hasBody) return Promise.resolve(EMPTY);
    const error = this.#tooLarge(bodyLength, unprovedLimit);
    if (error !== undefined) return Promise.reject(error);
    const field = headers['content-encoding'];
    const coding = field === undefined ? 'identity' : codingIn(field);
    if (coding !== 'identity' && !CODINGS.has(coding)) return Promise.reject(HTTP_ERRORS.contentCoding(coding));
    const checkSize: CheckSize = (bytes) => this.#reserve(bytes, response, unprovedLimit);
    const turns = unprovedLimit === undefined ? undefined : this.#turns;
    const arrived = request.takeBody(bodyLength <= SMALL_MESSAGE ? undefined : checkSize, turns);
    if (headers.expect !== undefined) response.sendContinue();
    return coding === 'identity' ? arrived : this.#decode(arrived, coding, checkSize);
  }

  /** Counts a body no longer among those of callers who have proved nothing. */
  countAsProved(response: HttpResponse): void {
    this.#unproved.release(response);
  }

  /** Gives back the room of the body that was read with a response, once nothing holds it any more. */
  release(response: HttpResponse): void {
    this.#memory.release(response);
    this.#unproved.release(response);
  }

  /** Returns why a body may not have that many bytes, as it arrives or decoded. */
  #tooLarge(bytes: number, unprovedLimit = Infinity): RequestError | undefined {
    const { maxRequestBytes } = this.config;
    if (bytes > unprovedLimit && unprovedLimit < maxRequestBytes) return HTTP_ERRORS.keyInHeader(unprovedLimit);
    return bytes > maxRequestBytes ? HTTP_ERRORS.bodyTooLarge(maxRequestBytes) : undefined;
  }

  /** Counts the bytes of a body, in place of those before. Returns why it may not have that many. */
  #reserve(bytes: number, response: HttpResponse, unprovedLimit?: number): RequestError | undefined {
    const error = this.#tooLarge(bytes, unprovedLimit);
    if (error !== undefined) return error;
    if (unprovedLimit !== undefined && !this.#unproved.resize(response, bytes))
      return HTTP_ERRORS.unproved('large bodies');
    return this.#memory.resize(response, bytes) ? undefined : HTTP_ERRORS.bodyMemory(this.#memory.maxBytes);
  }

  async #decode(arrived: Promise<Buffer>, coding: string, checkSize: CheckSize): Promise<Buffer> {
    const coded = await arrived;
    const larger: CheckSize = (bytes) => checkSize(Math.max(bytes, coded.length));
    const decoding = this.#decoding.run(() => decoded(coded, coding, larger));
    const body = await decoding.catch((error: unknown) => {
      if (error instanceof RequestError) throw error;
      return undefined;
    });
    if (body === undefined && !Charset.isPlainText(coded)) throw HTTP_ERRORS.undecodable(coding);
    return body ?? coded;
  }
}

function codingIn(field: string): string {
  const names = field.split(',').map((name) => name.trim().toLowerCase());
  return names.filter((name) => !NOT_CODINGS.has(name) && !Charset.named(name).isKnown).join(', ') || 'identity';
}

/** Undoes a content coding. Returns undefined if bytes follow the coded ones; throws if it is not this coding, or what `checkSize` returns. */
async function decoded(coded: Buffer, coding: string, checkSize: CheckSize): Promise<Buffer | undefined> {
  // Senders confuse the three formats. The first byte tells gzip (RFC 1952), and the method in it zlib (RFC 1950).
  const [first = 0] = coded;
  const decoder = coding === 'deflate' && first !== 0x1f && (first & 0x0f) !== 8 ? createInflateRaw() : createUnzip();
  const body = new GrowingBuffer();
  decoder.end(coded);
  for await (const piece of decoder as AsyncIterable<Buffer>) {
    const error = checkSize(body.length + piece.length);
    if (error !== undefined) throw error;
    body.add(piece);
  }
  // Archives of gzip may be filled up with zeros.
  const rest = coded.subarray(decoder.bytesWritten);
  return rest.length === 0 || (first === 0x1f && rest.every((byte) => byte === 0)) ? body.take() : undefined;
}
