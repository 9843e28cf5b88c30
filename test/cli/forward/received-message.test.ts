import { Sender } from '../../../src/senders/sender';
import { Contract } from '../../../src/contract/contract';
import { messageOf, signerOf, type ReceivedMode } from '../../../src/cli/forward/message';
import { newEvent } from '../../support/events';

const ENDPOINT = '/webhooks/Services/WebHooks.asmx/RecordEvent';
const FIELDS = { host: 'a', 'content-type': 'application/json' };

const contract = Contract.load(undefined);

/** Returns the request that an arrival becomes. */
async function sent(
  arrival: Readonly<Record<string, unknown>>,
  address = 'http://127.0.0.1/hook',
  signers?: ReceivedMode['signers'],
) {
  const known = { method: 'POST', path: ENDPOINT, headers: FIELDS };
  const event = newEvent({
    attributes: '{"specversion":"1.0","id":"1","source":"/test","type":"t","binding":"httppost"}',
    data: '"data":{"order":19}',
    arrival: JSON.stringify({ ...known, ...arrival }),
  });
  return messageOf({ ...event, position: 1 }, new URL(address), {
    asReceived: { contract: await contract, signers },
  });
}

const SECRET = `whsec_${Buffer.from('a-secret-of-24-bytes-xyz').toString('base64')}`;

function signersOf(...names: readonly string[]): ReceivedMode['signers'] {
  const senders = names.flatMap((name) => Sender.named(name) ?? []);
  const signers = senders.map(
    (sender) => [sender, signerOf(sender, sender.shortName === 'github' ? 'text' : SECRET)] as const,
  );
  return new Map(signers.flatMap(([sender, signer]) => (signer ? [[sender, signer]] : [])));
}

const OTHERS =
  'keep-alive proxy-connection te trailer transfer-encoding upgrade expect via origin referer sec-fetch-site x-real-ip ' +
  'accept-encoding x-forwarded x-forwarded-host x-rewrite-url x-http-method x-method-override';

describe('a request that is sent as it arrived', () => {
  it('has none of the fields by which a target takes it for another one, and those with names of objects', async () => {
    const headers = {
      ...FIELDS,
      'x-original-url': '/admin',
      'x-http-method-override': 'DELETE',
      x_forwarded_for: '127.0.0.1',
      forwarded: 'for=127.0.0.1',
      content_length: '0',
      connection: 'close, X-Hop',
      'x-hop': '1',
      ...Object.fromEntries(OTHERS.split(' ').map((name) => [name, 'x'])),
      constructor: 'c',
    };
    const { headers: fields } = await sent({ headers });
    expect(Object.entries(fields()).sort()).toEqual([
      ['constructor', 'c'],
      ['content-type', 'application/json'],
    ]);
  });

  it.each(['PUT', 'DELETE'])(
    'has its method %s, its path below RecordEvent and its query, after that of the address',
    async (method) => {
      const path = `${ENDPOINT}/orders/17%2F1?a=1`;
      const address = 'http://127.0.0.1/hook/?token=1';
      expect(await sent({ method, path }, address)).toMatchObject({ method, path: '/hook/orders/17%2F1?token=1&a=1' });
    },
  );

  it.each(['TRACE', 'GET / HTTP/1.1\r\nHost: b', 7, undefined])('is a POST if its method is %j', async (method) => {
    expect(await sent({ method })).toMatchObject({ method: 'POST', path: '/hook' });
  });

  it.each(['/', '/a/', '/a..b/.c', '/a%2Fb', '/%25', '/a%20b', '/a:b', '/a;b=1/c'])(
    'keeps the path %s',
    async (suffix) => {
      expect(await sent({ path: ENDPOINT + suffix })).toMatchObject({ path: `/hook${suffix}` });
    },
  );

  it.each([
    ...['/..', '/a/../../admin', '/.', '/a/./b', '//evil.example/a', '/a//b', '/http://evil.example'],
    ...['/%2E./admin', '/..%2fadmin', '/%2fevil.example', '/a%2f..%2f..%2fadmin', '/%25%32%65%2e/a'],
    ...['/%25252e%25252e%25252fadmin', `/%${'25'.repeat(9)}2e`, '/..\\admin', '/%5c%5cevil.example'],
    ...['/..;/admin', '/..;a=b/admin', '/;/a', '/%c0%ae%c0%ae/admin', '/a%00', '/a%0d%0ab'],
  ])('leaves out the path %s, which may lead elsewhere', async (suffix) => {
    for (const address of ['http://127.0.0.1/hook', 'http://127.0.0.1/'])
      expect(await sent({ path: ENDPOINT + suffix }, address)).toMatchObject({ path: new URL(address).pathname });
  });

  it.each(['', 'no-prefix'])('is not signed with %j', (secret) => {
    const sender = Sender.named('standard-webhooks');
    expect(sender && signerOf(sender, secret)).toBeUndefined();
  });

  it('is signed under an id that receivers accept: not under one with a full stop', async () => {
    const idOf = async (given: string) => {
      const arrival = { 'webhook-sender': 'standard-webhooks', headers: { ...FIELDS, 'webhook-id': given } };
      const { headers } = await sent(arrival, undefined, signersOf('standard-webhooks'));
      return headers()['webhook-id'];
    };
    expect(await idOf('msg_1')).toBe('msg_1');
    for (const id of ['a.1', '']) expect(await idOf(id)).toMatch(/^evt_[\w-]{43}$/);
  });

  it.each([
    ['its sender', { 'webhook-sender': 'gitlab' }, ['x-gitlab-token']],
    [
      'the one whose signature was verified',
      { 'webhook-sender': 'gitlab', signedBy: 'GitHub' },
      ['x-hub-signature-256'],
    ],
    ['the one its fields name, in a log of 1.0', { headers: { 'x-github-delivery': '1' } }, ['x-hub-signature-256']],
    ['nobody, without a secret of its sender', { 'webhook-sender': 'slack' }, []],
    ['nobody, without a sender', {}, []],
    ['nobody, without a body', { 'webhook-sender': 'gitlab', method: 'GET' }, []],
  ])('is signed as %s', async (_what, arrival, fields) => {
    const { headers } = await sent(arrival, undefined, signersOf('github', 'gitlab'));
    expect(Object.keys(headers()).filter((name) => /signature|token/.test(name))).toEqual(fields);
  });
});
