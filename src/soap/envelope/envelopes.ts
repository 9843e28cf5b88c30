import { inParts } from '../../util/promises';
import { Beginnings } from '../../xml/beginnings';
import { CommonXmlReader } from '../../xml/common-xml-reader';
import type { Envelope } from './envelope';
import { EnvelopeBuilder } from './envelope-builder';
import { EnvelopeReader } from './envelope-reader';
import { SOAP_VERSIONS, type SoapVersion } from '../soap-version';

/** Reads SOAP messages, most of them without `saxes`, and remembers how those begin. */
export class Envelopes {
  readonly #beginnings = new Beginnings();
  /** Kept from one message to the next: making a parser costs as much as reading a small message with it. */
  #reader: EnvelopeReader | undefined;
  readonly #versions: readonly SoapVersion[];

  /** @param versions - those that are read; one at least. */
  constructor(versions = SOAP_VERSIONS) {
    this.#versions = versions;
  }

  /**
   * Reads a SOAP message: strictly, with namespaces, and without document type declarations (SOAP 1.1,
   * section 3; SOAP 1.2 part 1, section 5).
   *
   * @throws {Fault} the text is not XML, or not a SOAP message; the fault says what is wrong and where.
   */
  read(xml: string): Envelope {
    const builder = new EnvelopeBuilder(xml, this.#versions);
    if (new CommonXmlReader(xml, builder, this.#beginnings).read()) return builder.envelope();
    const reader = this.#reader ?? new EnvelopeReader(this.#versions);
    // Only a reader that reached the end of its message is used again.
    this.#reader = undefined;
    reader.begin(xml);
    reader.write(xml);
    const envelope = reader.close();
    this.#reader = reader;
    return envelope;
  }

  /** Reads a large message as {@link read} does, in parts, between which other calls run. */
  async readLarge(xml: string): Promise<Envelope> {
    const reader = new EnvelopeReader(this.#versions);
    reader.begin(xml);
    await inParts(xml, (part) => {
      reader.write(part);
    });
    return reader.close();
  }
}
