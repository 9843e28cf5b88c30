import { parseTime } from '../util/time';
import { CloudEventError } from './cloudevents/attributes';
import { attributesIn, type Members, membersIn, payloadIn, valueIn } from './cloudevents/sent-event';
import { EventFactory } from './event';
import { dataMember } from './payload';
import { type NewEvent, positionIn, StoredEvent } from './stored-event';

/** The member with what the log keeps beside the event; no attribute can have this name. */
const LOG = '_log';
const LOG_MEMBERS: readonly string[] = ['recordedAt', 'idempotencyKey', 'webhookId', 'arrival'];

/** The characters of header fields, after lines that say what a key applies to. Others would be replaced: two keys could become one. */
const KEY = /^(?:[^\p{Cc}\p{Surrogate}]*\n){0,5}[\t\x20-\xff]*$/u;

/** One line of an archive: an event with everything that the log keeps of it, or any other CloudEvent in the JSON format. */
export const ArchiveLine = {
  /**
   * Writes the line of an event, without its line feed: the CloudEvent as GetEvents gives it, and one more member, `_log`, an object
   * of `recordedAt` (RFC 3339), `idempotencyKey`, `webhookId` and `arrival`.
   */
  of(this: void, event: StoredEvent): string {
    const { arrival, idempotencyKey, webhookId } = event;
    const recordedAt = new Date(event.recordedAt).toISOString();
    const log = JSON.stringify({ recordedAt, idempotencyKey, webhookId }).slice(0, -1);
    return `${StoredEvent.json(event).slice(0, -1)},"${LOG}":${log},"arrival":${arrival}}}`;
  },

  /**
   * Reads the event that was written, to the byte, and its position, if the line has one. Any other CloudEvent is read as if it came from a
   * sender now.
   *
   * @throws {CloudEventError} it is not a valid CloudEvent, or its `_log` is not one that this version knows.
   */
  read(text: string): { readonly event: NewEvent; readonly position: number | undefined } {
    const members = membersIn('The CloudEvent', text);
    const event = members.has(LOG) ? archivedEvent(members) : EventFactory.read(text);
    return { event, position: positionIn(String(valueIn(members, 'sequence'))) };
  },
};

function archivedEvent(members: Members): NewEvent {
  const log = membersIn(`The member ${LOG}`, members.get(LOG));
  const unknown = [...log.keys()].find((name) => !LOG_MEMBERS.includes(name));
  if (unknown !== undefined)
    throw new CloudEventError(`The member ${LOG} has ${unknown}, which this version does not know.`);
  const time = valueIn(log, 'recordedAt');
  const recordedAt = typeof time === 'string' ? parseTime(time) : undefined;
  if (recordedAt === undefined)
    throw new CloudEventError(`The member recordedAt in ${LOG} must be a time as in RFC 3339.`);
  const arrival = log.get('arrival')?.trim() ?? '';
  membersIn('The member arrival', arrival);
  // Those that the log added are within the rules for senders too.
  const attributes = attributesIn(members, ['sequence', 'data', 'data_base64', LOG]);
  const payload = payloadIn(members);
  return {
    id: attributes.id,
    source: attributes.source,
    attributes: JSON.stringify(attributes),
    data: payload && dataMember(payload),
    arrival,
    recordedAt,
    idempotencyKey: keyIn(log, 'idempotencyKey'),
    webhookId: keyIn(log, 'webhookId'),
  };
}

/** An empty key is no key: it would make one event of all that have it. */
function keyIn(log: Members, name: string): string | undefined {
  const value = valueIn(log, name);
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') throw new CloudEventError(`The member ${name} in ${LOG} must be a string.`);
  if (KEY.test(value)) return value;
  throw new CloudEventError(`The member ${name} in ${LOG} must hold only what a header field may hold.`);
}
