import { createHash, createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { Sender, signatureCheck, type SenderSecrets } from '../../src/senders/sender';
import { callOperation, eventsOf } from '../support/bindings';
import { send } from '../support/http';
import { startService } from '../support/service';

interface Signed {
  readonly secrets: SenderSecrets;
  /** In seconds since 1970. */
  readonly time: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const digestOf = (text: string) => createHash('sha256').update(text).digest('base64url');
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
  const problemAt = (seconds: number, given = headers, sent = body, known = secrets) => {
    jest.spyOn(Date, 'now').mockReturnValue(seconds * 1000);
    const check = signatureCheck(known);
    expect(check.isSigned(given)).toBe(true);
    const { sender, problem } = check.check(given, Buffer.from(sent));
    expect(sender.name).toBe(name);
    return problem;
  };
  afterEach(() => jest.restoreAllMocks());

  it('is valid', () => {
    expect(problemAt(time)).toBeUndefined();
  });

  it('is written anew as its documentation shows it, and valid at its time and body alone', () => {
    const { signature } = Sender.all.find((sender) => sender.name === name) ?? {};
    if (signature === undefined) throw new Error('not known');
    const keys = Object.values(secrets).flatMap((given = []) =>
      given.slice(-1).flatMap((secret) => signature.signingKey(secret) ?? []),
    );
    jest.spyOn(Date, 'now').mockReturnValue(time * 1000 + 999);
    const signed = signature.sign(headers['webhook-id'] ?? headers['svix-id'] ?? 'an-id', Buffer.from(body), keys);
    // The example of Stripe has a signature of an old scheme, too.
    const documented = headers[signature.field]?.replace('v0=00,', '');
    expect(signed).toEqual({ ...headers, [signature.field]: documented });
    expect(problemAt(time, signed)).toBeUndefined();
    if (name !== 'GitLab') expect(problemAt(time, signed, `${body} `)).toMatch(/not valid for this body\.$/);
  });

  it('is not valid under another secret', () => {
    const [setting = ''] = Object.keys(secrets);
    const other =
      'webhookSecrets' in secrets && name !== 'X-Hub-Signature-256'
        ? `whsec_${Buffer.alloc(24).toString('base64')}`
        : 'another-secret-16';
    expect(problemAt(time, headers, body, { [setting]: [other] })).toMatch(/ is not valid( for this body)?\.$/);
  });

  it('is no signature without a secret for it', () => {
    expect(signatureCheck({}).isSigned(headers)).toBe(false);
  });

  it.each(Object.keys(headers).filter((field) => !field.endsWith('-id')))('is not valid with another %s', (field) => {
    const value = headers[field] ?? '';
    for (const changed of [`${value.slice(0, -4)}AAA0`, '', value.slice(0, -2)])
      expect(problemAt(time, { ...headers, [field]: changed })).toMatch(/not valid|seconds from/);
  });

  if (name !== 'GitLab') {
    it('is not valid for another body', () => {
      expect(problemAt(time, headers, `${body} `)).toMatch(/not valid for this body\.$/);
    });
  }

  if (time > 0) {
    it('counts for five minutes', () => {
      for (const seconds of [-300, 300]) expect(problemAt(time + seconds)).toBeUndefined();
      for (const seconds of [-301, 301])
        expect(problemAt(time + seconds)).toMatch(/more than 300 seconds from the time/);
    });
  }
});

it('of Stripe covers its time, and only the scheme v1 counts', () => {
  jest.spyOn(Date, 'now').mockReturnValue(1_700_000_100_000);
  const check = signatureCheck({ stripeSecrets: [STRIPE_SECRET] });
  const moved = stripe(1_700_000_000).replace('t=1700000000', 't=1700000100');
  const problem = (signature: string) =>
    check.check({ 'stripe-signature': signature }, Buffer.from(STRIPE_BODY)).problem;
  expect(problem(moved)).toBe('The Stripe-Signature is not valid for this body.');
  expect(problem(stripe(1_700_000_000).replace('v1', 'v0'))).toBe('The Stripe-Signature is not valid for this body.');
  expect(problem(stripe(1_700_000_000).replace(',', ' , '))).toBeUndefined();
  const amongOthers = (others: number) => stripe(1_700_000_000).replace(',', `,${'v1=00,'.repeat(others)}`);
  expect(problem(amongOthers(7))).toBeUndefined();
  expect(problem(amongOthers(8))).toBe('The Stripe-Signature is not valid for this body.');
  expect(problem(stripe('x'))).toBe('The time (t=) in Stripe-Signature is missing or not valid.');
  expect(problem(stripe(1_700_000_000).replace('t=', 'x='))).toMatch(/^The time/);
  jest.restoreAllMocks();
});

