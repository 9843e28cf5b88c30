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
  const { xml, hints } = decodeMessage(body, mediaType?.charset);
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
function decodeMessage(body: Buffer, given: Charset | undefined) {
  // One with an empty name counts as none.
  const named = Charset.ofXml(body, given?.name && !given.isDeniedBy(body) ? given : undefined);
  const charset = named.isKnown ? named : announcedCharset(body);
  const text = charset.decode(body);
  const hints: string[] = [];
  if (!named.isKnown)
    hints.push(
      `A SOAP message has the character set ${shortened(named.name)}, which is not known. It was read as ${charset.name}.`,
    );
  if (text === undefined)
    hints.push(
      `A SOAP message is not valid ${shortened(charset.name)}, its character set. What could not be read may be recorded wrong.`,
    );
  return { xml: withoutNuls(text ?? charset.decodeAnyway(body)), hints };
}

function announcedCharset(body: Buffer): Charset {
  const announced = Charset.ofXml(body);
  return announced.isKnown ? announced : Charset.utf8;
}

function withoutNuls(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0) end--;
  return end === text.length ? text : text.slice(0, end);
}
