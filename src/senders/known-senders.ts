import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { signature, type Signature } from './signature';

export type JsonMembers = Readonly<Record<string, unknown>>;

/** The members of a JSON object; any other value has none of those that are looked for. */
export const membersOf = (value: unknown): JsonMembers => Object(value) as JsonMembers;

/** The description of a known `Sender`. */
interface SenderSpec {
  readonly name: string;
  /** The header field, in lower case, by which its calls are recognised, if there is one. */
  readonly field?: string;
  /** The CloudEvents `type` of a call; `Sender.typeOf` checks it. @param signed - the body whose signature was verified. */
  readonly type?: (headers: IncomingHttpHeaders, body: JsonMembers, signed?: Buffer) => unknown;
  /** The key of a delivery, which stays the same if it is sent again; `Sender.keyOf` checks it. */
  readonly key?: {
    /** In lower case, as the log keeps it before the key: keys of two senders never meet. */
    readonly name: string;
    /** The data itself has it: what is sent again under it is the same event, though a part of the data may have changed. */
    readonly isInData?: true;
    of(headers: IncomingHttpHeaders, body: JsonMembers, signed?: Buffer): unknown;
  };
  readonly signature: Signature;
  /** Other senders sign so, too, and are known by their own fields where the signed body names no type. */
  readonly isScheme?: true;
  /** A person sees the answer to a form of this sender, so it is left empty. */
  readonly wantsEmptyAnswerToForms?: true;
}

/** Keys of Standard Webhooks, also the public and the private ones: what is public must never verify as a text. */
const STANDARD_KEY = /^wh(?:sec|pk|sk)_/i;

const HUB_SIGNATURE = signature({
  field: 'x-hub-signature-256',
  setting: 'webhookSecrets',
  prefix: 'sha256=',
  signingKey: (secret) => (STANDARD_KEY.test(secret) ? undefined : Buffer.from(secret)),
  // Jira and Bitbucket write the same under the older name, which has SHA-1 from GitHub.
  textIn: ({ 'x-hub-signature-256': field, 'x-hub-signature': older }) =>
    field ?? (/^sha256=/i.test(String(older)) ? older : undefined),
});

export const STANDARD_WEBHOOKS = standardSender('Standard Webhooks', 'webhook');

/** The CloudEvents `type` that a sender may give. */
export const TYPE = /^[\w:/-]{1,100}(?:\.[\w:/-]{1,100}){0,9}$/;

