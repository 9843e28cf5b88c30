import { createHmac, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { AccessControl } from '../../src/access/access-control';
import { Caller } from '../../src/access/caller';
import { readConfig } from '../../src/config/config';
import type { HttpRequest } from '../../src/http/request';
import { Sender } from '../../src/senders/sender';
import { BINDINGS, envelope12, NAMESPACE, requestOf } from '../support/bindings';
import { send } from '../support/http';
import { startService, useService } from '../support/service';

const GITHUB_SECRET = 'the-text-of-a-GitHub-secret';
const KEY = 'record-key-0123456789';
const BODY = '{"order":19,"name":"é"}';

function github(secret: string, body: string | Buffer = BODY): Record<string, string> {
  return { 'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` };
}

describe('with WEBHOOK_SECRETS', () => {
  const service = useService({ WEBHOOK_SECRETS: GITHUB_SECRET, RECORD_KEYS: KEY });

  const post = (headers: Record<string, string>, body: string | Buffer = BODY, path = '/RecordEvent') =>
    send(service.url + path, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body });

  it('a signed body may be any bytes, and may be compressed', async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0, 1]);
    expect((await post(github(GITHUB_SECRET, bytes), bytes)).status).toBe(200);
    const answer = await post({ ...github(GITHUB_SECRET), 'Content-Encoding': 'gzip' }, gzipSync(BODY));
    expect(answer.status).toBe(200);
  });

  it.each([
    ['is that of another secret', github('another-secret-16'), 'x-hub-signature-256 is not valid for this body.'],
    ['can be valid for no body', { 'x-hub-signature-256': 'sha256=00' }, 'x-hub-signature-256 is not valid.'],
  ])('a signature that %s is refused, with and without a valid key', async (_what, headers, reason) => {
    const before = (await service.log.stats()).events;
    for (const key of [{}, { 'X-API-Key': KEY }]) {
      const answer = await post({ ...headers, ...key });
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toBeDefined();
      expect(answer.body).toContain(reason);
    }
    expect((await service.log.stats()).events).toBe(before);
  });

  it('a signature of an empty body does not cover a query string', async () => {
    const headers = github(GITHUB_SECRET, '');
    expect((await post(headers, '', '/RecordEvent?amount=1000')).status).toBe(401);
    expect((await send(`${service.url}/RecordEvent?a=1`, { headers })).status).toBe(401);
  });

  it('a signed message records whatever operation its header fields name', async () => {
    const body = envelope12('RecordEvent');
    const action = { 'Content-Type': 'text/xml', SOAPAction: `"${NAMESPACE}GetEvents"` };
    const headers = { ...github(GITHUB_SECRET, body), ...action };
    const before = (await service.log.stats()).events;
    await post(headers, body, '');
    expect((await service.log.stats()).events).toBe(before + 1);
  });

  it('a caller without a key is told what to send: a signature only with POST', async () => {
    for (const { body } of [await send(`${service.url}/RecordEvent?a=1`), await post({})])
      expect(body).toContain('RecordEvent needs a record key or a POST with the signature of its sender in ');
  });
});

it('a valid signature opens RecordEvent alone: not GetEvents over any binding, the pages or the metrics', async () => {
  const service = await startService({ GITHUB_SECRETS: GITHUB_SECRET, READ_KEYS: KEY });
  for (const binding of BINDINGS) {
    const { path, headers, body = '', ...question } = requestOf(binding, 'GetEvents');
    const signed = { ...headers, ...github(GITHUB_SECRET, body) };
    expect((await send(service.url + path, { ...question, headers: signed, body })).status).toBe(401);
  }
  const headers = github(GITHUB_SECRET, '');
  for (const address of ['?events', '?event=1', '?events=refusals'].map((query) => service.url + query))
    expect((await send(address, { headers })).status).toBe(401);
  expect((await send(new URL('/metrics', service.url).href, { headers })).status).toBe(401);
});

it('with WEBHOOK_SECRETS alone RecordEvent needs a signature, and GET, which none covers, is refused', async () => {
  const service = await startService({ WEBHOOK_SECRETS: GITHUB_SECRET });
  const post = (headers: Record<string, string>) =>
    send(`${service.url}/RecordEvent`, { method: 'POST', headers, body: BODY });
  expect([(await post({})).status, (await post(github(GITHUB_SECRET))).status]).toEqual([401, 200]);
  const answer = await send(`${service.url}/RecordEvent`, { headers: github(GITHUB_SECRET, '') });
  const told = 'RecordEvent needs a POST with the signature of its sender in x-hub-signature-256.';
  expect([answer.status, answer.body]).toEqual([401, expect.stringMatching(new RegExp(`^${told}\\n$`))]);
  expect((await service.log.stats()).events).toBe(1);
});

it('a secret that a reload removes while the body arrives lets no call through', async () => {
  const withSecret = (secret: string) => readConfig({ WEBHOOK_SECRETS: secret });
  const access = new AccessControl(withSecret(GITHUB_SECRET), { baseUrl: () => '' });
  const caller = new Caller(
    { method: 'POST', headers: github(GITHUB_SECRET), accessTokens: [] } as unknown as HttpRequest,
    access,
  );
  caller.checkHeader('record', false);
  access.use(withSecret('another-secret-16'));
  await expect(caller.verify(Buffer.from(BODY), 'record')).rejects.toThrow('is not valid for this body');
});

it.each(['whsec_', 'whpk_', 'WHSK_'])('a key with the prefix %s never verifies as a text', async (prefix) => {
  const secret = `${prefix}${randomBytes(32).toString('base64')}`;
  const signed = (...webhookSecrets: string[]) => Sender.signaturesFor({ webhookSecrets }).read(github(secret));
  expect(signed(secret)).toBeUndefined();
  expect(await signed(secret, GITHUB_SECRET)?.signerOf(Buffer.from(BODY))).toContain('not valid');
});
