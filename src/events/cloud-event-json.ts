import { CloudEventError, senderAttributes, type SenderAttributes } from './cloud-event';
import type { Payload } from './data-member';
import { memberText } from './json-text';

/** A CloudEvent as a sender wrote it. */
export interface ParsedCloudEvent {
  readonly attributes: SenderAttributes;
  readonly payload: Payload | undefined;
}

/**
 * Reads the text of a JSON object.
 *
 * @throws {CloudEventError} it is none.
 */
export function parseJsonObject(json: string | undefined): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(json ?? '');
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return { ...parsed };
  } catch {
    // Told below, as for JSON that is no object.
  }
  throw new CloudEventError('The CloudEvent is not a JSON object.');
}

/**
 * Reads a CloudEvent in the JSON format (CloudEvents 1.0), given as text and as what that text parses to. Its data is
 * taken from the text, so that numbers keep their digits.
 *
 * @throws {CloudEventError} it is not valid.
 */
export function cloudEventOf(json: string, members: Readonly<Record<string, unknown>>): ParsedCloudEvent {
  const { data, data_base64: base64, ...given } = members;
  const attributes = senderAttributes(given);
  if (base64 === undefined || base64 === null) {
    const text = data === undefined ? undefined : memberText(json, 'data');
    return { attributes, payload: text === undefined ? undefined : { mediaType: undefined, json: text } };
  }
  if (data !== undefined) throw new CloudEventError('The CloudEvent has both data and data_base64.');
  if (typeof base64 !== 'string' || base64.length % 4 !== 0 || !/^[A-Za-z\d+/]*={0,2}$/.test(base64)) {
    throw new CloudEventError("The CloudEvent's member data_base64 must be a base64 string.");
  }
  return { attributes, payload: { mediaType: undefined, bytes: Buffer.from(base64, 'base64') } };
}
