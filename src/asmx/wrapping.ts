import { xmlAttribute } from './xml';

/** More than the envelope around a result takes in any binding, without the namespace that stands in it once. */
const ENVELOPE_BYTES = 512;

/** Most bytes that a reply has beside the text of its result. */
export function wrappingBytes(namespace: string): number {
  return ENVELOPE_BYTES + Buffer.byteLength(xmlAttribute(namespace));
}
