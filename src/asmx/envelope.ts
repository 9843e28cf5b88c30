import { breathe } from '../turns';
import { EnvelopeReader } from './envelope-reader';
import type { SoapVersion } from './soap-version';
import type { SecurityHeader } from './ws-security';

/** A header block (SOAP 1.2 part 1, section 5.2) that is addressed to this service and must be understood. */
export interface MandatoryHeader {
  readonly namespace: string;
  readonly name: string;
}

/** A SOAP message as the service needs it. */
export interface Envelope {
  readonly version: SoapVersion;
  /** Those that must be understood, without WS-Security headers. */
  readonly mandatoryHeaders: readonly MandatoryHeader[];
  /** The WS-Security header that is addressed to this service; undefined: none. */
  readonly security: SecurityHeader | undefined;
  /** Namespace and local name of the first element in the body; undefined: the body is empty. */
  readonly element: { readonly namespace: string; readonly name: string } | undefined;
  /** True where there is neither a header nor a payload: then callers send the same message every time. */
  readonly isPlain: boolean;
  /**
   * What stands inside the body's element when that has the name of the operation, otherwise what stands in the body, as
   * an XML fragment that needs no declaration from outside. Undefined: nothing but white space and comments.
   */
  payload(operation: { readonly namespace: string; readonly name: string }): string | undefined;
}

/** Reads envelopes one after the other: making a parser costs as much as reading a small message with it. */
let reader: EnvelopeReader | undefined;

/**
 * Reads a SOAP 1.1 or 1.2 message: strictly, with namespaces, and without document type declarations (SOAP 1.1,
 * section 3; SOAP 1.2 part 1, section 5).
 *
 * @throws {Fault} the text is no XML, or no SOAP message; it says what is wrong and where.
 */
export function readEnvelope(xml: string): Envelope {
  const current = reader ?? new EnvelopeReader();
  // One that stopped at a mistake stands in the middle of a message and is not used again.
  reader = undefined;
  current.begin(xml);
  current.write(xml);
  const envelope = current.close();
  reader = current;
  return envelope;
}

/** Characters of a large message that are read at once: at most 20 ms of work, whatever they are (measured). */
const SLICE = 64 * 1024;

/** As {@link readEnvelope}, for a large message: between parts of it other calls go on. */
export async function readLargeEnvelope(xml: string): Promise<Envelope> {
  const reader = new EnvelopeReader();
  reader.begin(xml);
  for (let start = 0; start < xml.length;) {
    const end = sliceEnd(xml, start + SLICE);
    reader.write(xml.slice(start, end));
    start = end;
    await breathe();
  }
  return reader.close();
}

/** Not between the halves of a character or of a line break: the parser's count of characters would be off by one. */
function sliceEnd(xml: string, end: number): number {
  const last = xml.charCodeAt(end - 1);
  return last === CARRIAGE_RETURN || (last >= 0xd800 && last < 0xdc00) ? end + 1 : end;
}

const CARRIAGE_RETURN = 0x0d;
