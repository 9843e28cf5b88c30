import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { HANDSHAKES, membersOf, type Handshake, type JsonMembers } from './handshakes';
import { bodySignature, tokenIn, type Signature } from './signature';

/** The description of a known `Sender`. */
interface SenderForm {
  readonly name: string;
  /** The header field, in lower case, by which its calls are recognised, if there is one. */
  readonly field?: string;
  /** Whether a call that has the field is its own; without it all are. */
  readonly isFrom?: (headers: IncomingHttpHeaders) => boolean;
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
  readonly signature?: Signature;
  /** Other senders sign so, too, and are known by their own fields where the signed body names no type. */
  readonly isScheme?: true;
  readonly handshake?: Handshake;
  /** A person sees the answer to a form of this sender, so it is left empty. */
  readonly wantsFormsUnanswered?: true;
}

/** Most signatures of one request that are checked: a sender sends two while it changes its secret. */
const MAX_SIGNATURES = 8;

/** Keys of Standard Webhooks, also the public and the private ones: what is public must never verify as a text. */
const STANDARD_KEY = /^wh(?:sec|pk|sk)_/i;

/** The signature of Standard Webhooks, version 1. */
export const STANDARD_SIGNATURE = standardSignature('webhook');

const SHA256 = 'sha256=';

const HUB_SIGNATURE = bodySignature({
  field: 'x-hub-signature-256',
  setting: 'webhookSecrets',
  signingKey: (secret) => (STANDARD_KEY.test(secret) ? undefined : Buffer.from(secret)),
  // Jira and Bitbucket write the same under the older name, which has SHA-1 from GitHub.
  read({ 'x-hub-signature-256': field, 'x-hub-signature': older }) {
    const given = field ?? (String(older).toLowerCase().startsWith(SHA256) ? older : undefined);
    return given === undefined ? undefined : { given: [hexAfter(SHA256, given)] };
  },
  write: ([signature]) => ({ 'x-hub-signature-256': `sha256=${hexOf(signature)}` }),
});

/** The CloudEvents `type` that a sender may give. */
export const TYPE = /^[\w:/-]{1,100}(?:\.[\w:/-]{1,100}){0,9}$/;

