import type { NewEvent } from '../../src/events/stored-event';
import type { EventQuery } from '../../src/log/log-reader';

let made = 0;

/** An event with an id of its own. */
export function newEvent(given: Partial<NewEvent> = {}): NewEvent {
  const { id = `event-${String(++made)}`, source = '/test' } = given;
  return {
    id,
    source,
    attributes: JSON.stringify({ specversion: '1.0', id, source, type: 'test' }),
    data: undefined,
    arrival: '{}',
    recordedAt: 1_700_000_000_000,
    idempotencyKey: undefined,
    webhookId: undefined,
    ...given,
  };
}

/** The query for the events of a log, as long as those are few. */
export const everyEvent = {
  limit: 1000,
  maxBytes: 10_000_000,
} satisfies EventQuery;
