import { createHash, createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Webhook } from 'standardwebhooks';
import { Sender, type SenderSecrets } from '../../src/senders/sender';
import { callOperation, eventsOf } from '../support/bindings';
import { send } from '../support/http';
import { startService } from '../support/service';

type Fields = Readonly<Record<string, string>>;

interface Signed {
  readonly secrets: SenderSecrets;
  /** In seconds since 1970. */
  readonly time: number;
  readonly headers: Fields;
  readonly body: string;
}

const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text);

const STRIPE_SECRET = 'whsec_test_secret_of_an_endpoint';
const STRIPE_BODY = '{"id":"evt_1","object":"event","type":"invoice.paid"}';
const stripe = (time: number | string, secret = STRIPE_SECRET) =>
  `t=${String(time)},v1=${hmac(secret, `${String(time)}.${STRIPE_BODY}`).digest('hex')}`;

/** Of GitHub, Slack and Standard Webhooks: the values that their documentation prints. */
const SIGNED: Readonly<Record<string, Signed>> = {
  'Standard Webhooks': {
    secrets: { webhookSecrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'] },
    time: 1_614_265_330,
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: '{"test": 2432232314}',
  },
  Svix: {
    secrets: { webhookSecrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'] },
    time: 1_614_265_330,
    headers: {
      'svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'svix-timestamp': '1614265330',
      'svix-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: '{"test": 2432232314}',
  },
  'X-Hub-Signature-256': {
    secrets: { webhookSecrets: ["It's a Secret to Everybody"] },
    time: 0,
    headers: { 'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' },
    body: 'Hello, World!',
  },
  Slack: {
    secrets: { slackSecrets: ['8f742231b10e8888abcd99yyyzzz85a5'] },
    time: 1_531_420_618,
    headers: {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
    body:
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar' +
      '&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com' +
      '%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN' +
      '&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
  },
  Stripe: {
    secrets: { stripeSecrets: ['an-earlier-secret', STRIPE_SECRET] },
    time: 1_700_000_000,
    headers: { 'stripe-signature': stripe(1_700_000_000).replace(',', ',v0=00,') },
    body: STRIPE_BODY,
  },
  Shopify: {
    secrets: { shopifySecrets: ['hush-of-an-app-16'] },
    time: 0,
    headers: { 'x-shopify-hmac-sha256': hmac('hush-of-an-app-16', '{"id":1}').digest('base64') },
    body: '{"id":1}',
  },
  GitLab: {
    secrets: { gitlabTokens: ['an-earlier-token', 'token-of-a-project'] },
    time: 0,
    headers: { 'x-gitlab-token': 'token-of-a-project' },
    body: '{}',
  },
};

describe.each(Object.entries(SIGNED))('the signature of %s', (name, { secrets, time, headers, body }) => {
  const problemAt = async (seconds: number, given = headers, sent = body, known = secrets) => {
    jest.spyOn(Date, 'now').mockReturnValue(seconds * 1000);
    const found = await Sender.signaturesFor(known).in(given)?.signerOf(Buffer.from(sent));
    if (typeof found === 'object') expect(found.sender.name).toBe(name);
    return typeof found === 'object' ? 'valid' : found;
  };

  it('is valid, and is no signature without a secret for it', async () => {
    expect(await problemAt(time)).toBe('valid');
    expect(Sender.signaturesFor({}).in(headers)).toBeUndefined();
  });

  it('is written anew as its documentation shows it, and valid at its time and body alone', async () => {
    const { signature } = Sender.named(name) ?? {};
    if (signature === undefined) throw new Error('not known');
    const [secret = ''] = secrets[signature.setting]?.slice(-1) ?? [];
    jest.spyOn(Date, 'now').mockReturnValue(time * 1000 + 999);
    const id = headers['webhook-id'] ?? headers['svix-id'] ?? 'an-id';
    const signed = signature.sign(id, Buffer.from(body), [signature.signingKey(secret) ?? Buffer.alloc(0)]);
    // The example of Stripe has a signature of an old scheme, too.
    const documented = headers[signature.field]?.replace('v0=00,', '');
    expect(signed).toEqual({ ...headers, [signature.field]: documented });
    expect(await problemAt(time, signed)).toBe('valid');
    if (name !== 'GitLab') expect(await problemAt(time, signed, `${body} `)).toMatch(/not valid for this body\.$/);
  });

  it('is not valid under another secret', async () => {
    const [setting = '', [secret = ''] = []] = Object.entries(secrets)[0] ?? [];
    const other = secret.startsWith('whsec_Mf') ? `whsec_${Buffer.alloc(24).toString('base64')}` : 'another-secret-16';
    expect(await problemAt(time, headers, body, { [setting]: [other] })).toMatch(/ is not valid( for this body)?\.$/);
  });

  it.each(Object.keys(headers).filter((field) => !field.endsWith('-id')))(
    'is not valid with another %s',
    async (field) => {
      const value = headers[field] ?? '';
      for (const changed of [`${value.slice(0, -4)}AAA0`, '', value.slice(0, -2)])
        expect((await problemAt(time, { ...headers, [field]: changed })) ?? 'not valid').toMatch(
          /not valid|seconds from/,
        );
    },
  );

  if (time > 0) {
    it('counts for five minutes', async () => {
      for (const seconds of [-300, 300]) expect(await problemAt(time + seconds)).toBe('valid');
      for (const seconds of [-301, 301])
        expect(await problemAt(time + seconds)).toMatch(/more than 300 seconds from the time/);
    });
  }
});

afterEach(() => jest.restoreAllMocks());

it('of Stripe covers its time, and only the scheme v1 counts', async () => {
  jest.spyOn(Date, 'now').mockReturnValue(1_700_000_100_000);
  const kinds = Sender.signaturesFor({ stripeSecrets: [STRIPE_SECRET] });
  const moved = stripe(1_700_000_000).replace('t=1700000000', 't=1700000100');
  const signer = (signature: string) => kinds.in({ 'stripe-signature': signature })?.signerOf(Buffer.from(STRIPE_BODY));
  expect(await signer(moved)).toBe('The stripe-signature is not valid for this body.');
  expect(await signer(stripe(1_700_000_000).replace('v1', 'v0'))).toBe('The stripe-signature is not valid.');
  expect(await signer(stripe(1_700_000_000).replace(',', ' , '))).toMatchObject({ sender: { name: 'Stripe' } });
  const amongOthers = (others: number) => stripe(1_700_000_000).replace(',', `,${'v1=00,'.repeat(others)}`);
  expect(await signer(amongOthers(7))).toMatchObject({ sender: { name: 'Stripe' } });
  expect(await signer(amongOthers(8))).toBe('The stripe-signature is not valid.');
  expect(await signer(stripe('x'))).toBe('The time (t=) in stripe-signature is missing or not valid.');
  expect(await signer(stripe(1_700_000_000).replace('t=', 'x='))).toMatch(/^The time/);
});

describe('a known sender', () => {
  it('has a signed example here if it signs', () => {
    const signing = Sender.all.filter(({ signature }) => signature !== undefined).map(({ name }) => name);
    // GitHub's signature is the one that others took over.
    expect(Object.keys(SIGNED).sort()).toEqual(signing.filter((name) => name !== 'GitHub').sort());
  });

  it('has a row in docs/webhooks.md, in the order in which senders are looked for', async () => {
    const page = await readFile('docs/webhooks.md', 'utf8');
    const [table = ''] = /^\| sender .*\n(?:\|.*\n)+/m.exec(page) ?? [];
    const rows = [...table.matchAll(/^\| (\w[^|]*?) +\| `([\w-]+)`/gm)].map(([, name, field = '']) => [
      name,
      field.toLowerCase(),
    ]);
    const recognised = Sender.all.filter(({ field }) => field !== undefined);
    expect(rows).toEqual(recognised.map(({ name, field }) => [name, field]));
  });

  it('stands in the list of docs/tools.md if a request can be signed as its own', async () => {
    const [list = ''] = /^`--sign` takes [^.]*\./m.exec(await readFile('docs/tools.md', 'utf8')) ?? [];
    expect([...list.matchAll(/`([a-z][\w-]*)`/g)].map(([, name]) => name)).toEqual(Sender.signing);
  });

  it('has a row in docs/webhooks.md for its handshake', async () => {
    const page = await readFile('docs/webhooks.md', 'utf8');
    const [table = ''] = /^\| `SENDER_HANDSHAKES` .*\n(?:\|.*\n)+/m.exec(page) ?? [];
    const rows = [...table.matchAll(/^\| `([a-z]+)` +\| (\w[^|]*?) +\|.*\| `([\w.]+)` +\|$/gm)].map(
      ([, ...cells]) => cells,
    );
    const asking = Sender.all.flatMap(({ name, handshake }) => (handshake ? [{ sender: name, ...handshake }] : []));
    expect(rows).toEqual(asking.map(({ name, sender, type }) => [name, sender, type]));
  });

  const NONE = {};
  const STRIPE = { 'stripe-signature': 't=1' };
  const SLACK = { 'x-slack-signature': 'v0=' };

  it.each<[name: string, headers: Fields, body: object, type?: string | undefined, key?: string]>([
    ['GitHub', { 'x-github-event': 'push', 'x-github-delivery': 'd' }, NONE, 'com.github.push', 'x-github-delivery\nd'],
    [
      'GitHub',
      { 'x-github-event': 'issues', 'x-github-delivery': 'd', 'x-github-hook-id': '7' },
      { action: 'opened' },
      'com.github.issues.opened',
      'x-github-delivery\nd 7',
    ],
    [
      'GitHub',
      { 'x-github-event': 'issues', 'x-github-delivery': '', 'x-github-hook-id': '7' },
      { payload: '{"action":"opened","issue":{}}' },
      'com.github.issues.opened',
    ],
    ['GitHub', { 'x-github-delivery': 'd' }, { action: 'opened' }, undefined, 'x-github-delivery\nd'],
    [
      'GitLab',
      { 'x-gitlab-event': 'Merge Request  Hook', 'x-gitlab-event-uuid': 'u', 'idempotency-key': 'k' },
      NONE,
      'com.gitlab.merge_request_',
    ],
    ['Stripe', STRIPE, { type: 'a.b', id: 'evt_1' }, 'com.stripe.a.b', 'stripe-event\nevt_1'],
    ['Stripe', STRIPE, { id: 'evt_1', api_version: '2026-01-28' }, undefined, 'stripe-event\nevt_1 2026-01-28'],
    ['Stripe', STRIPE, { type: 7, id: { a: 1 } }],
    ['Stripe', STRIPE, { type: 'a\u0000b', id: 'a\nb' }],
    [
      'Shopify',
      { 'x-shopify-topic': 'orders/create', 'x-shopify-webhook-id': 'w' },
      NONE,
      'com.shopify.orders.create',
      'x-shopify-webhook-id\nw',
    ],
    ['Slack', SLACK, { type: 'event_callback', event: { type: 'app_mention' } }, 'com.slack.app_mention'],
    ['Slack', SLACK, { command: '/x' }, 'com.slack.command'],
    ['Slack', SLACK, { event_id: 'Ev1' }, undefined, 'slack-event\nEv1'],
    ['Slack', SLACK, { event_id: 'Ev1', api_app_id: 'A1' }, undefined, 'slack-event\nA1 Ev1'],
    ['Svix', { 'svix-signature': 'v1,', 'svix-id': 'm' }, { type: 'a.b' }, 'a.b'],
    ['Standard Webhooks', { 'webhook-signature': 'v1,', 'webhook-id': 'm' }, { type: 'a.b' }, 'a.b'],
  ])('%s: type and key of %p and %p', (name, headers, body, ...[type, key]) => {
    const sender = Sender.of(headers);
    expect(sender?.name).toBe(name);
    expect(sender?.typeOf(headers, { ...body })).toBe(type);
    expect(sender?.keyOf(headers, { ...body })).toBe(key);
  });

  it.each<[name: string, headers: Fields, body: object, key?: string]>([
    ['Standard Webhooks', { 'webhook-id': 'm' }, NONE, 'webhook-id\nm'],
    ['Svix', { 'svix-id': 'm', 'webhook-id': 'other' }, NONE, 'webhook-id\nm'],
    ['GitHub', { 'x-github-delivery': 'd' }, NONE, 'x-github-delivery\nd'],
    ['GitLab', { 'x-gitlab-event-uuid': 'u', 'idempotency-key': 'k' }, NONE, 'idempotency-key\nk'],
    ['GitLab', { 'x-gitlab-event-uuid': 'u' }, NONE],
    ['Stripe', NONE, { id: 'evt_1' }, 'stripe-event\nevt_1'],
    ['Slack', NONE, { event_id: 'Ev1' }, 'slack-event\nEv1'],
    [
      'Slack',
      { 'x-slack-request-timestamp': '1' },
      NONE,
      `slack-event\n${createHash('sha256').update('v0:1:signed').digest('base64url')}`,
    ],
  ])('%s: beside a signature, its key of %p and %p is one that no other call has', (name, headers, body, ...[key]) => {
    const signedKey = Sender.named(name)?.keyOf(headers, { ...body }, undefined, Buffer.from('signed'));
    expect(signedKey).toBe(key && `signed ${key}`);
  });

  it('is not found where the header fields say nothing', () => {
    expect(Sender.of({ host: 'a', 'user-agent': 'b', 'content-type': 'application/json' })).toBeUndefined();
  });
});

it('EVENT_TYPE is the type of its events, but for those of CloudEvents', async () => {
  const service = await startService({ EVENT_TYPE: 'a.b' });
  const post = (headers: Fields, body: string) =>
    send(`${service.url}/RecordEvent`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Stripe-Signature': 't=1', ...headers },
      body,
    });
  await post({}, STRIPE_BODY);
  await post({ 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/s', 'ce-type': 'own' }, '{"type":"x"}');
  const events = eventsOf(await callOperation(service.url, 'httpget', 'GetEvents'));
  expect(events.map(({ type }) => type)).toEqual(['a.b', 'own']);
  await service.stop();
});

it('header fields that sign a message are what the reference implementation signs, with each of the secrets', () => {
  const secrets = ['one', 'two'].map((key) => `whsec_${Buffer.from(`${key}-${'k'.repeat(24)}`).toString('base64')}`);
  const body = '{"a":"ä"}';
  const headers = Sender.standardHeaders(secrets, 'msg_1', Buffer.from(body));
  const sent = new Date(Number(headers['webhook-timestamp']) * 1000);
  const signatures = secrets.map((secret) => new Webhook(secret).sign('msg_1', sent, body));
  expect(headers).toMatchObject({ 'webhook-id': 'msg_1', 'webhook-signature': signatures.join(' ') });
});
