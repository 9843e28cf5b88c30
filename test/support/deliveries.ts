import { createHmac } from 'node:crypto';
import { Sender } from '../../src/senders/sender';

/** The settings under which each delivery of {@link DELIVERIES} is let in. */
export const RECORD_KEY = 'record-key-0123456789';
export const SECRETS = {
  WEBHOOK_SECRETS: `whsec_${Buffer.alloc(32, 'k').toString('base64')},the-secret-of-GitHub-16`,
  STRIPE_SECRETS: 'whsec_test_secret_of_an_endpoint',
  SHOPIFY_SECRETS: 'hush-of-an-app-16',
  SLACK_SECRETS: '8f742231b10e8888abcd99yyyzzz85a5',
  GITLAB_TOKENS: 'token-of-a-project',
};
const [STANDARD = '', HUB = ''] = SECRETS.WEBHOOK_SECRETS.split(',');

/** Header fields with the ids of deliveries that no known sender has. */
export const ID_FIELDS =
  'X-Request-UUID,X-Atlassian-Webhook-Identifier,I-Twilio-Idempotency-Token,PAYPAL-TRANSMISSION-ID,X-WC-Webhook-Delivery-ID';

export type Fields = Record<string, string>;

/** A delivery as its sender's documentation shows it. */
export interface Delivery {
  readonly what: string;
  /** What its event has. Without `signedBy` no signature is verified: it comes with a key in the address. */
  readonly event: { readonly type: string; readonly sender?: string; readonly signedBy?: string };
  /** Only header fields, which that signature does not cover, say who sends. */
  readonly isNamedByFields?: true;
  /** A field that is neither signed nor a key. */
  readonly fields: (body: string, id: string) => Fields;
  /** The header fields that are not kept. */
  readonly hidden: readonly string[];
  readonly body: string;
  /** The same delivery with other data. */
  readonly changed: string;
  /** The next delivery, if the body says which one it is. What has changed in a body with an id counts as the same event. */
  readonly next?: string;
  /** It has no id, or the body is the id: what has changed is another event. */
  readonly id?: 'none' | 'body';
}

const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text);
const now = () => String(Math.floor(Date.now() / 1000));

const github = (event: string, type: string, bodyWith: (value: string) => string): Delivery => ({
  what: `GitHub: ${event}`,
  event: { type, sender: 'github', signedBy: 'GitHub' },
  fields: (body, id) => ({
    'User-Agent': 'GitHub-Hookshot/044aadd',
    'X-GitHub-Delivery': id,
    'X-GitHub-Event': event,
    'X-GitHub-Hook-ID': '292430182',
    'X-GitHub-Hook-Installation-Target-ID': '79929171',
    'X-GitHub-Hook-Installation-Target-Type': 'repository',
    'X-Hub-Signature': `sha1=${createHmac('sha1', HUB).update(body).digest('hex')}`,
    'X-Hub-Signature-256': `sha256=${hmac(HUB, body).digest('hex')}`,
  }),
  hidden: ['x-hub-signature', 'x-hub-signature-256'],
  body: bodyWith('1'),
  changed: bodyWith('2'),
});

const gitlab = (version: string, event: string, id: string) => ({
  'User-Agent': `GitLab/${version}`,
  'X-Gitlab-Event': event,
  'X-Gitlab-Event-UUID': 'one-for-recursive-webhooks',
  'X-Gitlab-Instance': 'https://gitlab.example.com',
  'X-Gitlab-Webhook-UUID': '02affd2d-2cba-4033-917d-ec22d5dc4b38',
  'X-Gitlab-Token': SECRETS.GITLAB_TOKENS,
  'Idempotency-Key': id,
});

/** @param prefix - that of the names of the header fields. */
function standard(prefix: 'webhook' | 'svix', body: string, id: string): Fields {
  const fields = Object.entries(Sender.standardSignature.sign(id, Buffer.from(body), [STANDARD]));
  return Object.fromEntries(fields.map(([name, value]) => [name.replace('webhook', prefix), value]));
}

function slack(body: string): Fields {
  const time = now();
  const signature = hmac(SECRETS.SLACK_SECRETS, `v0:${time}:${body}`).digest('hex');
  return {
    'User-Agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
    'X-Slack-Request-Timestamp': time,
    'X-Slack-Signature': `v0=${signature}`,
  };
}

const slackForm = (what: string, type: string, bodyWith: (value: string) => string): Delivery => ({
  what: `Slack: ${what}`,
  event: { type, sender: 'slack', signedBy: 'Slack' },
  fields: slack,
  hidden: ['x-slack-signature'],
  id: 'body',
  body: bodyWith('1'),
  changed: bodyWith('2'),
  next: bodyWith('3'),
});

