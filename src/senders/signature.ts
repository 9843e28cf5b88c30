import { createHmac, scryptSync, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** A setting with the secrets of senders, which sign what they send. */
export type SenderSecret = 'webhookSecrets' | 'stripeSecrets' | 'shopifySecrets' | 'slackSecrets' | 'gitlabTokens';

/** Whether a body was signed with a key. It takes time in proportion to the body. */
type SignatureCheck = (body: Buffer, key: Buffer) => boolean;

/** How a sender proves that a call is its own. */
export interface Signature {
  /** The header field that holds the signature, in lower case. */
  readonly field: string;
  readonly setting: SenderSecret;
  /** Set for a secret that is sent as it is: the body may be anybody's. */
  readonly isToken?: true;
  /** The key of a secret; none if the secret, of a setting for several senders, belongs to another one. */
  signingKey(secret: string): Buffer | undefined;
  /** Reads the signature in header fields: undefined if they have none of this kind, a sentence if it can be valid for no body. */
  read(headers: IncomingHttpHeaders): SignatureCheck | string | undefined;
  /**
   * Returns the header fields with which the sender signs a body now, with each of the keys if it can.
   *
   * @param id - of the message, without full stops: with them the signed text could be cut in another place.
   */
  sign(id: string, body: Buffer, keys: readonly Buffer[]): Readonly<Record<string, string>>;
}

/** A secret of a sender. */
export class SecretKey {
  #id: string | undefined;

  constructor(readonly key: Buffer) {}

  /** Identifies the secret in the log. Takes some 50 ms, so that readers of the log cannot find the secret by trying. */
  get id(): string {
    return (this.#id ??= scryptSync(this.key, 'asmx-webhook', 6).toString('base64url'));
  }
}

/** The parts that are signed besides the body; empty if a sender does not sign them. */
interface Stamp {
  readonly id: string;
  /** In seconds since 1970-01-01T00:00Z. */
  readonly time: string;
}

/** How signatures of bodies (HMAC with SHA-256) are written: the same for checking and for signing. */
interface SignatureForm extends Pick<Signature, 'field' | 'setting'>, Partial<Pick<Signature, 'signingKey'>> {
  /** The name of the time in messages, if it is signed. */
  readonly timeName?: string;
  /** Returns the text that is signed before the body. */
  readonly before?: (stamp: Stamp) => string;
  /** Reads the stamp and the signatures; a text says why they cannot be read, undefined that there are none. */
  read(
    headers: IncomingHttpHeaders,
  ): { readonly stamp?: Stamp; readonly given: readonly Buffer[] } | string | undefined;
  write(signatures: readonly Buffer[], stamp: Stamp): Readonly<Record<string, string>>;
}

const NO_STAMP: Stamp = { id: '', time: '' };

/** Returns a signature of bodies. */
export function bodySignature(form: SignatureForm): Signature {
  const { field, setting, signingKey = (secret) => Buffer.from(secret), timeName, before = () => '' } = form;
  const sign = (key: Buffer, stamp: Stamp, body: Buffer) => hmac(key, before(stamp), body);
  return {
    field,
    setting,
    signingKey,
    read(headers) {
      const found = form.read(headers);
      if (found === undefined || typeof found === 'string') return found;
      const { stamp = NO_STAMP, given } = found;
      const untimely = timeName === undefined ? undefined : timeProblem(stamp.time, timeName);
      if (untimely !== undefined) return untimely;
      if (given.every(({ length }) => length !== SHA256_BYTES)) return `The ${field} is not valid.`;
      return (body, key) => isAmong(given, sign(key, stamp, body));
    },
    sign(id, body, keys) {
      const stamp = { id, time: String(Math.floor(Date.now() / 1000)) };
      const signatures = keys.map((key) => sign(key, stamp, body));
      return form.write(signatures, stamp);
    },
  };
}

/** Returns a token that is sent as it is, and signs nothing. */
export function tokenIn({ field, setting }: Pick<SignatureForm, 'field' | 'setting'>): Signature {
  return {
    field,
    setting,
    isToken: true,
    signingKey: (secret) => Buffer.from(secret),
    // Digests have one length.
    read: ({ [field]: token }) =>
      token === undefined ? undefined : (_body, key) => isAmong([hmac('', String(token))], hmac('', key)),
    sign: (_id, _body, [key = Buffer.alloc(0)]) => ({ [field]: key.toString('latin1') }),
  };
}

/** How far the time of a signature may be from this machine's, in seconds: five minutes, as each of the senders says. */
const TOLERANCE = 5 * 60;

/** @param what - names the time, in seconds since 1970-01-01T00:00Z. */
function timeProblem(time: string, what: string): string | undefined {
  if (!/^\d{1,12}$/.test(time)) return `${what} is missing or not valid.`;
  if (Math.abs(Date.now() / 1000 - Number(time)) <= TOLERANCE) return undefined;
  return `${what} is more than ${String(TOLERANCE)} seconds from the time here.`;
}

function hmac(key: Buffer | string, ...parts: readonly (Buffer | string)[]): Buffer {
  const hash = createHmac('sha256', key);
  for (const part of parts) hash.update(part);
  return hash.digest();
}

const SHA256_BYTES = 32;

/** Whether one of the signatures is the right one. Compares all of them, each in constant time. */
function isAmong(given: readonly Buffer[], right: Buffer): boolean {
  let found = false;
  for (const one of given) found = (one.length === right.length && timingSafeEqual(one, right)) || found;
  return found;
}
