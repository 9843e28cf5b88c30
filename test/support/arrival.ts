import type { Arrival } from '../../src/events/event';

/** A call from which an event is made, with what a test gives it. */
export function arrivalOf(given: Partial<Arrival>): Arrival {
  return {
    binding: 'httppost',
    method: 'POST',
    target: '/x?y=1',
    headers: {},
    remoteAddress: '192.0.2.1',
    attributes: undefined,
    payload: undefined,
    ...given,
  };
}
