import { ValueError } from '../../../src/util/errors';
import { jetStreamAddress } from '../../../src/log/jetstream/address';

it('an address of a NATS stream has percent-encoded user and password', () => {
  expect(jetStreamAddress('tls://us%3Aer:p%40ss%2F%25@h1,h2:4223,[::1]:4224/EVENTS?replicas=3')).toEqual({
    servers: ['h1:4222', 'h2:4223', '[::1]:4224'],
    tls: true,
    login: { user: 'us:er', password: 'p@ss/%' },
    stream: 'EVENTS',
    replicas: 3,
  });
});

it('an address of a NATS stream needs neither a user nor a number of replicas', () => {
  expect(jetStreamAddress('nats://localhost/EVENTS')).toEqual({
    servers: ['localhost:4222'],
    tls: false,
    login: undefined,
    stream: 'EVENTS',
    replicas: 1,
  });
});

it.each([
  ['nats://to%3Aken@localhost/EVENTS', { token: 'to:ken' }],
  ['nats://localhost/EVENTS?creds=/etc/webhook/nats.creds&replicas=3', { file: '/etc/webhook/nats.creds' }],
])('an address of a NATS stream has a token or a file of credentials: %s', (address, login) => {
  expect(jetStreamAddress(address)).toMatchObject({ login });
});

it.each(['nats://token@localhost/EVENTS?creds=a', 'nats://localhost/EVENTS?creds=', 'nats://localhost/EVENTS?cred=a'])(
  'an address of a NATS stream is refused where its parameters cannot be used: %s',
  (address) => {
    expect(() => jetStreamAddress(address)).toThrow(ValueError);
  },
);
