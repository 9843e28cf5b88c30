import { createHmac } from 'node:crypto';

/** What begins a secret of Standard Webhooks that both sides share; base64 of the key follows. */
export const STANDARD_PREFIX = 'whsec_';

/** What a signature of Standard Webhooks (https://www.standardwebhooks.com, version 1) covers. */
export interface SignedMessage {
  /** The `webhook-id`: without full stops, so that the signed text cannot be cut in another place. */
  readonly id: string;
  /** The `webhook-timestamp`: seconds since 1970-01-01T00:00Z, in decimal digits. */
  readonly timestamp: string;
  readonly body: Buffer;
}

/** The key in a secret that begins with `whsec_`. */
export function standardKey(secret: string): Buffer {
  return Buffer.from(secret.slice(STANDARD_PREFIX.length), 'base64');
}

/** The signature under a key: HMAC-SHA256 of `id.timestamp.body`. */
export function standardSignature(key: Buffer, { id, timestamp, body }: SignedMessage): Buffer {
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
}

/**
 * The header fields that sign a message now, with a signature for each of the secrets: a sender uses two while it changes its
 * secret.
 */
export function standardHeaders(secrets: readonly string[], id: string, body: Buffer): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signatures = secrets.map((secret) => standardSignature(standardKey(secret), { id, timestamp, body }));
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.map((signature) => `v1,${signature.toString('base64')}`).join(' '),
  };
}
