import { readEnvelope, type Envelope } from './envelope';
import { decodeXml } from './xml-body';

/** A message of more bytes is not remembered; a generated client's call of an operation has 300. */
const MAX_BYTES = 2048;
const MAX_MESSAGES = 256;

/** Once the memory is full, one in so many new messages is remembered: those that come often soon are. */
const ADMITTED = 64;

/**
 * Reads messages, and remembers what the plain ones were read as: the operations take no parameters, so that a client
 * sends the same bytes every time. It holds at most 256 messages of at most 2,048 bytes and forgets the oldest first.
 * Messages that come once and never again hardly touch it.
 */
export class EnvelopeMemory {
  readonly #remembered = new Map<string, Envelope>();
  #refused = 0;

  /**
   * Reads a message from its bytes, in the character set of its content type.
   *
   * @throws {Fault} as {@link decodeXml} and {@link readEnvelope} do; that is not remembered.
   */
  read(body: Buffer, charset: string | undefined): Envelope {
    if (body.length > MAX_BYTES) return readEnvelope(decodeXml(body, charset));
    const key = `${charset ?? ''}\n${body.toString('latin1')}`;
    const known = this.#remembered.get(key);
    if (known !== undefined) return known;
    const envelope = readEnvelope(decodeXml(body, charset));
    if (envelope.isPlain) this.#remember(key, envelope);
    return envelope;
  }

  #remember(key: string, envelope: Envelope): void {
    if (this.#remembered.size >= MAX_MESSAGES) {
      if (++this.#refused < ADMITTED) return;
      this.#refused = 0;
      const [oldest = ''] = this.#remembered.keys();
      this.#remembered.delete(oldest);
    }
    this.#remembered.set(key, envelope);
  }
}
