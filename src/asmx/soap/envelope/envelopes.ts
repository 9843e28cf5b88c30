import { inParts } from '../../../lang/let-others-run';
import type { Envelope } from './envelope';
import { EnvelopeReader } from './envelope-reader';

/** Longer messages are not kept. A call by a generated client has about 300 characters. */
const MAX_LENGTH = 2048;
const MAX_MESSAGES = 256;

/**
 * Reads SOAP messages and remembers the plain ones, since a client that sends no payload sends the same bytes every time. It
 * remembers up to 256 messages of up to 2,048 characters; when it has that many, it forgets them all.
 */
export class Envelopes {
  readonly #plain = new Map<string, Envelope>();
  /** Kept from one message to the next: making a parser costs as much as reading a small message with it. */
  #reader: EnvelopeReader | undefined;

  /**
   * Reads a SOAP 1.1 or 1.2 message: strictly, with namespaces, and without document type declarations (SOAP 1.1,
   * section 3; SOAP 1.2 part 1, section 5).
   *
   * @throws {Fault} the text is not XML, or not a SOAP message; the fault says what is wrong and where.
   */
  read(xml: string): Envelope {
    const known = this.#plain.get(xml);
    if (known !== undefined) return known;
    const reader = this.#reader ?? new EnvelopeReader();
    // Only a reader that reached the end of its message is used again.
    this.#reader = undefined;
    reader.begin(xml);
    reader.write(xml);
    const envelope = reader.close();
    this.#reader = reader;
    if (envelope.isPlain && xml.length <= MAX_LENGTH) this.#keep(xml, envelope);
    return envelope;
  }

  /** Reads a large message as {@link read} does, in parts, between which other calls run. */
  async readLarge(xml: string): Promise<Envelope> {
    const reader = new EnvelopeReader();
    reader.begin(xml);
    await inParts(xml, (part) => {
      reader.write(part);
    });
    return reader.close();
  }

  #keep(xml: string, envelope: Envelope): void {
    if (this.#plain.size >= MAX_MESSAGES) this.#plain.clear();
    this.#plain.set(xml, envelope);
  }
}
