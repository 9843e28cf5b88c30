import { shortened } from '../../util/text';
import { Fault, FAULTS } from '../fault';
import { SOAP_VERSIONS, type SoapVersion } from '../soap-version';
import { SaxesReader } from '../../xml/saxes-reader';
import type { Envelope } from './envelope';
import { checkName, EnvelopeBuilder, tooMuch } from './envelope-builder';

const MAX_ATTRIBUTES = 256;

/**
 * Reads SOAP messages with `saxes`, one at a time, from their text in parts: `begin`, `write` for each part, `close`. After it
 * has thrown it stands in the middle of a message and must not be used again.
 */
export class EnvelopeReader {
  readonly #reader = new SaxesReader(
    { defaultXMLVersion: '1.0', forceXMLVersion: true },
    {
      addDoctype: () => {
        throw FAULTS.unreadable('A document type declaration is not allowed in a SOAP message.');
      },
      addAttribute: (name, count) => {
        if (count > MAX_ATTRIBUTES) throw tooMuch(`an element with more than ${String(MAX_ATTRIBUTES)} attributes`);
        checkName(name);
      },
    },
  );
  readonly #versions: readonly SoapVersion[];
  #builder: EnvelopeBuilder;

  /** @param versions - those that are read; one at least. */
  constructor(versions = SOAP_VERSIONS) {
    this.#versions = versions;
    this.#builder = new EnvelopeBuilder('', versions);
  }

  /** Begins a message; the text is all of it. */
  begin(xml: string): void {
    this.#builder = new EnvelopeBuilder(xml, this.#versions);
    this.#reader.begin(xml, this.#builder);
  }

  /**
   * Reads the next part of the text. The parts together must be the text that `begin` was given.
   *
   * @throws {Fault} the text so far is not XML, or not a SOAP message.
   */
  write(part: string): void {
    try {
      this.#reader.write(part);
    } catch (error) {
      throw faultOf(error);
    }
  }

  /**
   * Ends the message.
   *
   * @throws {Fault} the text ends too early, or the message has no body.
   */
  close(): Envelope {
    try {
      this.#reader.close();
    } catch (error) {
      throw faultOf(error);
    }
    const builder = this.#builder;
    this.#builder = new EnvelopeBuilder('', this.#versions);
    return builder.envelope();
  }
}

/** The fault for what reading throws: the parser throws only for mistakes in the message. */
function faultOf(error: unknown): Fault {
  return error instanceof Fault ? error : FAULTS.unreadable(reasonOf((error as Error).message));
}

/** Puts the parser's `line:column: reason` into words. The reason may quote the message, so it is shortened. */
function reasonOf(message: string): string {
  return message.replace(
    /^(\d+):(\d+): ([\s\S]*)$/,
    (_all, line: string, column: string, what: string) => `${shortened(what)} Line ${line}, position ${column}.`,
  );
}
