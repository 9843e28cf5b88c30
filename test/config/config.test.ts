import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readConfig } from '../../src/config/config';
import { ConfigError } from '../../src/config/variable';
import { useTemporaryFolder } from '../support/temporary-folder';

describe('the configuration', () => {
  // The other defaults are texts of the table, with which the document is compared.
  it('has the documented defaults', () => {
    expect(readConfig({})).toMatchObject({
      path: '/webhooks/Services/WebHooks.asmx',
      off: [],
      trustProxy: 0,
      protocols: new Set(['soap11', 'soap12', 'httpget', 'httppost']),
      eventLog: { name: resolve('data/events.db'), engine: 'SQLite' },
      eventLogSettings: { timeout: 5000, isShared: false, retention: { maxEvents: undefined, maxAge: undefined } },
      access: {},
      tls: undefined,
      limits: { maxBodyMemory: 33_554_432, headersTimeout: 20_000, sendTimeout: 30_000, rate: undefined },
      admin: undefined,
    });
  });

  it('derives limits from others', () => {
    const { limits } = readConfig({ MAX_REQUEST_BYTES: '1048576', REQUEST_TIMEOUT: '10s' });
    expect(limits).toMatchObject({ maxBodyMemory: 8_388_608, headersTimeout: 10_000, sendTimeout: 10_000 });
  });

  it('treats an empty variable as not set', () => {
    expect(readConfig({ PORT: '', SERVICE_ROOT: '' }).port).toBe(8080);
  });

  it('leaves out spaces around a value, which `set A=B && node` of Windows sets, but not in a password', () => {
    const spaced = { PORT: '8081 ', EVENT_LOG: 'sqlite:data/e.db ', EVENT_LOG_PASSWORD: 'secret ' };
    const { port, eventLog, eventLogServer } = readConfig(spaced);
    expect([port, eventLog.name, eventLogServer.password]).toEqual([8081, resolve('data/e.db'), 'secret ']);
  });

  it('reads TRUST_PROXY as a number of hops or as a list of networks', () => {
    expect(readConfig({ TRUST_PROXY: '2' }).trustProxy).toBe(2);
    expect(readConfig({ TRUST_PROXY: 'loopback, 10.0.0.0/8' }).trustProxy).toEqual(['loopback', '10.0.0.0/8']);
  });

  it('reads PROTOCOLS in any letter case, and tells what is switched off', () => {
    const config = readConfig({ PROTOCOLS: 'HttpPost, soap11,soap11', DOCUMENTATION: 'false' });
    expect([...config.protocols]).toEqual(['soap11', 'httppost']);
    expect(config.off).toEqual(['soap12', 'httpget', 'documentation']);
  });

  it.each([
    ['30d', 2_592_000_000],
    ['P1DT12H', 129_600_000],
    ['P2W', 1_209_600_000],
    ['PT1M30S', 90_000],
  ])('reads RETENTION_MAX_AGE=%s as %i milliseconds', (value, milliseconds) => {
    expect(readConfig({ RETENTION_MAX_AGE: value }).eventLogSettings.retention?.maxAge).toBe(milliseconds);
  });

  it.each([
    ['https://h', 'https://h'],
    ['HTTPS://Hooks.Example.com:8443/a/b/', 'https://hooks.example.com:8443/a/b'],
    ['http://127.0.0.1:80/', 'http://127.0.0.1'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
    ['https://b\u00fccher.example', 'https://xn--bcher-kva.example'],
    ['https://h/%20a~', 'https://h/%20a~'],
  ])('accepts BASE_URL=%s', (value, baseUrl) => {
    expect(readConfig({ BASE_URL: value }).baseUrl).toBe(baseUrl);
  });

  it.each<[string, string, string, object?]>([
    ['PORT', '65536', 'a whole number from 0 to 65535'],
    ['SERVICE_ROOT', 'a/b', 'without slashes'],
    ['SERVICE_ROOT', '..', 'without slashes'],
    ['SERVICE_NAMESPACE', 'urn:a\u0001', 'must be a namespace without'],
    ['SERVICE_NAMESPACE', 'urn:{address}', 'must be a namespace without'],
    ['SERVICE_NAMESPACE', 'http://www.w3.org/2001/XMLSchema', 'a namespace of your own'],
    ['SERVICE_NAMESPACE', 'http://schemas.xmlsoap.org/wsdl/', 'a namespace of your own'],
    ['BASE_URL', 'ftp://x', 'http or https'],
    ['BASE_URL', 'https://x/?a', 'without query'],
    ...[
      'https://h/a#b',
      'https://user:pass@h',
      'https:h',
      'https://h\\a',
      'https://h/a b',
      'https://h/a/../b',
      'https://h/%2e%2e/a',
      'https://h:99999',
      'https://1',
    ].map((value): [string, string, string] => ['BASE_URL', value, 'an http or https address']),
    ['HOST', '[::1]', 'a host name or an IP address'],
    ['TRUST_PROXY', 'loopback,10.0.0.0/99', 'a number of hops'],
    ['EVENT_LOG', 'events.db', 'sqlite:'],
    ['EVENT_LOG', 'nats://h:4222/A.B', 'must name the stream'],
    ['EVENT_LOG', 'nats://h,h:99999/A', 'host:port'],
    ['EVENT_LOG', 'nats://h/A?replicas=6', 'a number from 1 to 5'],
    ['EVENT_LOG_TIMEOUT', '5', 'needs a unit, as in 5s'],
    ['EVENT_TYPE', 'a b', 'without spaces'],
    ['ALLOWED_HOSTS', 'hooks.example:80', 'a list of host names without ports'],
    ['GET_EVENTS_LIMIT', '0', 'a whole number from 1'],
    ['GET_EVENTS_MAX_BYTES', '1000', 'a whole number from 8000'],
    ['RETENTION_MAX_EVENTS', '0', 'a whole number from 1'],
    ['RETENTION_MAX_AGE', '0d', 'must be longer than 0'],
    ['RETENTION_MAX_AGE', 'P', 'a duration, as in 30d'],
    ['RETENTION_MAX_AGE', 'P1DT', 'a duration, as in 30d'],
    ['RETENTION_MAX_AGE', 'P1M', 'a duration, as in 30d'],
    ['MAX_REQUEST_BYTES', '4MB', 'a whole number'],
    ['REQUEST_TIMEOUT', '2h', 'a duration from 50ms to 1h'],
    ['REQUEST_TIMEOUT', '49ms', 'a duration from 50ms to 1h'],
    ['MAX_BODY_MEMORY', '1048576', 'not be less than MAX_REQUEST_BYTES'],
    ['PROTOCOLS', ',', 'one at least'],
    ['PROTOCOLS', 'soap11,rest', 'a list of soap11, soap12, httpget, httppost, one at least'],
    ['DOCUMENTATION', 'off', 'true or false'],
    ['RATE_LIMIT', '100', 'a number of calls and a duration'],
    ['RATE_LIMIT', '0/1m', 'a number of calls and a duration'],
    ['RATE_LIMIT', '9/999ms', 'a duration of at least 1s'],
    ['HOST', 'localhost:8080', 'the port has a variable of its own'],
    ['ADMIN_HOST', '127.0.0.1', 'needs ADMIN_PORT'],
    ['SERVICE_ROOT', '"hooks"', 'remove the quotes'],
    ['BASE_URL', 'https://h/outer/hooks/services/webhooks.asmx?WSDL', 'leave out hooks/services/webhooks.asmx?WSDL'],
    ['LOG_LEVEL', 'loud', 'debug, info, warn, error or silent'],
    ['RECORD_KEYS_FILE', '/is/not/there', 'cannot be read: there is no such file'],
    ['WEBHOOK_ORIGINS', '*', 'needs httppost in PROTOCOLS', { PROTOCOLS: 'soap11' }],
    ['RECORD_ANSWER', 'empty', 'needs httppost in PROTOCOLS', { PROTOCOLS: 'soap11' }],
    ['RECORD_PATHS', 'true', 'needs httppost in PROTOCOLS', { PROTOCOLS: 'soap11,httpget' }],
    ['SENDER_HANDSHAKES', 'slack,none', 'a list of slack, websub, msgraph, eventgrid, salesforce, trello'],
    ['SENDER_HANDSHAKES', 'slack', 'needs httppost in PROTOCOLS for slack', { PROTOCOLS: 'httpget' }],
    ['SENDER_HANDSHAKES', 'trello', 'needs httpget in PROTOCOLS for trello', { PROTOCOLS: 'httppost' }],
    ['PORT', '0', 'must not be 0 with WORKERS', { WORKERS: '2' }],
    ['WORKERS', '2', 'must be 1 with EVENT_LOG=memory:, as each process would have', { EVENT_LOG: 'memory:' }],
    ['ADMIN_PORT', '80', 'must not be the same as PORT', { PORT: '80' }],
    ['ADMIN_PORT', '80', 'must not be the same as PORT', { PORT: '80', HOST: '0.0.0.0' }],
    ['ADMIN_PORT', '80', 'must not be the same as PORT', { PORT: '80', ADMIN_HOST: '::' }],
  ])('refuses %s=%s, with the name, the value and what is allowed', (name, value, allowed, others = {}) => {
    const read = () => readConfig({ ...others, [name]: value });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(`${name}=${value}: `);
    expect(read).toThrow(allowed);
  });

  describe('with secrets', () => {
    const folder = useTemporaryFolder();

    it('reads a list, or a file with a list', async () => {
      const file = join(folder.path, 'keys');
      await writeFile(file, 'first-key-of-sixteen\r\nsecond-key-of-sixteen\n');
      const { access } = readConfig({ RECORD_KEYS: 'one-key-of-sixteen, another-key-of-it', READ_KEYS_FILE: file });
      expect(access.recordKeys).toEqual(['one-key-of-sixteen', 'another-key-of-it']);
      expect(access.readKeys).toEqual(['first-key-of-sixteen', 'second-key-of-sixteen']);
      expect(() => readConfig({ READ_KEYS: 'a-key-of-sixteen-or-more', READ_KEYS_FILE: file })).toThrow(
        `READ_KEYS_FILE=${file}: must not be set together with READ_KEYS`,
      );
    });

    it.each([
      ["It's a Secret to Everybody", ["It's a Secret to Everybody"]],
      [" It's a Secret to Everybody , another secret of it\n", ["It's a Secret to Everybody", 'another secret of it']],
      ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']],
    ])('reads WEBHOOK_SECRETS=%j', async (value, webhookSecrets) => {
      expect(readConfig({ WEBHOOK_SECRETS: value }).access).toMatchObject({ webhookSecrets });
      const file = join(folder.path, 'secrets');
      await writeFile(file, value.replaceAll(',', '\r\n'));
      expect(readConfig({ WEBHOOK_SECRETS_FILE: file }).access).toMatchObject({ webhookSecrets });
    });

    it.each([
      ['RECORD_KEYS', 'short', '16 to 256'],
      ['READ_KEYS', 'long-enough-but-with a space', 'without spaces'],
      // The first of two keys is not the name of the second.
      ['READ_KEYS', 'a-key-of-sixteen another-key-of-it', 'without spaces'],
      ['WEBHOOK_SECRETS', 'whsec_not-base-64-at-all', 'base64'],
      ['WEBHOOK_SECRETS', 'WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'after whsec_'],
      ['WEBHOOK_SECRETS', 'whsec_MfKQ9r8GKYqrTwjUPD8I', '16 bytes'],
      ['WEBHOOK_SECRETS', 'rk_live_0123456789abcdef', 'not an API key'],
      ['WEBHOOK_SECRETS', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwM', 'base64'],
      ['WEBHOOK_SECRETS', 'whpk_Sy8lLHV2nY7YSvU9d2r4mjsVlFoFnaZIzzSLI0PTuU8=', 'the secret that is shared with'],
      ['WEBHOOK_SECRETS', '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbL', 'PEM'],
      ['WEBHOOK_SECRETS', 'a secret\twith a tab', 'printable'],
      ['READ_KEYS', "a-key-of-sixteen-or-more,'another-key-of-sixteen'", 'remove the quotes'],
      [
        'WEBHOOK_SECRETS',
        'a secret of sixteen,whsec_not-base-64,another secret of it',
        'number 2 of the list is wrong',
      ],
      ['FORWARD_SECRETS', `whsec_${'A'.repeat(32)},whsec_short`, 'number 2 of the list is wrong'],
      ['STRIPE_SECRETS', 'sk_live_0123456789abcdef', 'whsec_…), not an API key'],
      ['SLACK_SECRETS', 'xoxb-0123456789abcdef', 'not an API key'],
      ['SLACK_SECRETS', 'xapp-0123456789abcdef', 'not an API key'],
      ['SHOPIFY_SECRETS', 'shpat_0123456789abcdef', 'not an API key'],
    ])('refuses %s=%s without printing it', (name, value, allowed) => {
      const read = () => readConfig({ [name]: value });
      expect(read).toThrow(allowed);
      expect(read).toThrow(new RegExp(`^${name}: `));
      expect(read).not.toThrow(value);
    });
  });

  it.each([
    { PORT: '8080', ADMIN_PORT: '8080', ADMIN_HOST: '127.0.0.2' },
    { PORT: '0', ADMIN_PORT: '0' },
    { EVENT_LOG: 'memory:', WORKERS: '1' },
    { REQUEST_TIMEOUT: '50ms', KEEP_ALIVE_TIMEOUT: '1h', RATE_LIMIT: '1/1s', MAX_BODY_MEMORY: '4194304' },
    { RECORD_PATHS: 'FALSE', RECORD_ANSWER: 'ID', PROTOCOLS: 'soap11' },
    {
      RECORD_KEYS: `a-name-of-15-to k${'x'.repeat(15)},${'x'.repeat(256)}`,
      WEBHOOK_SECRETS: `whsec_${'A'.repeat(22)}`,
    },
  ])('accepts %j', (settings) => {
    expect(() => readConfig(settings)).not.toThrow();
  });

  it('requires a certificate and its key together', () => {
    expect(() => readConfig({ TLS_CERT: 'cert.pem' })).toThrow('TLS_KEY: must be set together with TLS_CERT');
    expect(() => readConfig({ TLS_KEY: 'key.pem' })).toThrow('TLS_CERT: must be set');
    expect(() => readConfig({ TLS_CLIENT_CA: 'ca.pem' })).toThrow('TLS_CERT: must be set');
  });

  it.each([
    'nats://user:Geheim@h:4222',
    'nats://user:%Geheim@h/A',
    'nuts://user:Geheim@h/A',
    'nats://h/A?password=Geheim&replicas=3',
    'nuts://h/A?replicas=Geheim',
  ])('never shows the password in %s', (value) => {
    const read = () => readConfig({ EVENT_LOG: value });
    expect(read).toThrow(/^EVENT_LOG=/);
    expect(read).not.toThrow(/Geheim/i);
  });

  it('names every variable that is wrong', () => {
    const settings = { PORT: 'x', EVENT_TYPE: ' ', PROTOCOLS: ',', RECORD_ANSWER: 'empty' };
    expect(() => readConfig(settings)).toThrow(/PORT=x[\s\S]*PROTOCOLS=,[\s\S]*EVENT_TYPE= /);
  });
});