/** All known senders. If a call has the fields of several, the first one applies: a field of its own says more than how it is signed. */
export const SENDERS: readonly SenderForm[] = [
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
        id !== '' && hook !== undefined ? `${String(id)} ${String(hook)}` : id,
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
    signature: tokenIn({ field: 'x-gitlab-token', setting: 'gitlabTokens' }),
  },
  {
    name: 'Stripe',
    field: 'stripe-signature',
    type: (_headers, { type }) => dotted('com.stripe', type),
    // An event goes to endpoints of different API versions while an account moves to another one, under one id.
    key: {
      name: 'stripe-event',
      isInData: true,
      of: (_headers, { id, api_version: version }) => (typeof version === 'string' ? `${String(id)} ${version}` : id),
    },
    signature: bodySignature({
      field: 'stripe-signature',
      timeName: 'The time (t=) in Stripe-Signature',
      setting: 'stripeSecrets',
      before: ({ time }) => `${time}.`,
      read({ 'stripe-signature': field }) {
        if (field === undefined) return undefined;
        const parts = String(field)
          .split(',', MAX_SIGNATURES + 1)
          .map((part) => part.trim().split('='));
        const time = parts.find(([name]) => name === 't')?.[1] ?? '';
        const given = parts.filter(([name]) => name === 'v1').map(([, hex = '']) => Buffer.from(hex, 'hex'));
        return { stamp: { id: '', time }, given };
      },
      write: (signatures, { time }) => ({
        'stripe-signature': [`t=${time}`, ...signatures.map((signature) => `v1=${hexOf(signature)}`)].join(),
      }),
    }),
  },
  {
    name: 'Shopify',
    field: 'x-shopify-topic',
    type: ({ 'x-shopify-topic': topic }) => dotted('com.shopify', String(topic).replace(/\//g, '.')),
    key: { name: 'x-shopify-webhook-id', of: (headers) => headers['x-shopify-webhook-id'] },
    signature: bodySignature({
      field: 'x-shopify-hmac-sha256',
      setting: 'shopifySecrets',
      read: ({ 'x-shopify-hmac-sha256': field }) =>
        field === undefined ? undefined : { given: [Buffer.from(String(field), 'base64')] },
      write: ([signature]) => ({ 'x-shopify-hmac-sha256': signature?.toString('base64') ?? '' }),
    }),
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
    signature: bodySignature({
      field: 'x-slack-signature',
      timeName: 'The X-Slack-Request-Timestamp',
      setting: 'slackSecrets',
      before: ({ time }) => `v0:${time}:`,
      read: ({ 'x-slack-signature': field, 'x-slack-request-timestamp': time }) =>
        field === undefined ? undefined : { stamp: { id: '', time: String(time) }, given: [hexAfter('v0=', field)] },
      write: ([signature], { time }) => ({
        'x-slack-request-timestamp': time,
        'x-slack-signature': `v0=${hexOf(signature)}`,
      }),
    }),
    handshake: HANDSHAKES.slack,
    // Commands, and what people do in messages and modals.
    wantsFormsUnanswered: true,
  },
  standardSender('Standard Webhooks', 'webhook', STANDARD_SIGNATURE),
  standardSender('Svix', 'svix', standardSignature('svix')),
  // Others sign as GitHub does.
  { name: 'X-Hub-Signature-256', signature: HUB_SIGNATURE, isScheme: true },
  { name: 'WebSub', handshake: HANDSHAKES.websub },
  { name: 'Microsoft Graph', handshake: HANDSHAKES.msgraph },
  { name: 'Azure Event Grid', handshake: HANDSHAKES.eventgrid },
  { name: 'Salesforce', handshake: HANDSHAKES.salesforce },
  { name: 'Trello', handshake: HANDSHAKES.trello },
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

/** A sender that signs as Standard Webhooks says, in header fields whose names begin with a prefix. */
function standardSender(name: string, prefix: 'webhook' | 'svix', signature: Signature): SenderForm {
  return {
    name,
    field: signature.field,
    isFrom: (headers) => signatureOf(headers, prefix) !== undefined,
    type: (_headers, { type }) => type,
    // The same message may be sent under either name. Without a signature its id is that of any caller.
    key: { name: 'webhook-id', of: (headers, _body, signed) => signed && headers[`${prefix}-id`] },
    signature,
    isScheme: true,
  };
}

/** The text with the signatures of Standard Webhooks; others write another kind into a `Webhook-Signature`, without an id and `v1,`. */
function signatureOf(headers: IncomingHttpHeaders, prefix: 'webhook' | 'svix'): string | undefined {
  const text = String(headers[`${prefix}-signature`]);
  return headers[`${prefix}-id`] !== undefined && /(?:^| )v1,/.test(text) ? text : undefined;
}

function standardSignature(prefix: 'webhook' | 'svix'): Signature {
  const field = `${prefix}-signature`;
  return bodySignature({
    field,
    timeName: `The ${prefix}-timestamp`,
    setting: 'webhookSecrets',
    signingKey: (secret) =>
      secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : undefined,
    before: ({ id, time }) => `${id}.${time}.`,
    read(headers) {
      const text = signatureOf(headers, prefix);
      if (text === undefined) return undefined;
      const id = headers[`${prefix}-id`];
      // Without full stops in the id, the signed text `id.timestamp.body` cannot be cut in another place.
      if (typeof id !== 'string' || id.includes('.')) return `The ${prefix}-id of the signature is not valid.`;
      const given = text
        .split(' ', MAX_SIGNATURES)
        .filter((signature) => signature.startsWith('v1,'))
        .map((signature) => Buffer.from(signature.slice(3), 'base64'));
      return { stamp: { id, time: String(headers[`${prefix}-timestamp`]) }, given };
    },
    write: (signatures, { id, time }) => ({
      [`${prefix}-id`]: id,
      [`${prefix}-timestamp`]: time,
      [field]: signatures.map((signature) => `v1,${signature.toString('base64')}`).join(' '),
    }),
  });
}

/** The bytes of a signature that is written in hexadecimal digits after a prefix; none if it is written otherwise. */
function hexAfter(prefix: string, field: string | string[] | undefined): Buffer {
  const text = String(field);
  const hex = text.slice(prefix.length);
  const isHex = text.toLowerCase().startsWith(prefix) && /^[0-9a-f]{64}$/i.test(hex);
  return Buffer.from(isHex ? hex : '', 'hex');
}

function hexOf(signature: Buffer | undefined): string {
  return signature?.toString('hex') ?? '';
}