export const DELIVERIES: readonly Delivery[] = [
  github('push', 'com.github.push', (value) => `{"ref":"refs/heads/${value}"}`),
  github('issues', 'com.github.issues.opened', (value) => `{"action":"opened","issue":{"number":${value}}}`),
  github(
    'repository_dispatch',
    'com.github.repository_dispatch',
    (value) => `{"action":"deploy to production, now!","branch":"${value}"}`,
  ),
  {
    what: 'GitLab 18',
    event: { type: 'com.gitlab.push', sender: 'gitlab', signedBy: 'GitLab' },
    hidden: ['x-gitlab-token'],
    fields: (_body, id) => gitlab('18.3.0-ee', 'Push Hook', id),
    body: '{"object_kind":"push","ref":"refs/heads/main"}',
    changed: '{"object_kind":"push","ref":"refs/heads/other"}',
  },
  {
    what: 'GitLab 19 with a signing token',
    event: { type: 'com.gitlab.merge_request', sender: 'gitlab', signedBy: 'Standard Webhooks' },
    isNamedByFields: true,
    fields: (body, id) => ({ ...gitlab('19.0.0-ee', 'Merge Request Hook', id), ...standard('webhook', body, id) }),
    hidden: ['x-gitlab-token', 'webhook-signature'],
    body: '{"object_kind":"merge_request","object_attributes":{"iid":1}}',
    changed: '{"object_kind":"merge_request","object_attributes":{"iid":2}}',
  },
  {
    what: 'Stripe',
    event: { type: 'com.stripe.invoice.paid', sender: 'stripe', signedBy: 'Stripe' },
    hidden: ['stripe-signature'],
    fields(body) {
      const time = now();
      return {
        'User-Agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
        Accept: '*/*; q=0.5, application/xml',
        'Cache-Control': 'no-cache',
        'Stripe-Signature': `t=${time},v1=${hmac(SECRETS.STRIPE_SECRETS, `${time}.${body}`).digest('hex')}`,
      };
    },
    body: '{"id":"evt_1","object":"event","pending_webhooks":2,"type":"invoice.paid"}',
    changed: '{"id":"evt_1","object":"event","pending_webhooks":1,"type":"invoice.paid"}',
    next: '{"id":"evt_2","object":"event","pending_webhooks":1,"type":"invoice.paid"}',
  },
  {
    what: 'Shopify',
    event: { type: 'com.shopify.orders.create', sender: 'shopify', signedBy: 'Shopify' },
    hidden: ['x-shopify-hmac-sha256'],
    fields: (body, id) => ({
      'User-Agent': 'Shopify-Captain-Hook',
      'X-Shopify-Topic': 'orders/create',
      'X-Shopify-Hmac-Sha256': hmac(SECRETS.SHOPIFY_SECRETS, body).digest('base64'),
      'X-Shopify-Shop-Domain': 'shop.myshopify.com',
      'X-Shopify-API-Version': '2026-01',
      'X-Shopify-Webhook-Id': id,
      'X-Shopify-Triggered-At': '2026-03-29T18:00:27.877041743Z',
      'X-Shopify-Event-Id': 'one-for-several-webhooks',
    }),
    body: '{"id":1}',
    changed: '{"id":2}',
  },
  {
    what: 'Slack: an event',
    event: { type: 'com.slack.app_mention', sender: 'slack', signedBy: 'Slack' },
    hidden: ['x-slack-signature'],
    fields: slack,
    body: '{"type":"event_callback","api_app_id":"A1","event_id":"Ev1","event":{"type":"app_mention","text":"a"}}',
    changed: '{"type":"event_callback","api_app_id":"A1","event_id":"Ev1","event":{"type":"app_mention","text":"b"}}',
    next: '{"type":"event_callback","api_app_id":"A1","event_id":"Ev2","event":{"type":"app_mention","text":"b"}}',
  },
  slackForm('a command', 'com.slack.command', (value) => `command=%2Fweather&text=${value}&trigger_id=1.2.3`),
  slackForm('an interaction', 'com.slack.block_actions', (value) =>
    new URLSearchParams({ payload: `{"type":"block_actions","trigger_id":"${value}"}` }).toString(),
  ),
  {
    what: 'Bitbucket',
    event: { type: 'webhook.recorded', sender: 'x-hub-signature-256', signedBy: 'X-Hub-Signature-256' },
    isNamedByFields: true,
    fields: (body, id) => ({
      'User-Agent': 'Bitbucket-Webhooks/2.0',
      'X-Event-Key': 'repo:push',
      'X-Hook-UUID': '{02affd2d-2cba-4033-917d-ec22d5dc4b38}',
      'X-Request-UUID': id,
      'X-Attempt-Number': '1',
      'X-Event-Time': 'Mon, 30 Mar 2026 13:49:56 GMT',
      'X-Hub-Signature': `sha256=${hmac(HUB, body).digest('hex')}`,
    }),
    hidden: ['x-hub-signature'],
    body: '{"push":{"changes":[1]}}',
    changed: '{"push":{"changes":[2]}}',
  },
  {
    what: 'Jira',
    event: { type: 'webhook.recorded', sender: 'x-hub-signature-256', signedBy: 'X-Hub-Signature-256' },
    isNamedByFields: true,
    fields: (body, id) => ({
      'User-Agent': 'Atlassian Webhook HTTP Client',
      'X-Atlassian-Webhook-Identifier': id,
      'X-Atlassian-Webhook-Flow': 'Primary',
      'X-Hub-Signature': `sha256=${hmac(HUB, body).digest('hex')}`,
    }),
    hidden: ['x-hub-signature'],
    body: '{"webhookEvent":"jira:issue_updated","issue":{"id":"1"}}',
    changed: '{"webhookEvent":"jira:issue_updated","issue":{"id":"2"}}',
  },
  {
    what: 'GoCardless',
    event: { type: 'webhook.recorded' },
    hidden: ['webhook-signature'],
    id: 'none',
    fields: (body) => ({
      'User-Agent': 'gocardless-webhook-service/1.1',
      Origin: 'https://api.gocardless.com',
      'Webhook-Signature': hmac('a-secret-that-is-not-set', body).digest('hex'),
    }),
    body: '{"events":[{"id":"EV1","resource_type":"payments","action":"confirmed"}]}',
    changed: '{"events":[{"id":"EV1","resource_type":"payments","action":"failed"}]}',
  },
  {
    what: 'Twilio',
    event: { type: 'webhook.recorded' },
    hidden: ['x-twilio-signature'],
    fields: (body, id) => ({
      'User-Agent': 'TwilioProxy/1.1',
      'I-Twilio-Idempotency-Token': id,
      'X-Twilio-Signature': createHmac('sha1', 'token').update(body).digest('base64'),
    }),
    body: 'MessageSid=SM1&MessageStatus=sent',
    changed: 'MessageSid=SM1&MessageStatus=delivered',
  },
  {
    what: 'PayPal',
    event: { type: 'webhook.recorded' },
    hidden: ['paypal-transmission-sig'],
    fields: (_body, id) => ({
      'User-Agent': 'PayPal/AUHD-1.0-1',
      'PAYPAL-AUTH-ALGO': 'SHA256withRSA',
      'PAYPAL-AUTH-VERSION': 'v2',
      'PAYPAL-CERT-URL': 'https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-5a29e601',
      'PAYPAL-TRANSMISSION-ID': id,
      'PAYPAL-TRANSMISSION-SIG': 'thy4/U002quzxFavHPwbfJGcc46E8rc5jzgyeafWm5mI',
      'PAYPAL-TRANSMISSION-TIME': '2026-02-18T20:01:35Z',
    }),
    body: '{"id":"WH-1","event_type":"PAYMENT.CAPTURE.COMPLETED"}',
    changed: '{"id":"WH-1","event_type":"PAYMENT.CAPTURE.DENIED"}',
  },
  {
    what: 'WooCommerce',
    event: { type: 'webhook.recorded' },
    hidden: ['x-wc-webhook-signature'],
    fields: (body, id) => ({
      'User-Agent': 'WooCommerce/9.8.1 Hookshot (WordPress/6.8)',
      Referer: 'https://hooks.example.com/woocommerce',
      'X-WC-Webhook-Source': 'https://shop.example.com/',
      'X-WC-Webhook-Topic': 'order.created',
      'X-WC-Webhook-Resource': 'order',
      'X-WC-Webhook-Event': 'created',
      'X-WC-Webhook-Signature': hmac('a-secret-that-is-not-set', body).digest('base64'),
      'X-WC-Webhook-ID': '3',
      'X-WC-Webhook-Delivery-ID': id,
    }),
    body: '{"id":4750,"status":"completed"}',
    changed: '{"id":4750,"status":"refunded"}',
  },
  {
    what: 'Standard Webhooks',
    event: { type: 'a.b', sender: 'standard-webhooks', signedBy: 'Standard Webhooks' },
    hidden: ['webhook-signature'],
    fields: (body, id) => standard('webhook', body, id),
    body: '{"type":"a.b","data":1}',
    changed: '{"type":"a.b","data":2}',
  },
  {
    what: 'Svix',
    event: { type: 'a.b', sender: 'svix', signedBy: 'Svix' },
    hidden: ['svix-signature'],
    fields: (body, id) => ({ 'User-Agent': 'Svix-Webhooks/1.84.0', ...standard('svix', body, id) }),
    body: '{"type":"a.b","data":1}',
    changed: '{"type":"a.b","data":2}',
  },
];

/** The content type of a body. */
export function typed(body: string): Fields {
  return { 'Content-Type': body.startsWith('{') ? 'application/json' : 'application/x-www-form-urlencoded' };
}
