import { createHmac, scryptSync, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** A setting with the secrets of senders, which sign what they send. */
export type SenderSecret = 'webhookSecrets' | 'stripeSecrets' | 'shopifySecrets' | 'slackSecrets' | 'gitlabTokens';

/** How a sender proves that a call is its own: the same for verifying and for signing. Names of header fields are in lower case. */
interface SignatureSpec {
  /** The header field that holds the signature of the body (HMAC with SHA-256). */
  readonly field: string;
  readonly setting: SenderSecret;
  /** Set for a secret that is sent as it is, and signs nothing: the body may be anybody's. */
  readonly isToken?: true;
  /** Hexadecimal digits by default. */
  readonly encoding?: 'base64';
  /** Stands before each signature. */
  readonly prefix?: string;
  /** Stands between several signatures, if a sender writes another while it changes its secret. */
  readonly separator?: string;
  /** The field with the id of the message, if that is signed. */
  readonly idField?: string;
  /** The field with the time in seconds since 1970-01-01T00:00Z, if that is signed; or the signature's own field, with it after `t=`. */
  readonly timeField?: string;
  /** Returns the text that is signed before the body. */
  readonly before?: (time: string, id: string) => string;
  /** Returns the text of the field, unless that is a signature of another kind. */
  readonly textIn?: (headers: IncomingHttpHeaders) => string | string[] | undefined;
  /** Returns the key of a secret; none if the secret, of a setting for several senders, belongs to another one. */
  readonly signingKey?: (secret: string) => Buffer | undefined;
}

export type Signature = ReturnType<typeof signature>;

export function signature(spec: SignatureSpec) {
  // No header field has a line feed.
  const { field, isToken = false, prefix = '', separator = '\n', idField, timeField, encoding = 'hex' } = spec;
  const { before = () => '', textIn = (headers) => headers[field] } = spec;
  const { signingKey = (secret) => Buffer.from(secret) } = spec;
  /** The keys of secrets, without those that belong to another sender. */
  const keysOf = (secrets: readonly string[]): Buffer[] => secrets.flatMap((secret) => signingKey(secret) ?? []);
  return {
    ...spec,
    isToken,
    textIn,
    keysOf,

    /**
     * Reads the signature in header fields, if they have one. `problem`, a sentence, says why it is valid for no body; `check` returns
     * true if a body was signed with a key, in time proportional to the body.
     */
    read(headers: IncomingHttpHeaders) {
      const text = textIn(headers);
      if (text === undefined) return undefined;
      // Digests have one length.
      if (isToken)
        return { check: (_body: Buffer, key: Buffer) => timingSafeEqual(hmac('', String(text)), hmac('', key)) };
      const id = idField === undefined ? '' : headers[idField];
      // Without full stops in the id, the signed text `id.timestamp.body` cannot be cut in another place.
      if (typeof id !== 'string' || id.includes('.'))
        return { problem: `The ${String(idField)} of the signature is not valid.` };
      const parts = String(text)
        .split(separator)
        .map((part) => part.trim());
      const time = timeField === field ? parts.find((one) => one.startsWith('t='))?.slice(2) : headers[timeField ?? ''];
      if (timeField !== undefined) {
        const what = timeField === field ? `time (t=) in ${field}` : timeField;
        if (!/^\d{1,12}$/.test(String(time))) return { problem: `The ${what} is missing or not valid.` };
        if (Math.abs(Date.now() / 1000 - Number(time)) > TOLERANCE)
          return { problem: `The ${what} is more than ${String(TOLERANCE)} seconds from the time here.` };
      }
      const given = parts
        .filter((part) => part.toLowerCase().startsWith(prefix))
        .slice(0, MAX_SIGNATURES)
        .map((part) => Buffer.from(part.slice(prefix.length), encoding))
        .filter(({ length }) => length === SHA256_BYTES);
      if (given.length === 0) return { problem: `The ${field} is not valid.` };
      return {
        check(body: Buffer, key: Buffer) {
          const right = hmac(key, before(String(time), id), body);
          return given.some((one) => timingSafeEqual(one, right));
        },
      };
    },

    /**
     * Returns the header fields with which the sender signs a body now, with each of the secrets if it can.
     *
     * @param id - of the message, without full stops: with them the signed text could be cut in another place.
     */
    sign(id: string, body: Buffer, secrets: readonly string[]): Readonly<Record<string, string>> {
      const time = String(Math.floor(Date.now() / 1000));
      const signatures = keysOf(secrets)
        .slice(0, spec.separator === undefined ? 1 : MAX_SIGNATURES)
        .map((key) =>
          isToken ? key.toString('latin1') : prefix + hmac(key, before(time, id), body).toString(encoding),
        );
      return {
        ...(idField && { [idField]: id }),
        ...(timeField && { [timeField]: time }),
        [field]: [...(timeField === field ? [`t=${time}`] : []), ...signatures].join(separator),
      };
    },
  };
}

/** Most signatures of one request that are checked. */
const MAX_SIGNATURES = 8;

/** How far the time of a signature may be from this machine's, in seconds: five minutes, as each of the senders says. */
const TOLERANCE = 5 * 60;

const SHA256_BYTES = 32;

/** The ids of secrets in the log, by key. They outlive a reload, which keeps most secrets. */
const SECRET_IDS = new Map<string, string>();

/** Returns a key, and a function for the id of its secret in the log: 50 ms of work, so that readers of the log cannot guess the secret. */
export function secretKey(key: Buffer) {
  const text = key.toString('latin1');
  const id = (): string => {
    const known = SECRET_IDS.get(text) ?? scryptSync(key, 'asmx-webhook', 6).toString('base64url');
    SECRET_IDS.set(text, known);
    return known;
  };
  return { key, id };
}

function hmac(key: Buffer | string, ...parts: readonly (Buffer | string)[]): Buffer {
  const hash = createHmac('sha256', key);
  for (const part of parts) hash.update(part);
  return hash.digest();
}
