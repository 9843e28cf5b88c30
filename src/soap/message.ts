import { outcomeOf, type Outcome } from '../call/reader-thread';
import { eventPayload } from '../events/payload';
import { MediaType } from '../http/content/media-type';
import type { CallContent } from '../service/call';
import type { Envelope, MessageContract } from './envelope-builder';
import { decodeMessage, readEnvelope } from './envelope-reader';
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
 * @throws {Fault} as `readEnvelope`
 */
export function readMessage(
  { body, contentType, contract, named }: SoapRequest,
  mediaType = MediaType.parse(contentType),
): SoapMessage {
  const hints: string[] = [];
  const xml = decodeMessage(body, mediaType?.charset, (hint) => hints.push(hint));
  const envelope = readEnvelope(xml, contract);
  const { binding } = envelope.version;
  const { mandatoryHeaders, security, hasAddressing, ignored, element } = envelope;
  const operation = { namespace: contract.namespace, name: named[binding] ?? element?.name ?? '' };
  const content = contract.recording.has(operation.name)
    ? outcomeOf(() => contentOf(envelope.payload(operation)))
    : NONE;
  // Spreading the envelope takes as long as reading a short one.
  const { arguments: given } = envelope;
  return { binding, mandatoryHeaders, security, hasAddressing, ignored, element, arguments: given, hints, content };
}

const NONE: Outcome<CallContent> = { result: {} };

function contentOf({ of, content }: ReturnType<Envelope['payload']>): CallContent {
  const text = content.text(FAULTS.payloadGrowth);
  if (text === undefined) return {};
  return { payload: eventPayload({ mediaType: 'application/xml', text }), isSoapBody: of === 'body' };
}
