import { createHmac } from 'node:crypto';
import { Sender } from '../../src/senders/sender';

const NOW = 1_800_000_000;
const KEYS = ['one', 'two'].map((key) => Buffer.from(`${key}-${'k'.repeat(24)}`));
const STANDARD = KEYS.map((key) => `whsec_${key.toString('base64')}`);
const GITHUB = ['a secret', 'xwhsec_another'];
const BODY = Buffer.from('{"a":1}');

const NOT_FOR_BODY = 'The webhook-signature is not valid for this body.';
const NO_ID = 'The webhook-id of the signature is missing or not valid.';
const NO_TIME = 'The webhook-timestamp is missing or not valid.';
const NOT_GITHUB = 'The x-hub-signature-256 is not valid for this body.';

const sign = (key: Buffer | string, text: string | Buffer) => createHmac('sha256', key).update(text);
const signature = (time = String(NOW), key = KEYS[0] ?? '', id = 'msg') =>
  `v1,${sign(key, `${id}.${time}.${BODY.toString()}`).digest('base64')}`;
const standard = (given: Record<string, string | undefined> = {}) => ({
  'webhook-id': 'msg',
  'webhook-timestamp': String(NOW),
  'webhook-signature': signature(),
  ...given,
});
const hexOf = (secret: string) => sign(secret, BODY).digest('hex');
const github = (value: string) => ({ 'x-hub-signature-256': value });

describe('the check of signatures', () => {
  const check = Sender.signatureCheck({ webhookSecrets: [...STANDARD, ...GITHUB] });
  beforeEach(() => jest.spyOn(Date, 'now').mockReturnValue(NOW * 1000));
  afterEach(() => jest.restoreAllMocks());

  it.each<[string, Record<string, string | undefined>, string | undefined]>([
    ['the signature of the first key', {}, undefined],
    ['the signature of the second key', { 'webhook-signature': signature(undefined, KEYS[1]) }, undefined],
    ['a valid signature before one that is not', { 'webhook-signature': `${signature()} v1,AAAA` }, undefined],
    ['the eighth of many signatures', { 'webhook-signature': `${'v1,AAAA '.repeat(7)}${signature()} v1,x` }, undefined],
    ['the ninth of many', { 'webhook-signature': `${'v1,AAAA '.repeat(8)}${signature()}` }, NOT_FOR_BODY],
    ['a signature of another version', { 'webhook-signature': signature().replace('v1', 'v2') }, NOT_FOR_BODY],
    ['a signature without a version', { 'webhook-signature': signature().slice(3) }, NOT_FOR_BODY],
    ['another id', { 'webhook-id': 'other' }, NOT_FOR_BODY],
    ['no id', { 'webhook-id': undefined }, NO_ID],
    ['an id with a full stop', { 'webhook-id': 'm.1' }, NO_ID],
    ['no time', { 'webhook-timestamp': undefined }, NO_TIME],
    ['a time with text after it', { 'webhook-timestamp': `${String(NOW)}x` }, NO_TIME],
    ['a time of 13 digits', { 'webhook-timestamp': '1'.repeat(13) }, NO_TIME],
  ])('of Standard Webhooks answers for %s', (_what, given, problem) => {
    const headers = standard(given);
    expect(check.isSigned(headers)).toBe(true);
    expect(check.check(headers, BODY).problem).toBe(problem);
  });

  it.each<[string, string, string | undefined]>([
    ['the first secret', `sha256=${hexOf('a secret')}`, undefined],
    ['the second secret', `sha256=${hexOf('xwhsec_another')}`, undefined],
    ['capital letters', `SHA256=${hexOf('a secret').toUpperCase()}`, undefined],
    ['a secret of Standard Webhooks as text', `sha256=${hexOf(STANDARD[0] ?? '')}`, NOT_GITHUB],
    ['text before it', `xsha256=${hexOf('a secret')}`, NOT_GITHUB],
    ['text after it', `sha256=${hexOf('a secret')}00`, NOT_GITHUB],
    ['nothing', '', NOT_GITHUB],
  ])('of GitHub answers for %s', (_what, value, problem) => {
    const headers = github(value);
    expect(check.isSigned(headers)).toBe(true);
    expect(check.check(headers, BODY).problem).toBe(problem);
  });

  it('takes the signature of Standard Webhooks where both are there', () => {
    const headers = { ...standard({ 'webhook-signature': 'v1,AAAA' }), ...github(`sha256=${hexOf('a secret')}`) };
    expect(check.check(headers, BODY).problem).toBe(NOT_FOR_BODY);
    expect(check.check({ ...standard(), ...github('') }, BODY).problem).toBeUndefined();
  });

  it('refuses a signature of an empty body', () => {
    const empty = Buffer.alloc(0);
    const headers = github(`sha256=${sign('a secret', empty).digest('hex')}`);
    expect(check.check(headers, empty).problem).toBe('A signature counts for a body, and there is none.');
  });

  it('ignores a signature without a secret of its kind', () => {
    const both = { ...standard(), ...github(`sha256=${hexOf('a secret')}`) };
    expect(check.isSigned({})).toBe(false);
    expect(Sender.signatureCheck({ webhookSecrets: [] }).isSigned(both)).toBe(false);
    expect(Sender.signatureCheck({ webhookSecrets: STANDARD }).isSigned(github(''))).toBe(false);
    expect(Sender.signatureCheck({ webhookSecrets: GITHUB }).isSigned(standard())).toBe(false);
    expect(Sender.signatureCheck({ webhookSecrets: GITHUB }).check(both, BODY).problem).toBeUndefined();
    expect(Sender.signatureCheck({ webhookSecrets: STANDARD }).check(both, BODY).problem).toBeUndefined();
  });
});
