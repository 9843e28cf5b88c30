import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The members of a JSON object; none if a body is anything else. */
export type Members = Readonly<Record<string, unknown>>;

/** A setting with the secrets of senders, which sign what they send. */
export type SenderSecret = 'webhookSecrets' | 'stripeSecrets' | 'shopifySecrets' | 'slackSecrets' | 'gitlabTokens';

/** A service that is known to send webhooks. */
export interface Sender {
  readonly name: string;
  /** The header field, in lower case, by which its calls are recognised. */
  readonly field: string;
  /** The CloudEvents `type` of a call; {@link typeOf} checks it. */
  readonly type?: (headers: IncomingHttpHeaders, body: Members) => unknown;
  /** The key of a delivery, which stays the same if it is sent again; {@link keyOf} checks it. */
  readonly key?: {
    /** In lower case, as the log keeps it before the key: keys of two senders never meet. */
    readonly name: string;
    /** @param signed - the body whose signature was verified. */
    of(headers: IncomingHttpHeaders, body: Members, signed?: Buffer): unknown;
  };
  readonly signature?: Signature;
}

/** Who has proved to have sent a call, and the body by which. */
export interface SignedBy {
  readonly sender: Sender;
  readonly body: Buffer;
}

/** How a sender proves that a call is its own. */
export interface Signature {
  /** The header field that holds the signature, in lower case. */
  readonly field: string;
  readonly setting: SenderSecret;
  /** The key of a secret; none if the secret, of a setting for several senders, belongs to another one. */
  signingKey(secret: string): Buffer | undefined;
  /** Returns why a signature is not valid for a body under any of the keys, as a sentence, unless it is valid. */
  problem(headers: IncomingHttpHeaders, body: Buffer, keys: readonly Buffer[]): string | undefined;
}

/** How far the time of a signature may be from this machine's, in seconds: five minutes, as each of the senders says. */
const TOLERANCE = 5 * 60;

/** Most signatures of one request that are checked: a sender sends two while it changes its secret. */
const MAX_SIGNATURES = 8;

/** The prefix of a shared secret of Standard Webhooks (https://www.standardwebhooks.com); base64 of the key follows. */
const STANDARD_PREFIX = 'whsec_';

/** Keys of Standard Webhooks, also the public and the private ones: what is public must never verify as a text. */
const STANDARD_KEY = /^wh(?:sec|pk|sk)_/i;

