import { CloudEventError } from './cloud-event';
import { cloudEventOf, parseJsonObject } from './cloud-event-json';
import { dataMember } from './data-member';
import type { NewEvent, StoredEvent } from './event-log';

/**
 * Writes an event with everything that the log keeps of it as one CloudEvent on one line, without its line feed. What the
 * log knows beyond the event stands in extension attributes: `sequence`, `recordedtime`, `arrival` (JSON in a string),
 * `idempotencykey` and `webhookid`.
 */
export function archiveLine(event: StoredEvent): string {
  const { sequence, recordedAt, arrival, idempotencyKey, webhookId } = event;
  const known = JSON.stringify({
    sequence,
    recordedtime: new Date(recordedAt).toISOString(),
    arrival,
    idempotencykey: idempotencyKey,
    webhookid: webhookId,
  });
  const data = event.data === undefined ? '' : `,${event.data}`;
  return `${event.attributes.slice(0, -1)},${known.slice(1, -1)}${data}}`;
}

/**
 * Reads what {@link archiveLine} writes, and any other CloudEvent in the JSON format. The event gets a new position; an
 * event that does not say when it was recorded is recorded now.
 *
 * @throws {CloudEventError} the line is no valid CloudEvent.
 */
export async function parseArchiveLine(line: string): Promise<NewEvent> {
  const { recordedtime, arrival, idempotencykey, webhookid, ...members } = parseJsonObject(line);
  delete members.sequence;
  const { attributes, payload } = cloudEventOf(line, members);
  const recordedAt = recordedtime === undefined ? Date.now() : Date.parse(text('recordedtime', recordedtime) ?? '');
  if (Number.isNaN(recordedAt)) throw new CloudEventError("The CloudEvent's attribute recordedtime must be a time.");
  return {
    id: attributes.id,
    source: attributes.source,
    attributes: JSON.stringify(attributes),
    data: payload && (await dataMember(payload)),
    arrival: text('arrival', arrival) ?? '{}',
    recordedAt,
    idempotencyKey: text('idempotencykey', idempotencykey),
    webhookId: text('webhookid', webhookid),
  };
}

function text(name: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw new CloudEventError(`The CloudEvent's attribute ${name} must be a string.`);
}
