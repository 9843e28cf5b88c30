import { readConfig } from '../../src/config/config';
import { openServiceWarnings } from '../../src/access/local-callers';

const KEY = 'a-key-of-sixteen-or-more';
const RECORD = expect.stringContaining(
  'may record events: set RECORD_KEYS, WEBHOOK_SECRETS or the secrets of a sender',
) as string;
const READ = expect.stringContaining('may read events and metrics: set READ_KEYS') as string;

describe('the warnings of an open service', () => {
  it.each<Record<string, string>>([
    { HOST: '0.0.0.0' },
    { HOST: '::' },
    { HOST: '192.0.2.1' },
    { HOST: 'hooks.example.com' },
    { TRUST_PROXY: '1' },
    { TRUST_PROXY: 'loopback' },
    { BASE_URL: 'https://hooks.example.com' },
    { HOST: '::1', BASE_URL: 'http://192.0.2.1:8080' },
    { HOST: '0.0.0.0', TRUST_PROXY: '1', TLS_CERT: 'c.pem', TLS_KEY: 'k.pem', TLS_CLIENT_CA: 'ca.pem' },
  ])('come for %j', (variables) => {
    expect(openServiceWarnings(readConfig(variables))).toEqual([RECORD, READ]);
    expect(openServiceWarnings(readConfig({ ...variables, READ_KEYS: KEY }))).toEqual([RECORD]);
    expect(openServiceWarnings(readConfig({ ...variables, RECORD_KEYS: KEY }))).toEqual([READ]);
    expect(openServiceWarnings(readConfig({ ...variables, WEBHOOK_SECRETS: KEY, READ_KEYS: KEY }))).toEqual([]);
    expect(openServiceWarnings(readConfig({ ...variables, SLACK_SECRETS: KEY, READ_KEYS: KEY }))).toEqual([]);
  });

  it.each<Record<string, string>>([
    {},
    { HOST: 'localhost' },
    { HOST: 'LOCALHOST' },
    { HOST: '::1' },
    { HOST: '0:0:0:0:0:0:0:1' },
    { HOST: '::ffff:127.0.0.1' },
    { HOST: '127.1.2.3' },
    { BASE_URL: 'http://localhost:8080' },
    { BASE_URL: 'http://[::1]:8080', TRUST_PROXY: '0' },
    { HOST: '0.0.0.0', TLS_CERT: 'c.pem', TLS_KEY: 'k.pem', TLS_CLIENT_CA: 'ca.pem' },
  ])('do not come for %j', (variables) => {
    expect(openServiceWarnings(readConfig(variables))).toEqual([]);
  });
});
