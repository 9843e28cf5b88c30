import { expectNoHoldUps } from './hold-ups';

// What a message makes the service compute does not depend on how it arrives: a part of them shows that for the other transports.
it.each([
  ['HTTP', 1],
  ['TLS', 5],
  ['two workers', 4],
])(
  'no message within the limits holds up callers for more than 100 ms over %s (of each %d)',
  (transport, each) => expectNoHoldUps(transport, each),
  600_000,
);
