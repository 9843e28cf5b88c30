import type { EventContent, RecordedCall } from '../../src/events/event';

/** The parts of a call from which an event is made that a test gives. */
export type GivenArrival = Partial<Omit<RecordedCall, 'remoteAddress'> & EventContent>;

/** A call from which an event is made and its content, as `EventFactory.make` takes them. */
export function arrivalOf({ attributes, payload, ...given }: GivenArrival): [RecordedCall, EventContent] {
  const call: RecordedCall = {
    binding: 'httppost',
    method: 'POST',
    target: '/x?y=1',
    headers: {},
    remoteAddress: () => '192.0.2.1',
    ...given,
  };
  return [call, { attributes, payload }];
}