describe('a known sender', () => {
  it('has a signed example here if it signs', () => {
    const signing = Sender.all.filter(({ signature }) => signature !== undefined).map(({ name }) => name);
    // GitHub's signature is the one that others took over.
    expect(Object.keys(SIGNED).sort()).toEqual(signing.filter((name) => name !== 'GitHub').sort());
  });

  it('has a row in docs/webhooks.md, in the order in which senders are looked for', async () => {
    const page = await readFile(join(__dirname, '..', '..', 'docs', 'webhooks.md'), 'utf8');
    const [table = ''] = /^\| sender .*\n(?:\|.*\n)+/m.exec(page) ?? [];
    const rows = [...table.matchAll(/^\| (\w[^|]*?) +\| `([\w-]+)`/gm)].map(([, name, field = '']) => [
      name,
      field.toLowerCase(),
    ]);
    const recognised = Sender.all.filter(({ field }) => field !== undefined);
    expect(rows).toEqual(recognised.map(({ name, field }) => [name, field]));
  });

  it('has a row in docs/webhooks.md for its handshake', async () => {
    const page = await readFile(join(__dirname, '..', '..', 'docs', 'webhooks.md'), 'utf8');
    const [table = ''] = /^\| `SENDER_HANDSHAKES` .*\n(?:\|.*\n)+/m.exec(page) ?? [];
    const rows = [...table.matchAll(/^\| `([a-z]+)` +\| (\w[^|]*?) +\|.*\| `([\w.]+)` +\|$/gm)].map(
      ([, ...cells]) => cells,
    );
    const asking = Sender.all.flatMap(({ name, handshake }) => (handshake ? [{ sender: name, ...handshake }] : []));
    expect(rows).toEqual(asking.map(({ name, sender, type }) => [name, sender, type]));
  });

  it.each<{
    readonly name: string;
    readonly headers: Record<string, string>;
    readonly body: Record<string, unknown>;
    readonly type?: string | undefined;
    readonly key?: string | undefined;
  }>([
    {
      name: 'GitHub',
      headers: { 'x-github-event': 'push', 'x-github-delivery': 'd1' },
      body: {},
      type: 'com.github.push',
      key: 'x-github-delivery\nd1',
    },
    {
      name: 'GitHub',
      headers: { 'x-github-event': 'issues', 'x-github-delivery': 'd' },
      body: { payload: '{"action":"opened","issue":{}}' },
      type: 'com.github.issues.opened',
      key: 'x-github-delivery\nd',
    },
    {
      name: 'GitHub',
      headers: { 'x-github-event': 'issues', 'x-github-delivery': 'd' },
      body: { action: 'opened' },
      type: 'com.github.issues.opened',
      key: 'x-github-delivery\nd',
    },
    {
      name: 'GitHub',
      headers: { 'x-github-delivery': 'd1' },
      body: { action: 'opened' },
      key: 'x-github-delivery\nd1',
    },
    {
      name: 'GitHub',
      headers: { 'x-github-event': 'push', 'x-github-delivery': 'd1', 'x-github-hook-id': '7' },
      body: {},
      type: 'com.github.push',
      key: 'x-github-delivery\nd1 7',
    },
    { name: 'GitHub', headers: { 'x-github-delivery': '', 'x-github-hook-id': '7' }, body: {} },
    {
      name: 'GitLab',
      headers: { 'x-gitlab-event': 'Merge Request Hook', 'x-gitlab-event-uuid': 'u', 'idempotency-key': 'k' },
      body: {},
      type: 'com.gitlab.merge_request',
    },
    { name: 'GitLab', headers: { 'x-gitlab-event': 'Wiki Page Hook' }, body: {}, type: 'com.gitlab.wiki_page' },
    {
      name: 'GitLab',
      headers: { 'x-gitlab-event': 'Resource  Access Token Hook' },
      body: {},
      type: 'com.gitlab.resource__access_token',
    },
    {
      name: 'Stripe',
      headers: { 'stripe-signature': 't=1' },
      body: { type: 'invoice.paid', id: 'evt_1' },
      type: 'com.stripe.invoice.paid',
      key: 'stripe-event\nevt_1',
    },
    { name: 'Stripe', headers: { 'stripe-signature': 't=1' }, body: { type: 7, id: { a: 1 } } },
    { name: 'Stripe', headers: { 'stripe-signature': 't=1' }, body: { type: 'a\u0000b', id: 'a\nb' } },
    {
      name: 'Shopify',
      headers: { 'x-shopify-topic': 'orders/create', 'x-shopify-webhook-id': 'w' },
      body: {},
      type: 'com.shopify.orders.create',
      key: 'x-shopify-webhook-id\nw',
    },
    {
      name: 'Slack',
      headers: { 'x-slack-signature': 'v0=' },
      body: { type: 'event_callback', event: { type: 'app_mention' } },
      type: 'com.slack.app_mention',
    },
    { name: 'Slack', headers: { 'x-slack-signature': 'v0=' }, body: { command: '/x' }, type: 'com.slack.command' },
    { name: 'Slack', headers: { 'x-slack-signature': 'v0=' }, body: { event_id: 'Ev1' }, key: 'slack-event\nEv1' },
    {
      name: 'Slack',
      headers: { 'x-slack-signature': 'v0=' },
      body: { event_id: 'Ev1', api_app_id: 'A1' },
      key: 'slack-event\nA1 Ev1',
    },
    {
      name: 'Stripe',
      headers: { 'stripe-signature': 't=1' },
      body: { type: 'charge.failed', id: 'evt_1', api_version: '2026-01-28' },
      type: 'com.stripe.charge.failed',
      key: 'stripe-event\nevt_1 2026-01-28',
    },
    {
      name: 'Svix',
      headers: { 'svix-signature': 'v1,', 'svix-id': 'm' },
      body: { type: 'contact.created' },
      type: 'contact.created',
    },
    {
      name: 'Standard Webhooks',
      headers: { 'webhook-signature': 'v1,' },
      body: { type: 'contact.created' },
      type: 'contact.created',
    },
  ])('$name: type and key of $headers', ({ name, headers, body, type, key }) => {
    const sender = Sender.of(headers);
    if (sender === undefined) throw new Error('not recognised');
    expect(sender.name).toBe(name);
    expect(sender.typeOf(headers, body)).toBe(type);
    expect(sender.keyOf(headers, body)).toBe(key);
  });

  it.each<{
    readonly name: string;
    readonly headers: Record<string, string>;
    readonly body: Record<string, unknown>;
    readonly key?: string | undefined;
  }>([
    { name: 'Standard Webhooks', headers: { 'webhook-id': 'm' }, body: {}, key: 'webhook-id\nm' },
    { name: 'Svix', headers: { 'svix-id': 'm', 'webhook-id': 'other' }, body: {}, key: 'webhook-id\nm' },
    { name: 'GitHub', headers: { 'x-github-delivery': 'd' }, body: {}, key: 'x-github-delivery\nd' },
    {
      name: 'GitLab',
      headers: { 'x-gitlab-event-uuid': 'u', 'idempotency-key': 'k' },
      body: {},
      key: 'idempotency-key\nk',
    },
    { name: 'GitLab', headers: { 'x-gitlab-event-uuid': 'u' }, body: {} },
    { name: 'Stripe', headers: {}, body: { id: 'evt_1' }, key: 'stripe-event\nevt_1' },
    { name: 'Slack', headers: {}, body: { event_id: 'Ev1' }, key: 'slack-event\nEv1' },
    {
      name: 'Slack',
      headers: { 'x-slack-request-timestamp': '1' },
      body: {},
      key: `slack-event\n${digestOf('v0:1:signed')}`,
    },
  ])(
    '$name: beside a signature, its key of $headers and $body is one that no other call has',
    ({ name, headers, body, key }) => {
      const sender = Sender.all.find((one) => one.name === name);
      if (sender === undefined) throw new Error('not known');
      expect(sender.keyOf(headers, body, undefined, Buffer.from('signed'))).toBe(key && `signed ${key}`);
    },
  );

  it('is not found where the header fields say nothing', () => {
    expect(Sender.of({ host: 'a', 'user-agent': 'b', 'content-type': 'application/json' })).toBeUndefined();
  });
});

