import { createHmac } from 'node:crypto';
import { Sender } from '../../src/senders/sender';

const NOW = 1_800_000_000;
const KEY = Buffer.from('k'.repeat(24));
const SECRETS = [`whsec_${KEY.toString('base64')}`, 'a secret'];
const BODY = Buffer.from('{"a":1}');

const NOT_VALID = 'The webhook-signature is not valid.';
const BAD_ID = 'The webhook-id of the signature is not valid.';
const NO_TIME = 'The webhook-timestamp is missing or not valid.';
const NOT_GITHUB_FOR_BODY = 'The x-hub-signature-256 is not valid for this body.';
const NOT_GITHUB = 'The x-hub-signature-256 is not valid.';

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
  const problemOf = async (headers: Record<string, string | undefined>) => {
    const found = await Sender.signaturesFor({ webhookSecrets: SECRETS }).in(headers)?.signerOf(BODY);
    return typeof found === 'object' ? 'valid' : found;
  };
  beforeEach(() => jest.spyOn(Date, 'now').mockReturnValue(NOW * 1000));
  afterEach(() => jest.restoreAllMocks());

  it.each<[string, Record<string, string | undefined>, string | undefined]>([
    ['the eighth of many signatures', { 'webhook-signature': `${'v1,AAAA '.repeat(7)}${SIGNATURE} v1,x` }, 'valid'],
    ['the ninth of many', { 'webhook-signature': `${'v1,AAAA '.repeat(8)}${SIGNATURE}` }, NOT_VALID],
    ['an id with a full stop', { 'webhook-id': 'a.b' }, BAD_ID],
    ['no id, as of another kind', { 'webhook-id': undefined }, undefined],
    ['bare digits, as GoCardless has', { 'webhook-signature': HEX }, undefined],
    ['a time with text after it', { 'webhook-timestamp': `${String(NOW)}x` }, NO_TIME],
    ['a time of 13 digits', { 'webhook-timestamp': '1'.repeat(13) }, NO_TIME],
  ])('of Standard Webhooks answers for %s', async (_what, given, problem) => {
    expect(await problemOf(standard(given))).toBe(problem);
  });

  it.each([
    ['capital letters', `SHA256=${HEX.toUpperCase()}`, 'valid'],
    ['text before it', `xsha256=${HEX}`, NOT_GITHUB],
    ['text after it', `sha256=${HEX}00`, NOT_GITHUB],
  ])('of GitHub answers for %s', async (_what, value, problem) => {
    expect(await problemOf(github(value))).toBe(problem);
  });

  it('of Jira and Bitbucket is under the older name, which has SHA-1 from GitHub', async () => {
    expect(await problemOf({ 'x-hub-signature': `sha256=${HEX}` })).toBe('valid');
    expect(await problemOf({ 'x-hub-signature': `sha1=${HEX.slice(0, 40)}` })).toBeUndefined();
  });

  it('is enough where another one beside it is not valid', async () => {
    expect(await problemOf({ ...standard({ 'webhook-signature': 'v1,AAAA' }), ...github(`sha256=${HEX}`) })).toBe(
      'valid',
    );
    expect(await problemOf({ ...standard(), ...github('') })).toBe('valid');
    const other = `v1,${Buffer.alloc(32).toString('base64')}`;
    expect(await problemOf({ ...standard({ 'webhook-signature': other }), ...github('') })).toBe(NOT_GITHUB_FOR_BODY);
  });
});
