import type { CallContent } from '../../src/service/call';
import type { SoapMessage } from '../../src/soap/envelope-builder';
import { readMessage } from '../../src/soap/message';
import { NAMESPACE } from './bindings';

/** Reads a SOAP message of either version as a call of RecordEvent, whatever element it has. */
export function readAnyMessage(xml: string): SoapMessage {
  return readMessage({
    body: Buffer.from(xml),
    contentType: undefined,
    contract: {
      bindings: ['soap11', 'soap12'],
      namespace: NAMESPACE,
      parameters: new Map(),
      recording: new Set(['RecordEvent']),
    },
    named: { soap11: 'RecordEvent', soap12: 'RecordEvent' },
  });
}

/** What RecordEvent records of a message. */
export function payloadOf(xml: string): string | undefined {
  const { content } = readAnyMessage(xml);
  if (content.thrown !== undefined) throw new Error(content.thrown.message);
  const { payload } = content.result as Extract<CallContent, { batch?: undefined }>;
  return payload && (JSON.parse(`{${payload.data}}`) as { data: string }).data;
}
