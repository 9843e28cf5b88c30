import { readEnvelope, type Envelope } from './envelope';

/** A longer message is not remembered; a generated client's call of an operation has 300 characters. */
const MAX_LENGTH = 2048;
const MAX_MESSAGES = 256;

/** Once the memory is full, one in so many new messages is remembered: those that come often soon are. */
const ADMITTED = 64;

/**
 * Reads messages, and remembers what the plain ones were read as: the operations take no parameters, so that a client
 * sends the same bytes every time. It holds at most 256 messages of at most 2,048 characters and forgets the oldest first.
 * Messages that come once and never again hardly touch it.
 */
export class EnvelopeMemory {
  readonly #remembered = new Map<string, Envelope>();
  #refused = 0;

  /**
   * Reads a message as {@link readEnvelope} does.
   *
   * @throws {Fault} as that does; it is not remembered.
   */
  read(xml: string): Envelope {
    const known = this.#remembered.get(xml);
    if (known !== undefined) return known;
    const envelope = readEnvelope(xml);
    if (envelope.isPlain && xml.length <= MAX_LENGTH) this.#remember(xml, envelope);
    return envelope;
  }

  #remember(xml: string, envelope: Envelope): void {
    if (this.#remembered.size >= MAX_MESSAGES) {
      if (++this.#refused < ADMITTED) return;
      this.#refused = 0;
      const [oldest = ''] = this.#remembered.keys();
      this.#remembered.delete(oldest);
    }
    this.#remembered.set(xml, envelope);
  }
}
