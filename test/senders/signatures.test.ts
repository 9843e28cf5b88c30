import { createHmac } from 'node:crypto';
import { Sender } from '../../src/senders/sender';

const NOW = 1_800_000_000;
const KEY = Buffer.from('k'.repeat(24));
const SECRETS = [`whsec_${KEY.toString('base64')}`, 'a secret'];
const BODY = Buffer.from('{"a":1}');

const NOT_FOR_BODY = 'The webhook-signature is not valid for this body.';
const NO_ID = 'The webhook-id of the signature is missing or not valid.';
const NO_TIME = 'The webhook-timestamp is missing or not valid.';
const NOT_GITHUB = 'The x-hub-signature-256 is not valid for this body.';

const sign = (key: Buffer | string, text: string | Buffer) => createHmac('sha256', key).update(text);
const SIGNATURE = `v1,${sign(KEY, `msg.${String(NOW)}.${BODY.toString()}`).digest('base64')}`;
const standard = (given: Record<string, string | undefined> = {}) => ({
  'webhook-id': 'msg',
  'webhook-timestamp': String(NOW),
  'webhook-signature': SIGNATURE,
  ...given,
});
const HEX = sign('a secret', BODY).digest('hex');
const github = (value: string) => ({ 'x-hub-signature-256': value });

describe('the check of signatures', () => {
  const check = Sender.signatureCheck({ webhookSecrets: SECRETS });
  beforeEach(() => jest.spyOn(Date, 'now').mockReturnValue(NOW * 1000));
  afterEach(() => jest.restoreAllMocks());

  it.each<[string, Record<string, string | undefined>, string | undefined]>([
    ['the eighth of many signatures', { 'webhook-signature': `${'v1,AAAA '.repeat(7)}${SIGNATURE} v1,x` }, undefined],
    ['the ninth of many', { 'webhook-signature': `${'v1,AAAA '.repeat(8)}${SIGNATURE}` }, NOT_FOR_BODY],
    ['no id', { 'webhook-id': undefined }, NO_ID],
    ['a time with text after it', { 'webhook-timestamp': `${String(NOW)}x` }, NO_TIME],
    ['a time of 13 digits', { 'webhook-timestamp': '1'.repeat(13) }, NO_TIME],
  ])('of Standard Webhooks answers for %s', (_what, given, problem) => {
    const headers = standard(given);
    expect(check.isSigned(headers)).toBe(true);
    expect(check.check(headers, BODY).problem).toBe(problem);
  });

  it.each<[string, string, string | undefined]>([
    ['capital letters', `SHA256=${HEX.toUpperCase()}`, undefined],
    ['text before it', `xsha256=${HEX}`, NOT_GITHUB],
    ['text after it', `sha256=${HEX}00`, NOT_GITHUB],
  ])('of GitHub answers for %s', (_what, value, problem) => {
    const headers = github(value);
    expect(check.isSigned(headers)).toBe(true);
    expect(check.check(headers, BODY).problem).toBe(problem);
  });

  it('takes the signature of Standard Webhooks where both are there', () => {
    const headers = { ...standard({ 'webhook-signature': 'v1,AAAA' }), ...github(`sha256=${HEX}`) };
    expect(check.check(headers, BODY).problem).toBe(NOT_FOR_BODY);
    expect(check.check({ ...standard(), ...github('') }, BODY).problem).toBeUndefined();
  });
});