/** All known senders. If a call has the fields of several, the first one applies. */
export const SENDERS: readonly Sender[] = [
  standardSender('Standard Webhooks', 'webhook'),
  standardSender('Svix', 'svix'),
  {
    name: 'GitHub',
    field: 'x-github-delivery',
    type: ({ 'x-github-event': event }, { action }) => dotted('com.github', event, action),
    key: {
      name: 'x-github-delivery',
      // All hooks to which GitHub delivers an event get one id for it.
      of: ({ 'x-github-delivery': id, 'x-github-hook-id': hook }) =>
        id !== '' && hook !== undefined ? `${String(id)} ${String(hook)}` : id,
    },
    signature: {
      field: 'x-hub-signature-256',
      setting: 'webhookSecrets',
      signingKey: (secret) => (STANDARD_KEY.test(secret) ? undefined : Buffer.from(secret)),
      problem: ({ 'x-hub-signature-256': signature }, body, keys) => {
        const hex = /^sha256=([0-9a-f]{64})$/i.exec(String(signature))?.[1] ?? '';
        return matches([Buffer.from(hex, 'hex')], keys, (key) => hmac(key, body))
          ? undefined
          : 'The X-Hub-Signature-256 is not valid for this body.';
      },
    },
  },
  {
    name: 'GitLab',
    field: 'x-gitlab-event',
    // `Merge Request Hook` becomes `com.gitlab.merge_request`.
    type: ({ 'x-gitlab-event': event }) =>
      dotted(
        'com.gitlab',
        String(event)
          .replace(/ Hook$/i, '')
          .toLowerCase()
          .replace(/ /g, '_'),
      ),
    // Webhooks that other webhooks set off share the X-Gitlab-Event-UUID.
    key: { name: 'idempotency-key', of: (headers, _body, signed) => signed && headers['idempotency-key'] },
    signature: {
      field: 'x-gitlab-token',
      setting: 'gitlabTokens',
      signingKey: (secret) => Buffer.from(secret),
      // The token itself. Digests have one length.
      problem: ({ 'x-gitlab-token': token }, _body, keys) =>
        matches([hmac('', String(token))], keys, (key) => hmac('', key))
          ? undefined
          : 'The X-Gitlab-Token is not valid.',
    },
  },
  {
    name: 'Stripe',
    field: 'stripe-signature',
    type: (_headers, { type }) => dotted('com.stripe', type),
    key: { name: 'stripe-event', of: (_headers, { id }) => id },
    signature: {
      field: 'stripe-signature',
      setting: 'stripeSecrets',
      signingKey: (secret) => Buffer.from(secret),
      problem: ({ 'stripe-signature': signature }, body, keys) => {
        const parts = String(signature)
          .split(',', MAX_SIGNATURES + 1)
          .map((part) => part.trim().split('='));
        const time = parts.find(([name]) => name === 't')?.[1] ?? '';
        const given = parts.filter(([name]) => name === 'v1').map(([, hex = '']) => Buffer.from(hex, 'hex'));
        return (
          timeProblem(time, 'The time (t=) in Stripe-Signature') ??
          (matches(given, keys, (key) => hmac(key, `${time}.`, body))
            ? undefined
            : 'The Stripe-Signature is not valid for this body.')
        );
      },
    },
  },
  {
    name: 'Shopify',
    field: 'x-shopify-topic',
    type: ({ 'x-shopify-topic': topic }) => dotted('com.shopify', String(topic).replace(/\//g, '.')),
    key: { name: 'x-shopify-webhook-id', of: (headers) => headers['x-shopify-webhook-id'] },
    signature: {
      field: 'x-shopify-hmac-sha256',
      setting: 'shopifySecrets',
      signingKey: (secret) => Buffer.from(secret),
      problem: ({ 'x-shopify-hmac-sha256': signature }, body, keys) =>
        matches([Buffer.from(String(signature), 'base64')], keys, (key) => hmac(key, body))
          ? undefined
          : 'The X-Shopify-Hmac-Sha256 is not valid for this body.',
    },
  },
  {
    name: 'Slack',
    field: 'x-slack-signature',
    key: {
      name: 'slack-event',
      // Of a command or an interaction, which have no id, what was signed.
      of: ({ 'x-slack-request-timestamp': time }, { event_id: id }, signed) =>
        id ??
        (signed &&
          createHash('sha256')
            .update(`v0:${String(time)}:`)
            .update(signed)
            .digest('base64url')),
    },
    signature: {
      field: 'x-slack-signature',
      setting: 'slackSecrets',
      signingKey: (secret) => Buffer.from(secret),
      problem: ({ 'x-slack-signature': signature, 'x-slack-request-timestamp': time }, body, keys) => {
        const hex = /^v0=([0-9a-f]{64})$/i.exec(String(signature))?.[1] ?? '';
        return (
          timeProblem(String(time), 'The X-Slack-Request-Timestamp') ??
          (matches([Buffer.from(hex, 'hex')], keys, (key) => hmac(key, `v0:${String(time)}:`, body))
            ? undefined
            : 'The X-Slack-Signature is not valid for this body.')
        );
      },
    },
  },
];

const FIELDS = SENDERS.map((sender) => [sender.field, sender] as const);

/** Finds the sender of a call. Nothing is proved by that: anybody can send these header fields. */
export function senderOf(headers: IncomingHttpHeaders): Sender | undefined {
  for (const [field, sender] of FIELDS) if (headers[field] !== undefined) return sender;
  return undefined;
}

/** A type of a sender: names with dots between them. */
const TYPE = /^[\w:/-]{1,100}(?:\.[\w:/-]{1,100}){0,9}$/;

/** A type: the sender's domain, its name for the event, and `more` if given. */
function dotted(domain: string, name: unknown, more?: unknown): string | undefined {
  if (typeof name !== 'string') return undefined;
  return typeof more === 'string' ? `${domain}.${name}.${more}` : `${domain}.${name}`;
}

/** The CloudEvents `type` of a call, unless its sender has none for it or one that is no type. */
export function typeOf({ type }: Sender, headers: IncomingHttpHeaders, body: Members): string | undefined {
  const text = type?.(headers, body);
  return typeof text === 'string' && TYPE.test(text) ? text : undefined;
}

/**
 * The name of a sender's key and the key, a line feed between them, which no header field can hold. With a signature the name is
 * another: an unsigned call cannot use up the key of a signed one.
 */
export function keyOf(
  { key }: Sender,
  headers: IncomingHttpHeaders,
  body: Members,
  signed?: Buffer,
): string | undefined {
  const text = key?.of(headers, body, signed);
  if (key === undefined || typeof text !== 'string' || !/^[\x20-\x7e]{1,256}$/.test(text)) return undefined;
  return `${signed === undefined ? '' : 'signed '}${key.name}\n${text}`;
}

/** A sender that signs as Standard Webhooks says, in header fields whose names begin with a prefix. */
function standardSender(name: string, prefix: 'webhook' | 'svix'): Sender {
  const field = `${prefix}-signature`;
  return {
    name,
    field,
    type: (_headers, { type }) => type,
    // The same message may be sent under either name. Without a signature its id is that of any caller.
    key: { name: 'webhook-id', of: (headers, _body, signed) => signed && headers[`${prefix}-id`] },
    signature: {
      field,
      setting: 'webhookSecrets',
      signingKey: (secret) => (secret.startsWith(STANDARD_PREFIX) ? standardKey(secret) : undefined),
      problem(headers, body, keys) {
        const id = headers[`${prefix}-id`];
        const timestamp = String(headers[`${prefix}-timestamp`]);
        // Without full stops in the id, the signed text `id.timestamp.body` cannot be cut in another place.
        if (typeof id !== 'string' || id.includes('.') || !isTime(timestamp))
          return `The ${prefix}-id or the ${prefix}-timestamp of the signature is missing or not valid.`;
        const given = String(headers[field])
          .split(' ', MAX_SIGNATURES)
          .filter((signature) => signature.startsWith('v1,'))
          .map((signature) => Buffer.from(signature.slice(3), 'base64'));
        return (
          timeProblem(timestamp, `The ${prefix}-timestamp`) ??
          (matches(given, keys, (key) => standardSignature(key, id, timestamp, body))
            ? undefined
            : `The ${field} is not valid for this body.`)
        );
      },
    },
  };
}

function standardKey(secret: string): Buffer {
  return Buffer.from(secret.slice(STANDARD_PREFIX.length), 'base64');
}

function standardSignature(key: Buffer, id: string, timestamp: string, body: Buffer): Buffer {
  return hmac(key, `${id}.${timestamp}.`, body);
}

/**
 * The header fields of Standard Webhooks, version 1, that sign a message now, with a signature for each of the secrets: a sender
 * uses two while it changes its secret.
 *
 * @param id - without full stops, so that the signed text cannot be cut in another place.
 */
export function standardHeaders(secrets: readonly string[], id: string, body: Buffer): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signatures = secrets.map((secret) => standardSignature(standardKey(secret), id, timestamp, body));
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.map((signature) => `v1,${signature.toString('base64')}`).join(' '),
  };
}

function isTime(text: string): boolean {
  return /^\d{1,12}$/.test(text);
}

/** @param what - names the time, in seconds since 1970-01-01T00:00Z. */
function timeProblem(time: string, what: string): string | undefined {
  if (!isTime(time)) return `${what} is missing or not valid.`;
  if (Math.abs(Date.now() / 1000 - Number(time)) <= TOLERANCE) return undefined;
  return `${what} is more than ${String(TOLERANCE)} seconds from the time here.`;
}

function hmac(key: Buffer | string, ...parts: readonly (Buffer | string)[]): Buffer {
  const hash = createHmac('sha256', key);
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** Whether one of the signatures is that of one of the keys. Compares all of them, each in constant time. */
function matches(given: readonly Buffer[], keys: readonly Buffer[], right: (key: Buffer) => Buffer): boolean {
  let found = false;
  for (const key of keys) {
    const one = right(key);
    for (const signature of given) {
      found = (signature.length === one.length && timingSafeEqual(signature, one)) || found;
    }
  }
  return found;
}