describe('an event of a known sender', () => {
  const TIME = Math.floor(Date.now() / 1000);
  const CALL = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Stripe-Signature': stripe(TIME) },
    body: STRIPE_BODY,
  };

  it('has its type, is recorded once, and shows whose signature was verified', async () => {
    const service = await startService({ STRIPE_SECRETS: STRIPE_SECRET });
    const answers = [1, 2].map(async () => (await send(`${service.url}/RecordEvent`, CALL)).body);
    expect((await answers[0]) ?? '').toBe(await answers[1]);
    const refused = await send(`${service.url}/RecordEvent`, { ...CALL, body: `${STRIPE_BODY} ` });
    expect([refused.status, refused.body]).toEqual([401, 'The Stripe-Signature is not valid for this body.\n']);
    const events = eventsOf(await callOperation(service.url, 'httpget', 'GetEvents'));
    expect(events).toMatchObject([{ type: 'com.stripe.invoice.paid' }]);
    const page = await send(`${service.url}?event=${String(events[0]?.sequence)}`);
    expect(page.body).toContain('Signature verified: <bdi>Stripe</bdi>');
    // Its key counts beside its signature only, which the command does not have.
    expect(page.body).not.toContain('would not record it again');
    await service.stop();
  });

  it('has the type that EVENT_TYPE says, or its own if it is a CloudEvent', async () => {
    const service = await startService({ EVENT_TYPE: 'a.b' });
    await send(`${service.url}/RecordEvent`, CALL);
    const own = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/s', 'ce-type': 'own' };
    await send(`${service.url}/RecordEvent`, { ...CALL, headers: { ...CALL.headers, ...own }, body: '{"type":"x"}' });
    const events = eventsOf(await callOperation(service.url, 'httpget', 'GetEvents'));
    expect(events.map(({ type }) => type)).toEqual(['a.b', 'own']);
    await service.stop();
  });
});

