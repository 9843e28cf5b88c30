import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** How far the time in a signature may be from the clock here, in seconds, as Standard Webhooks recommends. */
const TOLERANCE = 5 * 60;

/** Most signatures of one request that are looked at: a sender that changes its secret sends two. */
const MAX_SIGNATURES = 8;

const STANDARD_PREFIX = 'whsec_';

/** Checks what senders sign. */
export interface SignatureCheck {
  /** Whether the header fields hold a signature of a kind for which there is a secret. */
  isSigned(headers: IncomingHttpHeaders): boolean;
  /**
   * Why the signature of a signed request does not count; undefined: it is valid. The body is taken as the sender's
   * application wrote it: every byte of it, after a content coding is undone.
   */
  problem(headers: IncomingHttpHeaders, body: Buffer): string | undefined;
}

/**
 * Makes the check for secrets: one that begins with `whsec_` is for Standard Webhooks
 * (https://www.standardwebhooks.com), where the base64 behind it is the key; any other one is for GitHub's
 * `X-Hub-Signature-256`, where its text is the key.
 */
export function signatureCheck(secrets: readonly string[]): SignatureCheck {
  const standard = secrets
    .filter((secret) => secret.startsWith(STANDARD_PREFIX))
    .map((secret) => Buffer.from(secret.slice(STANDARD_PREFIX.length), 'base64'));
  const github = secrets.filter((secret) => !secret.startsWith(STANDARD_PREFIX)).map((secret) => Buffer.from(secret));

  const isStandard = (headers: IncomingHttpHeaders) =>
    standard.length > 0 && headers['webhook-signature'] !== undefined;
  const isGithub = (headers: IncomingHttpHeaders) => github.length > 0 && headers['x-hub-signature-256'] !== undefined;

  return {
    isSigned: (headers) => isStandard(headers) || isGithub(headers),
    problem(headers, body) {
      if (body.length === 0) return 'A signature counts for a body, and there is none.';
      return isStandard(headers) ? standardProblem(headers, body, standard) : githubProblem(headers, body, github);
    },
  };
}

function standardProblem(headers: IncomingHttpHeaders, body: Buffer, keys: readonly Buffer[]): string | undefined {
  const id = headers['webhook-id'];
  const timestamp = String(headers['webhook-timestamp']);
  if (id === undefined || !/^\d{1,12}$/.test(timestamp))
    return 'The webhook-id or the webhook-timestamp of the signature is missing or not valid.';
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE)
    return `The webhook-timestamp is more than ${String(TOLERANCE)} seconds from the time here.`;
  const given = String(headers['webhook-signature'])
    .split(' ', MAX_SIGNATURES)
    .flatMap((signature) => (signature.startsWith('v1,') ? [Buffer.from(signature.slice(3), 'base64')] : []));
  const head = `${String(id)}.${timestamp}.`;
  return matches(given, keys, head, body) ? undefined : 'The webhook-signature is not valid for this body.';
}

function githubProblem(headers: IncomingHttpHeaders, body: Buffer, keys: readonly Buffer[]): string | undefined {
  const [, hex = ''] = /^sha256=([0-9a-f]{64})$/i.exec(String(headers['x-hub-signature-256'])) ?? [];
  return matches([Buffer.from(hex, 'hex')], keys, '', body)
    ? undefined
    : 'The X-Hub-Signature-256 is not valid for this body.';
}

/** Whether one of the signatures is the HMAC-SHA256 of head and body under one of the keys; compared in constant time. */
function matches(given: readonly Buffer[], keys: readonly Buffer[], head: string, body: Buffer): boolean {
  let found = false;
  for (const key of keys) {
    const right = createHmac('sha256', key).update(head).update(body).digest();
    for (const signature of given) {
      found = (signature.length === right.length && timingSafeEqual(signature, right)) || found;
    }
  }
  return found;
}
