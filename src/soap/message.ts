import { Charset, MediaType } from '../http/content/media-type';
import { shortened } from '../util/text';
import { XmlError } from '../xml/handler';
import { readXml } from '../xml/xml-reader';
import { EnvelopeBuilder, type MessageContract, type NamedOperations, type SoapMessage } from './envelope-builder';
import { FAULTS } from './fault';

/** A request with a SOAP message, as another thread can be given it. */
interface SoapRequest {
  readonly body: Buffer;
  readonly contentType: string | undefined;
  readonly contract: MessageContract;
  readonly named: NamedOperations;
}

/**
 * Reads a SOAP message strictly, with namespaces, and without document type declarations (SOAP 1.1, section 3; SOAP 1.2 part 1,
 * section 5).
 *
 * @throws {Fault} it is not XML, or not a SOAP message; the fault says what is wrong and where.
 */
export function readMessage(
  { body, contentType, contract, named }: SoapRequest,
  mediaType = MediaType.parse(contentType),
): SoapMessage {
  const hints: string[] = [];
  const xml = decodeMessage(body, mediaType?.charset, hints);
  try {
    return readXml(xml, () => new EnvelopeBuilder(xml, contract)).message(named, hints);
  } catch (error) {
    throw error instanceof XmlError ? FAULTS.unreadable(error.message) : error;
  }
}

/**
 * Decodes the body of a SOAP message. The character set is that of the byte order mark, of `Content-Type`, or the one that the
 * XML announces itself, whichever comes first in this list, or else UTF-8 (RFC 7303, section 3).
 *
 * As in the original no character set refuses a message: one that is unknown is passed over, and bytes that are not valid in theirs
 * are decoded as well as they can be; a hint says so. NULs after the message, as programs in C send them, are ignored.
 */
function decodeMessage(body: Buffer, given: Charset | undefined, hints: string[]): string {
  const charset = charsetOf(body, given, hints);
  let text = charset.decode(body);
  if (text === undefined) {
    text = charset.decodeAnyway(body);
    hints.push(
      `A SOAP message is not valid ${shortened(charset.name)}, its character set. What could not be read may be recorded wrong.`,
    );
  }
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0) end--;
  return end === text.length ? text : text.slice(0, end);
}

function charsetOf(body: Buffer, given: Charset | undefined, hints: string[]): Charset {
  const charset = Charset.ofXml(body, given?.name && !given.isDeniedBy(body) ? given : undefined);
  if (charset.isKnown) return charset;
  const announced = Charset.ofXml(body);
  const used = announced.isKnown ? announced : Charset.utf8;
  hints.push(
    `A SOAP message has the character set ${shortened(charset.name)}, which is not known. It was read as ${used.name}.`,
  );
  return used;
}
