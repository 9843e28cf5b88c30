import type { CallContent } from '../../src/service/call';
import type { SoapMessage } from '../../src/soap/envelope-builder';
import { readMessage } from '../../src/soap/message';
import { NAMESPACE, SOAP_11_NAMESPACE, SOAP_12_NAMESPACE } from './bindings';

/** A SOAP 1.1 envelope around this. */
export const envelope = (inside: string, attributes = '') =>
  `<s:Envelope xmlns:s="${SOAP_11_NAMESPACE}"${attributes}>${inside}</s:Envelope>`;

/** A SOAP 1.1 message with this in its body and its header, in which `SOAP:` is the prefix of the envelope. */
export const message = (body: string, blocks = '', attributes = '') =>
  envelope(`${blocks && header(blocks)}<s:Body>${body}</s:Body>`, attributes);

export const header = (blocks: string) => `<s:Header>${blocks.replaceAll('SOAP:', 's:')}</s:Header>`;
export const version12 = (xml: string) => xml.replaceAll(SOAP_11_NAMESPACE, SOAP_12_NAMESPACE);

/** The element of RecordEvent around this. */
export const record = (inside: string) => `<RecordEvent xmlns="${NAMESPACE}">${inside}</RecordEvent>`;

/** Reads a SOAP message of either version as a call of RecordEvent, whatever element it has. */
export function readAnyMessage(xml: string): SoapMessage {
  return readMessage({
    body: Buffer.from(xml),
    contentType: undefined,
    contract: {
      bindings: ['soap11', 'soap12'],
      namespace: NAMESPACE,
      argumentNames: new Map(),
      recording: new Set(['RecordEvent']),
    },
    named: { soap11: 'RecordEvent', soap12: 'RecordEvent' },
  });
}

/** What RecordEvent records of a message. */
export function payloadOf(xml: string): string | undefined {
  const { payload } = readAnyMessage(xml).content as Extract<CallContent, { batch?: undefined }>;
  return payload && (JSON.parse(`{${payload.data}}`) as { data: string }).data;
}
