import { ValueError } from '../../../src/util/errors';
import { jetStreamAddress } from '../../../src/log/jetstream/address';

it.each([
  [
    'tls://us%3Aer:p%40ss%2F%25@H1,h2:4223,[FE80::1]:4224/EVENTS?replicas=3',
    {
      servers: ['H1:4222', 'h2:4223', '[fe80::1]:4224'],
      tls: true,
      login: { user: 'us:er', password: 'p@ss/%' },
      replicas: 3,
    },
  ],
  ['nats://localhost/EVENTS', { servers: ['localhost:4222'], tls: false, login: undefined, replicas: 1 }],
  ['nats://to%3Aken@localhost/EVENTS', { login: { token: 'to:ken' } }],
  ['nats://localhost/EVENTS?creds=/etc/nats.creds&replicas=2', { login: { file: '/etc/nats.creds' }, replicas: 2 }],
])('an address of a NATS stream: %s', (text, address) => {
  expect(jetStreamAddress(text)).toMatchObject({ stream: 'EVENTS', ...address });
});

it.each([
  'nats://token@localhost/EVENTS?creds=a',
  'nats://localhost/EVENTS?creds=',
  'nats://localhost/EVENTS?cred=a',
  'nats://localhost/EVENTS?replicas=10',
  'nats://localhost/EVENTS?replicas=0',
  'nats://a:b:c@localhost/EVENTS',
  'nats://:b@localhost/EVENTS',
  'nats://local host/EVENTS',
  `nats://localhost/${'E'.repeat(65)}`,
])('an address of a NATS stream is refused where a part of it cannot be used: %s', (address) => {
  expect(() => jetStreamAddress(address)).toThrow(ValueError);
});
