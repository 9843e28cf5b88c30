import {
  charsetOfMark,
  charsetOfXml,
  decodeAnyway,
  decodeSteps,
  isDenied,
  isKnownCharset,
} from '../http/content/content-type';
import { atOnce, type Steps } from '../util/promises';
import { shortened } from '../util/text';
import { CommonXmlReader, LastBeginning } from '../xml/common-xml-reader';
import { earlierMistake, placeOf } from '../xml/mistakes';
import { SaxesReader, type SaxesGuards } from '../xml/saxes-reader';
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
export function* decodeMessage(
  body: Buffer,
  charset: string | undefined,
  hint?: (message: string) => void,
): Steps<string> {
  const given = charset && !isDenied(charset, body) ? charset : undefined;
  const named = charsetOfMark(body) ?? given ?? charsetOfXml(body) ?? 'utf-8';
  let name = named;
  if (!isKnownCharset(named)) {
    const announced = charsetOfXml(body);
    name = announced !== undefined && isKnownCharset(announced) ? announced : 'utf-8';
    hint?.(`A SOAP message has the character set ${shortened(named)}, which is not known. It was read as ${name}.`);
  }
  const text = yield* decodeSteps(body, name);
  if (text !== undefined) return withoutNulsAtEnd(text);
  hint?.(
    `A SOAP message is not valid ${shortened(name)}, its character set. What could not be read may be recorded wrong.`,
  );
  return withoutNulsAtEnd(yield* decodeAnyway(body, name));
}

function withoutNulsAtEnd(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0) end--;
  return end === text.length ? text : text.slice(0, end);
}

/** How many characters `saxes` reads at a time. */
const PART_LENGTH = 8 * 1024;

/**
 * Reads a SOAP message strictly, with namespaces, and without document type declarations (SOAP 1.1, section 3; SOAP 1.2 part 1,
 * section 5): in most cases without `saxes`.
 *
 * @param last - how the message before began, which is how most begin.
 * @throws {Fault} the text is not XML, or not a SOAP message; the fault says what is wrong and where.
 */
export function* envelopeSteps(xml: string, contract = ANY_MESSAGE, last = new LastBeginning()): Steps<Envelope> {
  const builder = new EnvelopeBuilder(xml, contract);
  if (yield* new CommonXmlReader(xml, builder, last).read()) return builder.envelope();
  const reader = new SaxesEnvelopeReader(xml, contract);
  for (let start = 0; start < xml.length; start += PART_LENGTH) {
    reader.write(xml.slice(start, start + PART_LENGTH));
    yield;
  }
  return reader.close();
}

/** Reads a SOAP message in one go, as {@link envelopeSteps} does. */
export function readEnvelope(xml: string, contract?: MessageContract, last?: LastBeginning): Envelope {
  return atOnce(envelopeSteps(xml, contract, last));
}

const GUARDS: SaxesGuards = {
  addDoctype: () => {
    throw FAULTS.unreadable('A document type declaration is not allowed in a SOAP message.');
  },
  addAttribute: (name, count) => {
    if (count > MAX_ATTRIBUTES) throw tooMuch(`an element with more than ${String(MAX_ATTRIBUTES)} attributes`);
    checkName(name);
  },
};

/** Reads a SOAP message with `saxes`, in parts: `write` for each part, then `close`. */
export class SaxesEnvelopeReader {
  readonly #xml: string;
  readonly #builder: EnvelopeBuilder;
  readonly #reader: SaxesReader;

  /** @param xml - the whole message. */
  constructor(xml: string, contract = ANY_MESSAGE) {
    this.#xml = xml;
    this.#builder = new EnvelopeBuilder(xml, contract);
    this.#reader = new SaxesReader(xml, this.#builder, GUARDS);
  }

  /** @throws {Fault} the text so far is not XML, or not a SOAP message. */
  write(part: string): void {
    try {
      this.#reader.write(part);
    } catch (error) {
      throw faultOf(error, this.#xml);
    }
  }

  /** @throws {Fault} the text ends too early, or the message has no body. */
  close(): Envelope {
    try {
      this.#reader.close();
    } catch (error) {
      throw faultOf(error, this.#xml);
    }
    return this.#builder.envelope();
  }
}

/** The fault for what reading throws: the parser throws only for mistakes in the message. */
function faultOf(error: unknown, xml: string): Fault {
  return error instanceof Fault ? error : FAULTS.unreadable(reasonOf((error as Error).message, xml));
}

/** Puts the parser's `line:column: reason` into words. The reason may quote the message, so it is shortened. */
function reasonOf(message: string, xml: string): string {
  const [, line = '', column = '', reason = message] = /^(\d+):(\d+): ([^]*)$/.exec(message) ?? [];
  const mistake = earlierMistake(xml, reason);
  const place = mistake === undefined ? { line, position: column } : placeOf(xml, mistake.offset);
  const what = mistake?.what ?? shortened(reason).replace(/\w$/, '$&.');
  return `${what} Line ${String(place.line)}, position ${String(place.position)}.`;
}
