import { Charset } from '../http/content/charset';
import { shortened } from '../util/text';
import { XmlSyntaxError, readXml } from '../xml/xml-reader';
import { ANY_MESSAGE, EnvelopeBuilder, type Envelope } from './envelope-builder';
import { FAULTS } from './fault';

/**
 * Decodes the body of a SOAP message. The character set is that of the byte order mark, of `Content-Type`, or the one that the
 * XML announces itself, whichever comes first in this list, or else UTF-8 (RFC 7303, section 3).
 *
 * As in the original no character set refuses a message: one that is unknown is passed over, and bytes that are not valid in theirs
 * are decoded as well as they can be. NULs after the message are ignored: programs in C send the one that ends their text.
 *
 * @param hint - called with what the sender should change.
 */
export function decodeMessage(body: Buffer, given: Charset | undefined, hint?: Hint): string {
  const charset = charsetOf(body, given, hint);
  return withoutNulsAtEnd(charset.decode(body) ?? decodeInvalid(body, charset, hint));
}

type Hint = (message: string) => void;

function charsetOf(body: Buffer, given: Charset | undefined, hint: Hint | undefined): Charset {
  const charset = Charset.ofXml(body, given?.name && !given.isDeniedBy(body) ? given : undefined);
  if (charset.isKnown) return charset;
  const announced = Charset.ofXml(body);
  const taken = announced.isKnown ? announced : Charset.utf8;
  hint?.(
    `A SOAP message has the character set ${shortened(charset.name)}, which is not known. It was read as ${taken.name}.`,
  );
  return taken;
}

function decodeInvalid(body: Buffer, charset: Charset, hint: Hint | undefined): string {
  hint?.(
    `A SOAP message is not valid ${shortened(charset.name)}, its character set. What could not be read may be recorded wrong.`,
  );
  return charset.decodeAnyway(body);
}

function withoutNulsAtEnd(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0) end--;
  return end === text.length ? text : text.slice(0, end);
}

/**
 * Reads a SOAP message strictly, with namespaces, and without document type declarations (SOAP 1.1, section 3; SOAP 1.2 part 1,
 * section 5).
 *
 * @throws {Fault} the text is not XML, or not a SOAP message; the fault says what is wrong and where.
 */
export function readEnvelope(xml: string, contract = ANY_MESSAGE): Envelope {
  try {
    return readXml(xml, () => new EnvelopeBuilder(xml, contract)).envelope();
  } catch (error) {
    throw error instanceof XmlSyntaxError ? FAULTS.unreadable(error.message) : error;
  }
}
