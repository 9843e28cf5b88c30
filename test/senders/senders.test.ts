import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Handshake } from '../../src/senders/handshakes';
import { Sender } from '../../src/senders/sender';
import { newestEvents, post } from '../support/bindings';
import { DELIVERIES, type Fields } from '../support/deliveries';
import { startService } from '../support/service';

describe('a known sender', () => {
  it('has a signed example if it signs', () => {
    const signing = Sender.all.flatMap(({ name, signature }) => (signature ? name : []));
    expect(new Set(DELIVERIES.map(({ event }) => event.signedBy))).toEqual(new Set([undefined, ...signing]));
  });

  it.each([
    [
      'sender',
      /^\| (\w[^|]*?) +\| `([\w-]+)`/gm,
      Sender.all.flatMap(({ name, field }) => (field === undefined ? [] : [[name, field]])),
    ],
    [
      '`SENDER_HANDSHAKES`',
      /^\| `([a-z]+)` .*\| `([\w.]+)` +\|$/gm,
      Handshake.all.map(({ name, type }) => [name, type]),
    ],
  ])(
    'has a row in docs/webhooks.md, in the order in which it is looked for, below %s',
    async (title, row, expected) => {
      const page = await readFile('docs/webhooks.md', 'utf8');
      const [table = ''] = new RegExp(`^\\| ${title} .*\\n(?:\\|.*\\n)+`, 'm').exec(page) ?? [];
      expect([...table.matchAll(row)].map(([, name, cell = '']) => [name, cell.toLowerCase()])).toEqual(expected);
    },
  );

  it('stands in the list of docs/tools.md if a request can be signed as its own', async () => {
    const [list = ''] = /^`--sign` takes [^.]*\./m.exec(await readFile('docs/tools.md', 'utf8')) ?? [];
    expect([...list.matchAll(/`([a-z][\w-]*)`/g)].map(([, name]) => name)).toEqual(Sender.recognised);
  });

  const NONE = {};
  const HOOK = { 'x-github-event': 'issues', 'x-github-hook-id': '7' };
  const OPENED = { action: 'opened' };
  const STRIPE = { 'stripe-signature': 't=1' };
  const SHOPIFY = { 'x-shopify-topic': 'a/b', 'x-shopify-webhook-id': 'w' };
  const SLACK = { 'x-slack-signature': 'v0=' };

  it.each<[name: string, headers: Fields, body: object, type?: string | undefined, key?: string]>([
    ['GitHub', { 'x-github-event': 'push', 'x-github-delivery': 'd' }, NONE, 'com.github.push', 'x-github-delivery\nd'],
    ['GitHub', { ...HOOK, 'x-github-delivery': 'd' }, OPENED, 'com.github.issues.opened', 'x-github-delivery\nd 7'],
    ['GitHub', { ...HOOK, 'x-github-delivery': '' }, { payload: '{"action":"opened"}' }, 'com.github.issues.opened'],
    ['GitHub', { 'x-github-delivery': 'd' }, OPENED, undefined, 'x-github-delivery\nd'],
    ['GitLab', { 'x-gitlab-event': 'Merge Request  Hook', 'idempotency-key': 'k' }, NONE, 'com.gitlab.merge_request_'],
    ['Stripe', STRIPE, { type: 'a.b', id: 'evt_1' }, 'com.stripe.a.b', 'stripe-event\nevt_1'],
    ['Stripe', STRIPE, { id: 'evt_1', api_version: '2026-01-28' }, undefined, 'stripe-event\nevt_1 2026-01-28'],
    ['Stripe', STRIPE, { type: 7, id: { a: 1 } }],
    ['Stripe', STRIPE, { api_version: '2026-01-28' }],
    ['Stripe', STRIPE, { type: 'a\u0000b', id: 'a\nb' }],
    ['Shopify', SHOPIFY, NONE, 'com.shopify.a.b', 'x-shopify-webhook-id\nw'],
    ['Slack', SLACK, { event_id: 'Ev1' }, undefined, 'slack-event\nEv1'],
    ['Slack', SLACK, { event_id: 'Ev1', api_app_id: 'A1' }, undefined, 'slack-event\nA1 Ev1'],
  ])('%s: type and key of %p and %p', (name, headers, body, ...[type, key]) => {
    const sender = Sender.of(headers);
    expect(sender?.name).toBe(name);
    expect(sender?.typeOf(headers, { ...body })).toBe(type);
    expect(sender?.keyOf(headers, { ...body })).toBe(key);
  });

  const DIGEST = createHash('sha256').update('v0:1:signed').digest('base64url');
  it.each<[name: string, headers: Fields, body: object, key?: string]>([
    ['Standard Webhooks', { 'webhook-id': 'm' }, NONE, 'webhook-id\nm'],
    ['Svix', { 'svix-id': 'm', 'webhook-id': 'other' }, NONE, 'webhook-id\nm'],
    ['GitHub', { 'x-github-delivery': 'd' }, NONE, 'x-github-delivery\nd'],
    ['GitLab', { 'x-gitlab-event-uuid': 'u', 'idempotency-key': 'k' }, NONE, 'idempotency-key\nk'],
    ['GitLab', { 'x-gitlab-event-uuid': 'u' }, NONE],
    ['Stripe', NONE, { id: 'evt_1' }, 'stripe-event\nevt_1'],
    ['Slack', NONE, { event_id: 'Ev1' }, 'slack-event\nEv1'],
    ['Slack', { 'x-slack-request-timestamp': '1' }, NONE, `slack-event\n${DIGEST}`],
  ])('%s: beside a signature, its key of %p and %p is one that no other call has', (name, headers, body, ...[key]) => {
    const signedKey = (scope?: string) => Sender.named(name)?.keyOf(headers, { ...body }, scope, Buffer.from('signed'));
    expect(signedKey()).toBe(key && `signed ${key}`);
    expect(signedKey('POST /a')).toBe(key && `signed ${key.replace('\n', '\nPOST /a\n')}`);
  });
});

it('EVENT_TYPE is the type of its events, each known by the id in its data, but for those of CloudEvents', async () => {
  const service = await startService({ EVENT_TYPE: 'a.b' });
  const json = { 'Content-Type': 'application/json', 'Stripe-Signature': 't=1' };
  for (const livemode of [true, false])
    await post(service.url, JSON.stringify({ id: 'evt_1', type: 'invoice.paid', livemode }), json);
  const cloudEvent = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/s', 'ce-type': 'own' };
  await post(service.url, '{}', { ...json, ...cloudEvent });
  expect((await newestEvents(service.url)).map(({ type }) => type)).toEqual(['a.b', 'own']);
});
