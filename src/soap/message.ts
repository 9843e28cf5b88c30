import { outcomeOf, type Outcome } from '../call/reader-thread';
import { eventPayload } from '../events/payload';
import { Charset } from '../http/content/charset';
import { MediaType } from '../http/content/media-type';
import type { CallContent } from '../service/call';
import { shortened } from '../util/text';
import { readXml, XmlSyntaxError } from '../xml/xml-reader';
import { EnvelopeBuilder, type Envelope, type MessageContract } from './envelope-builder';
import { FAULTS } from './fault';
import type { SoapVersion } from './soap-version';

/** A request with a SOAP message, as another thread can be given it. */
export interface SoapRequest {
  readonly body: Buffer;
  readonly contentType: string | undefined;
  readonly contract: MessageContract;
  /** The operation that the header fields name, for a message of each version. */
  readonly named: Readonly<Partial<Record<SoapVersion['binding'], string | undefined>>>;
}

/** A SOAP message that was read, and the content of its call if that records. */
export interface SoapMessage extends Omit<Envelope, 'version' | 'payload'> {
  readonly binding: SoapVersion['binding'];
  readonly content: Outcome<CallContent>;
  /** Advice to the sender, a sentence each. */
  readonly hints: readonly string[];
}

/**
 * Reads a SOAP message, and writes what a call that records keeps of it.
 *
 * @throws {Fault} as {@link readEnvelope}
 */
export function readMessage(
  { body, contentType, contract, named }: SoapRequest,
  mediaType = MediaType.parse(contentType),
): SoapMessage {
  const hints: string[] = [];
  const xml = decodeMessage(body, mediaType?.charset, (hint) => hints.push(hint));
  const envelope = readEnvelope(xml, contract);
  const { binding } = envelope.version;
  const { mandatoryHeaders, security, hasAddressing, element } = envelope;
  const operation = { namespace: contract.namespace, name: named[binding] ?? element?.name ?? '' };
  const content = contract.recording.has(operation.name)
    ? outcomeOf(() => contentOf(envelope.payload(operation)))
    : NONE;
  // Spreading the envelope takes as long as reading a short one.
  const { arguments: given } = envelope;
  return { binding, mandatoryHeaders, security, hasAddressing, element, arguments: given, hints, content };
}

const NONE: Outcome<CallContent> = { result: {} };

function contentOf({ of, content }: ReturnType<Envelope['payload']>): CallContent {
  const text = content.text(FAULTS.payloadGrowth);
  if (text === undefined) return {};
  return { payload: eventPayload({ mediaType: 'application/xml', text }), isSoapBody: of === 'body' };
}

/**
 * Decodes the body of a SOAP message. The character set is that of the byte order mark, of `Content-Type`, or the one that the
 * XML announces itself, whichever comes first in this list, or else UTF-8 (RFC 7303, section 3).
 *
 * As in the original no character set refuses a message: one that is unknown is passed over, and bytes that are not valid in theirs
 * are decoded as well as they can be. NULs after the message are ignored: programs in C send the one that ends their text.
 *
 * @param hint - called with what the sender should change.
 */
function decodeMessage(body: Buffer, given: Charset | undefined, hint: Hint): string {
  const charset = charsetOf(body, given, hint);
  let text = charset.decode(body);
  if (text === undefined) {
    text = charset.decodeAnyway(body);
    hint(
      `A SOAP message is not valid ${shortened(charset.name)}, its character set. What could not be read may be recorded wrong.`,
    );
  }
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0) end--;
  return end === text.length ? text : text.slice(0, end);
}

type Hint = (message: string) => void;

function charsetOf(body: Buffer, given: Charset | undefined, hint: Hint): Charset {
  const charset = Charset.ofXml(body, given?.name && !given.isDeniedBy(body) ? given : undefined);
  if (charset.isKnown) return charset;
  const announced = Charset.ofXml(body);
  const taken = announced.isKnown ? announced : Charset.utf8;
  hint(
    `A SOAP message has the character set ${shortened(charset.name)}, which is not known. It was read as ${taken.name}.`,
  );
  return taken;
}

/**
 * Reads a SOAP message strictly, with namespaces, and without document type declarations (SOAP 1.1, section 3; SOAP 1.2 part 1,
 * section 5).
 *
 * @throws {Fault} the text is not XML, or not a SOAP message; the fault says what is wrong and where.
 */
export function readEnvelope(xml: string, contract: MessageContract): Envelope {
  try {
    return readXml(xml, () => new EnvelopeBuilder(xml, contract)).envelope();
  } catch (error) {
    throw error instanceof XmlSyntaxError ? FAULTS.unreadable(error.message) : error;
  }
}
