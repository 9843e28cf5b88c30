import { randomUUID } from 'node:crypto';

/** The requests of a known sender, with made-up values. */
interface Samples {
  /** The header fields, without those of the signature. */
  fields(event: string, id: string): Readonly<Record<string, string>>;
  /** The bodies, by the sender's names of the events: an object for JSON, a text for a form. */
  readonly bodies: Readonly<Record<string, (id: string, time: Date) => object | string>>;
}

const seconds = (time: Date) => Math.floor(time.getTime() / 1000);

const standard: Samples = {
  fields: () => ({}),
  bodies: { 'order.paid': (_id, time) => ({ type: 'order.paid', timestamp: time.toISOString(), data: { order: 17 } }) },
};

/** By the short names of the senders that sign. */
const SAMPLES: Readonly<Record<string, Samples>> = {
  github: {
    fields: (event, id) => ({
      'User-Agent': 'GitHub-Hookshot/sample',
      'X-GitHub-Delivery': id,
      'X-GitHub-Event': event,
      'X-GitHub-Hook-ID': '1',
      'X-GitHub-Hook-Installation-Target-ID': '1',
      'X-GitHub-Hook-Installation-Target-Type': 'repository',
    }),
    bodies: {
      push: () => ({
        ref: 'refs/heads/main',
        before: '0'.repeat(40),
        after: '1'.repeat(40),
        repository: { id: 1, name: 'sample', full_name: 'octo/sample' },
        pusher: { name: 'octo' },
        sender: { id: 1, login: 'octo' },
        commits: [{ id: '1'.repeat(40), message: 'A sample', added: ['sample.txt'], removed: [], modified: [] }],
      }),
      ping: () => ({ zen: 'A sample.', hook_id: 1, hook: { id: 1, type: 'Repository', events: ['push'] } }),
    },
  },
  gitlab: {
    fields: (event, id) => ({
      'User-Agent': 'GitLab/sample',
      'X-Gitlab-Event': `${event.replace(/(?:^|_)(\w)/g, (_, letter: string) => ` ${letter.toUpperCase()}`).trim()} Hook`,
      'X-Gitlab-Event-UUID': id,
      'X-Gitlab-Instance': 'https://gitlab.example.com',
      'X-Gitlab-Webhook-UUID': id,
      'Idempotency-Key': id,
    }),
    bodies: {
      push: () => ({
        object_kind: 'push',
        ref: 'refs/heads/main',
        user_username: 'sample',
        project: { id: 1, path_with_namespace: 'group/sample' },
        commits: [{ id: '1'.repeat(40), message: 'A sample' }],
      }),
    },
  },
  stripe: {
    fields: () => ({ 'User-Agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)' }),
    bodies: {
      'payment_intent.succeeded': (id, time) => ({
        id: `evt_${id}`,
        object: 'event',
        created: seconds(time),
        livemode: false,
        type: 'payment_intent.succeeded',
        data: { object: { id: 'pi_1', object: 'payment_intent', amount: 1999, currency: 'eur', status: 'succeeded' } },
      }),
    },
  },
  shopify: {
    fields: (event, id) => ({
      'User-Agent': 'Shopify-Captain-Hook',
      'X-Shopify-Topic': event,
      'X-Shopify-Shop-Domain': 'sample.myshopify.com',
      'X-Shopify-API-Version': '2026-01',
      'X-Shopify-Webhook-Id': id,
      'X-Shopify-Triggered-At': new Date().toISOString(),
      'X-Shopify-Event-Id': id,
    }),
    bodies: {
      'orders/create': (_id, time) => ({
        id: seconds(time),
        name: '#1001',
        created_at: time.toISOString(),
        currency: 'EUR',
        total_price: '19.99',
        line_items: [{ id: 1, title: 'A sample', quantity: 1, price: '19.99' }],
      }),
    },
  },
  slack: {
    fields: () => ({ 'User-Agent': 'Slackbot 1.0 (+https://api.slack.com/robots)' }),
    bodies: {
      event: (id, time) => ({
        type: 'event_callback',
        team_id: 'T1',
        api_app_id: 'A1',
        event_id: `Ev${id}`,
        event_time: seconds(time),
        event: { type: 'app_mention', user: 'U1', channel: 'C1', text: '<@U2> a sample', ts: '1700000000.000100' },
      }),
      command: (id) =>
        new URLSearchParams({ command: '/sample', text: '', user_id: 'U1', team_id: 'T1', trigger_id: id }).toString(),
    },
  },
  'standard-webhooks': standard,
  svix: standard,
};

/** The first is the one that a sender has by default. */
export function eventsOf(sender: string): string[] {
  return Object.keys(SAMPLES[sender]?.bodies ?? {});
}

/**
 * Returns a request as a sender makes it, without its signature, or undefined if there is no sample of the event.
 *
 * @param data - the body, in place of that of the sample.
 */
export function sampleOf(sender: string, event: string, data?: string) {
  const samples = SAMPLES[sender];
  const id = randomUUID();
  const made = data ?? samples?.bodies[event]?.(id, new Date());
  if (samples === undefined || made === undefined) return undefined;
  const body = typeof made === 'string' ? made : JSON.stringify(made);
  const type = /^\s*[[{]/.test(body) ? 'application/json' : 'application/x-www-form-urlencoded';
  return { id, body: Buffer.from(body), headers: { 'Content-Type': type, ...samples.fields(event, id) } };
}
