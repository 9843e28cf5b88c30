import type { Envelope, MessageContract } from '../../src/soap/envelope-builder';
import { readEnvelope } from '../../src/soap/message';

/** Both versions, and no operation. */
export const ANY_MESSAGE: MessageContract = {
  bindings: ['soap11', 'soap12'],
  namespace: '',
  parameters: new Map(),
  recording: new Set(),
};

/** Reads a SOAP message of either version. */
export function readAnyEnvelope(xml: string): Envelope {
  return readEnvelope(xml, ANY_MESSAGE);
}
