import { xmlAttribute } from '../xml/xml';

/** An upper bound, in bytes, of what surrounds a result in any binding, except for the namespace, which occurs once. */
const ENVELOPE_BYTES = 512;

/** The most bytes that a reply has in addition to its result's text. */
export function maxBytesAroundResult(namespace: string): number {
  return ENVELOPE_BYTES + Buffer.byteLength(xmlAttribute(namespace));
}
