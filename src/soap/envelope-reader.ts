import { charsetOfMark, charsetOfXml, decode, decodeAnyway, isKnownCharset } from '../http/content/content-type';
import { inParts } from '../util/promises';
import { shortened } from '../util/text';
import { CommonXmlReader } from '../xml/common-xml-reader';
import { SaxesReader } from '../xml/saxes-reader';
import {
  ANY_MESSAGE,
  checkName,
  EnvelopeBuilder,
  tooMuch,
  type Envelope,
  type MessageContract,
} from './envelope-builder';
import { Fault, FAULTS } from './fault';

const MAX_ATTRIBUTES = 256;

/**
 * Decodes the body of a SOAP message. The character set is that of the byte order mark, of `Content-Type`, or the one that the
 * XML announces itself, whichever comes first in this list, or else UTF-8 (RFC 7303, section 3).
 *
 * As in the original no character set refuses a message: one that is unknown is passed over, and bytes that are not valid in theirs
 * are decoded as well as they can be. NULs after the message are ignored: programs in C send the one that ends their text.
 *
 * @param hint - called with what the sender should change.
 */
export function decodeMessage(body: Buffer, charset: string | undefined, hint?: (message: string) => void): string {
  const named = charsetOfMark(body) ?? (charset || charsetOfXml(body)) ?? 'utf-8';
  let name = named;
  if (!isKnownCharset(named)) {
    const announced = charsetOfXml(body);
    name = announced !== undefined && isKnownCharset(announced) ? announced : 'utf-8';
    hint?.(`A SOAP message has the character set ${shortened(named)}, which is not known. It was read as ${name}.`);
  }
  const text = decode(body, name);
  if (text !== undefined) return withoutNulsAtEnd(text);
  hint?.(
    `A SOAP message is not valid ${shortened(name)}, its character set. What could not be read may be recorded wrong.`,
  );
  return withoutNulsAtEnd(decodeAnyway(body, name));
}

function withoutNulsAtEnd(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0) end--;
  return end === text.length ? text : text.slice(0, end);
}

/**
 * Reads SOAP messages strictly, with namespaces, and without document type declarations (SOAP 1.1, section 3; SOAP 1.2 part 1,
 * section 5): most of them without `saxes`.
 */
export class EnvelopeReader {
  /** Kept from one message to the next: making a parser costs as much as reading a small message with it. */
  #saxes: SaxesEnvelopeReader | undefined;
  readonly #contract: MessageContract;

  constructor(contract = ANY_MESSAGE) {
    this.#contract = contract;
  }

  /**
   * Reads a message.
   *
   * @throws {Fault} the text is not XML, or not a SOAP message; the fault says what is wrong and where.
   */
  read(xml: string): Envelope {
    const builder = new EnvelopeBuilder(xml, this.#contract);
    if (new CommonXmlReader(xml, builder).read()) return builder.envelope();
    const reader = this.#saxes ?? new SaxesEnvelopeReader(this.#contract);
    // Only a reader that reached the end of its message is used again.
    this.#saxes = undefined;
    reader.begin(xml);
    reader.write(xml);
    const envelope = reader.close();
    this.#saxes = reader;
    return envelope;
  }

  /** Reads a large message as {@link read} does, in parts, between which other calls run. */
  async readLarge(xml: string): Promise<Envelope> {
    const reader = new SaxesEnvelopeReader(this.#contract);
    reader.begin(xml);
    await inParts(xml, (part) => {
      reader.write(part);
    });
    return reader.close();
  }
}

/**
 * Reads SOAP messages with `saxes`, one at a time, from their text in parts: `begin`, `write` for each part, `close`. After it
 * has thrown it stands in the middle of a message and must not be used again.
 */
export class SaxesEnvelopeReader {
  readonly #reader = new SaxesReader({
    addDoctype: () => {
      throw FAULTS.unreadable('A document type declaration is not allowed in a SOAP message.');
    },
    addAttribute: (name, count) => {
      if (count > MAX_ATTRIBUTES) throw tooMuch(`an element with more than ${String(MAX_ATTRIBUTES)} attributes`);
      checkName(name);
    },
  });
  readonly #contract: MessageContract;
  #builder: EnvelopeBuilder;

  constructor(contract = ANY_MESSAGE) {
    this.#contract = contract;
    this.#builder = new EnvelopeBuilder('', contract);
  }

  /** Begins a message; the text is all of it. */
  begin(xml: string): void {
    this.#builder = new EnvelopeBuilder(xml, this.#contract);
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
    this.#builder = new EnvelopeBuilder('', this.#contract);
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
