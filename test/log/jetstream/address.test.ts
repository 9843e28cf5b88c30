import { jetStreamAddress } from '../../../src/log/jetstream/address';

it('an address of a NATS stream has percent-encoded user and password', () => {
  expect(jetStreamAddress('tls://us%3Aer:p%40ss%2F%25@h1,h2:4223,[::1]:4224/EVENTS?replicas=3')).toEqual({
    servers: ['h1:4222', 'h2:4223', '[::1]:4224'],
    tls: true,
    user: 'us:er',
    password: 'p@ss/%',
    stream: 'EVENTS',
    replicas: 3,
  });
});

it('an address of a NATS stream needs neither a user nor a number of replicas', () => {
  expect(jetStreamAddress('nats://localhost/EVENTS')).toEqual({
    servers: ['localhost:4222'],
    tls: false,
    user: undefined,
    password: undefined,
    stream: 'EVENTS',
    replicas: 1,
  });
});
