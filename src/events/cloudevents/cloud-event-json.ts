import type { Payload } from '../payload';
import { CloudEventError, senderAttributes, type SenderAttributes } from './cloud-event';
import { elementTexts, hasTooManyParts, memberTexts } from './json-text';

/** A CloudEvent as a sender wrote it. */
export interface ParsedCloudEvent {
  readonly attributes: SenderAttributes;
  readonly payload: Payload | undefined;
}

/** Most events in a batch: as many as GetEvents can be set to return, so that what it gives can be sent back. */
const MAX_BATCH_EVENTS = 10_000;
const MAX_BATCH_PARTS = 300_000;

/**
 * Reads a batch of CloudEvents in the JSON format (CloudEvents 1.0 JSON format, section 4): an array of events, which may
 * be empty.
 *
 * @throws {CloudEventError} it is not an array, has more than 10,000 events or 300,000 JSON objects, arrays and members, or
 * an event in it is not valid; the message names the first such event by its number, counted from 1.
 */
export function cloudEventBatchOf(json: string): ParsedCloudEvent[] {
  if (hasTooManyParts(json, MAX_BATCH_PARTS)) {
    throw new CloudEventError('The batch of CloudEvents has more than 300,000 objects, arrays and members.');
  }
  const events = parseJsonArray(json);
  if (events.length > MAX_BATCH_EVENTS) {
    throw new CloudEventError(
      `The batch has ${String(events.length)} CloudEvents. Send at most ${String(MAX_BATCH_EVENTS)} at a time.`,
    );
  }
  const texts = elementTexts(json);
  return events.map((event, i) => {
    try {
      return cloudEventOf(texts[i] ?? '', objectOf(event));
    } catch (error) {
      if (!(error instanceof CloudEventError)) throw error;
      throw new CloudEventError(`Event ${String(i + 1)} of the batch: ${error.message}`);
    }
  });
}

/**
 * Reads the text of a JSON object.
 *
 * @throws {CloudEventError} the text is anything else.
 */
export function parseJsonObject(json: string | undefined): Record<string, unknown> {
  return objectOf(parse(json ?? ''));
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
  const bytes = bytesOf(data, base64);
  if (bytes !== undefined) return { attributes, payload: { mediaType: undefined, bytes } };
  const text = data === undefined ? undefined : memberTexts(json).get('data')?.value.trim();
  return { attributes, payload: text === undefined ? undefined : { mediaType: undefined, json: text } };
}

/**
 * Reads the `data_base64` of an event, if it has one, which must not have `data` beside it.
 *
 * @throws {CloudEventError} it has both, or `data_base64` is not base64.
 */
export function bytesOf(data: unknown, base64: unknown): Buffer | undefined {
  if (base64 === undefined || base64 === null) return undefined;
  if (data !== undefined) throw new CloudEventError('The CloudEvent has both data and data_base64.');
  if (typeof base64 !== 'string' || base64.length % 4 !== 0 || !/^[A-Za-z\d+/]*={0,2}$/.test(base64)) {
    throw new CloudEventError("The CloudEvent's member data_base64 must be a base64 string.");
  }
  return Buffer.from(base64, 'base64');
}

function parseJsonArray(json: string): unknown[] {
  const parsed = parse(json);
  if (Array.isArray(parsed)) return parsed as unknown[];
  throw new CloudEventError('The batch of CloudEvents is not a JSON array.');
}

function objectOf(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new CloudEventError('The CloudEvent is not a JSON object.');
}

/** Undefined if the text is not JSON. */
function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
