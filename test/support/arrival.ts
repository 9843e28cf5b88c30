import { EventFactory, type EventContent, type RecordedCall } from '../../src/events/event';
import { eventPayload, type Payload } from '../../src/events/payload';

/** The parts of a call from which an event is made that a test gives. */
export type GivenArrival = Partial<Omit<RecordedCall, 'remoteAddress'> & Pick<EventContent, 'attributes'>> & {
  readonly payload?: Payload | undefined;
};

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
  const value = payload !== undefined && 'json' in payload ? payload.value : undefined;
  return [
    call,
    {
      attributes,
      payload: payload && eventPayload(payload),
      sender: EventFactory.senderFacts({ ...call, signedBy: call.caller?.signedBy }, value),
    },
  ];
}