/** All known senders. If a call has the fields of several, the first one applies: a field of its own says more than how it is signed. */
export const SENDERS: readonly SenderSpec[] = [
  {
    name: 'GitHub',
    field: 'x-github-delivery',
    type({ 'x-github-event': event }, { action, payload }) {
      const type = dotted('com.github', event, action ?? memberIn(payload, 'action'));
      // That of `repository_dispatch` is any text.
      return type !== undefined && TYPE.test(type) ? type : dotted('com.github', event);
    },
    key: {
      name: 'x-github-delivery',
      // All hooks to which GitHub delivers an event get one id for it.
      of: ({ 'x-github-delivery': id, 'x-github-hook-id': hook }) =>
        id && hook !== undefined ? `${String(id)} ${String(hook)}` : id,
    },
    signature: HUB_SIGNATURE,
  },
  {
    name: 'GitLab',
    field: 'x-gitlab-event',
    // `Merge Request Hook` becomes `com.gitlab.merge_request`.
    type({ 'x-gitlab-event': event }) {
      const name = String(event).replace(/ Hook$/i, '');
      return dotted('com.gitlab', name.toLowerCase().replace(/ /g, '_'));
    },
    // Webhooks that other webhooks set off share the X-Gitlab-Event-UUID.
    key: { name: 'idempotency-key', of: (headers, _body, signed) => signed && headers['idempotency-key'] },
    signature: signature({ field: 'x-gitlab-token', setting: 'gitlabTokens', isToken: true }),
  },
  {
    name: 'Stripe',
    field: 'stripe-signature',
    type: (_headers, { type }) => dotted('com.stripe', type),
    // An event goes to endpoints of different API versions while an account moves to another one, under one id.
    key: {
      name: 'stripe-event',
      isInData: true,
      of: (_headers, { id, api_version: version }) =>
        typeof id === 'string' && typeof version === 'string' ? `${id} ${version}` : id,
    },
    signature: signature({
      field: 'stripe-signature',
      setting: 'stripeSecrets',
      prefix: 'v1=',
      separator: ',',
      timeField: 'stripe-signature',
      before: (time) => `${time}.`,
    }),
  },
  {
    name: 'Shopify',
    field: 'x-shopify-topic',
    type: ({ 'x-shopify-topic': topic }) => dotted('com.shopify', String(topic).replace(/\//g, '.')),
    key: { name: 'x-shopify-webhook-id', of: (headers) => headers['x-shopify-webhook-id'] },
    signature: signature({ field: 'x-shopify-hmac-sha256', setting: 'shopifySecrets', encoding: 'base64' }),
  },
  {
    name: 'Slack',
    field: 'x-slack-signature',
    // The Events API names the event within. Commands and interactions are forms, whatever the content type of a signed one says.
    type(_headers, members, signed) {
      const text = signed?.toString();
      const { command, payload, event, type } =
        text === undefined || text.startsWith('{') ? members : membersOf(Object.fromEntries(new URLSearchParams(text)));
      if (typeof command === 'string') return 'com.slack.command';
      return dotted('com.slack', memberIn(payload, 'type') ?? membersOf(event).type ?? type);
    },
    key: {
      name: 'slack-event',
      isInData: true,
      of({ 'x-slack-request-timestamp': time }, { event_id: id, api_app_id: app }, signed) {
        const key = typeof app === 'string' && typeof id === 'string' ? `${app} ${id}` : id;
        // Commands and interactions have no id.
        const start = `v0:${String(time)}:`;
        return key ?? (signed && createHash('sha256').update(start).update(signed).digest('base64url'));
      },
    },
    signature: signature({
      field: 'x-slack-signature',
      setting: 'slackSecrets',
      prefix: 'v0=',
      timeField: 'x-slack-request-timestamp',
      before: (time) => `v0:${time}:`,
    }),
    // Commands, and what people do in messages and modals.
    wantsEmptyAnswerToForms: true,
  },
  STANDARD_WEBHOOKS,
  standardSender('Svix', 'svix'),
  // Others sign as GitHub does.
  { name: 'X-Hub-Signature-256', signature: HUB_SIGNATURE, isScheme: true },
];

/** A text member of the JSON object that a form has as its `payload`, if the object begins with it, as those of GitHub and Slack do. */
function memberIn(payload: unknown, name: string): string | undefined {
  return typeof payload === 'string' ? new RegExp(`^\\{"${name}":"([^"]*)"`).exec(payload)?.[1] : undefined;
}

/** A type: the sender's domain, its name for the event, and `more` if given. */
function dotted(domain: string, name: unknown, more?: unknown): string | undefined {
  if (typeof name !== 'string') return undefined;
  return typeof more === 'string' ? `${domain}.${name}.${more}` : `${domain}.${name}`;
}

/** A sender that signs as Standard Webhooks says (version 1), in header fields whose names begin with a prefix. */
function standardSender(name: string, prefix: 'webhook' | 'svix') {
  const [field, idField] = [`${prefix}-signature`, `${prefix}-id`];
  return {
    name,
    field,
    type: (_headers, { type }) => type,
    // The same message may be sent under either name. Without a signature its id is that of any caller.
    key: { name: 'webhook-id', of: (headers, _body, signed) => signed && headers[idField] },
    signature: signature({
      field,
      setting: 'webhookSecrets',
      encoding: 'base64',
      prefix: 'v1,',
      separator: ' ',
      idField,
      timeField: `${prefix}-timestamp`,
      before: (time, id) => `${id}.${time}.`,
      // Others write another kind into a `Webhook-Signature`, without an id and `v1,`.
      textIn: ({ [field]: text, [idField]: id }) =>
        id !== undefined && /(?:^| )v1,/.test(String(text)) ? text : undefined,
      signingKey: (secret) => (secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : undefined),
    }),
    isScheme: true,
  } satisfies SenderSpec;
}