const STANDARD_SECRETS = ['one', 'two'].map(
  (key) => `whsec_${Buffer.from(`${key}-${'k'.repeat(24)}`).toString('base64')}`,
);
const STANDARD_BODY = Buffer.from('{"a":"ä"}');

describe('the header fields that sign a message', () => {
  afterEach(() => jest.restoreAllMocks());

  it('are what the reference implementation signs and what this service verifies, with each of the secrets', () => {
    const headers = Sender.standardHeaders(STANDARD_SECRETS, 'msg_1', STANDARD_BODY);
    const sent = new Date(Number(headers['webhook-timestamp']) * 1000);
    const signatures = STANDARD_SECRETS.map((secret) =>
      new Webhook(secret).sign('msg_1', sent, STANDARD_BODY.toString()),
    );
    expect(headers).toMatchObject({ 'webhook-id': 'msg_1', 'webhook-signature': signatures.join(' ') });
    for (const secret of STANDARD_SECRETS) {
      expect(signatureCheck({ webhookSecrets: [secret] }).isSigned(headers)).toBe(true);
      expect(signatureCheck({ webhookSecrets: [secret] }).check(headers, STANDARD_BODY).problem).toBeUndefined();
      expect(signatureCheck({ webhookSecrets: [secret] }).check(headers, Buffer.from('{}')).problem).toBeDefined();
    }
  });

  it('have the time in whole seconds', () => {
    jest.spyOn(Date, 'now').mockReturnValue(1_800_000_000_999);
    expect(Sender.standardHeaders(STANDARD_SECRETS, 'msg_1', STANDARD_BODY)['webhook-timestamp']).toBe('1800000000');
  });
});
