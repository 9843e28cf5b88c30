import type { NewEvent } from '../../src/events/stored-event';
import type { EventLog } from '../../src/log/event-log';
import type { EventQuery } from '../../src/log/queries';

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
export const EVERY_EVENT = { limit: 1000, maxBytes: 10_000_000 } satisfies EventQuery;

/** How the one event of a call was recorded. */
export async function outcome<T>(appended: Promise<readonly [T]>): Promise<T> {
  return (await appended)[0];
}

/** Forgets all events of a log. */
export async function forgetAll(log: EventLog): Promise<void> {
  for (;;) {
    const events = await log.scan({ after: 0, limit: 1000 });
    if (events.length === 0) return;
    await log.forget(events.map(({ position }) => position));
  }
}
