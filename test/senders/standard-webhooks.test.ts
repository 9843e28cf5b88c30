import { Webhook } from 'standardwebhooks';
import { signatureCheck } from '../../src/http/access';
import { standardHeaders } from '../../src/senders/standard-webhooks';

const SECRETS = ['one', 'two'].map((key) => `whsec_${Buffer.from(`${key}-${'k'.repeat(24)}`).toString('base64')}`);
const BODY = Buffer.from('{"a":"ä"}');

describe('the header fields that sign a message', () => {
  afterEach(() => jest.restoreAllMocks());

  it('are what the reference implementation signs and what this service verifies, with each of the secrets', () => {
    const headers = standardHeaders(SECRETS, 'msg_1', BODY);
    const sent = new Date(Number(headers['webhook-timestamp']) * 1000);
    const signatures = SECRETS.map((secret) => new Webhook(secret).sign('msg_1', sent, BODY.toString()));
    expect(headers).toMatchObject({ 'webhook-id': 'msg_1', 'webhook-signature': signatures.join(' ') });
    for (const secret of SECRETS) {
      expect(signatureCheck({ webhookSecrets: [secret] }).isSigned(headers)).toBe(true);
      expect(signatureCheck({ webhookSecrets: [secret] }).check(headers, BODY).problem).toBeUndefined();
      expect(signatureCheck({ webhookSecrets: [secret] }).check(headers, Buffer.from('{}')).problem).toBeDefined();
    }
  });

  it('have the time in whole seconds', () => {
    jest.spyOn(Date, 'now').mockReturnValue(1_800_000_000_999);
    expect(standardHeaders(SECRETS, 'msg_1', BODY)['webhook-timestamp']).toBe('1800000000');
  });
});
