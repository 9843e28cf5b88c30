import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { STANDARD_PREFIX, standardKey, standardSignature } from './standard-webhooks';

/** How far the time of a signature may be from this machine's, in seconds, as Standard Webhooks recommends. */
const TOLERANCE = 5 * 60;

/** Most signatures of one request that are checked: a sender sends two while it changes its secret. */
const MAX_SIGNATURES = 8;

/** Keys of Standard Webhooks, also the public and the private ones: what is public must never verify as a text. */
const STANDARD_KEY = /^wh(?:sec|pk|sk)_/i;

/** Checks the signatures of senders. */
export interface SignatureCheck {
  /** Whether the header fields contain a signature of a kind for which a secret is configured. */
  isSigned(headers: IncomingHttpHeaders): boolean;
  /**
   * Why the signature of a signed request is not valid; undefined: it is. It covers the body as the sender's application
   * wrote it: every byte, after a content coding is undone.
   */
  problem(headers: IncomingHttpHeaders, body: Buffer): string | undefined;
}

/**
 * Makes the check for a set of secrets. One that begins with `whsec_` is for Standard Webhooks
 * (https://www.standardwebhooks.com): the base64 after it is the key. Any other is for GitHub's `X-Hub-Signature-256`: its
 * text is the key.
 */
export function signatureCheck(secrets: readonly string[]): SignatureCheck {
  const standard = secrets.filter((secret) => secret.startsWith(STANDARD_PREFIX)).map(standardKey);
  const github = secrets.filter((secret) => !STANDARD_KEY.test(secret)).map((secret) => Buffer.from(secret));

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
  // Without full stops in the id, the signed text `id.timestamp.body` cannot be cut in another place.
  if (typeof id !== 'string' || id.includes('.') || !/^\d{1,12}$/.test(timestamp))
    return 'The webhook-id or the webhook-timestamp of the signature is missing or not valid.';
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE)
    return `The webhook-timestamp is more than ${String(TOLERANCE)} seconds from the time here.`;
  const given = String(headers['webhook-signature'])
    .split(' ', MAX_SIGNATURES)
    .filter((signature) => signature.startsWith('v1,'))
    .map((signature) => Buffer.from(signature.slice(3), 'base64'));
  const right = keys.map((key) => standardSignature(key, { id, timestamp, body }));
  return matches(given, right) ? undefined : 'The webhook-signature is not valid for this body.';
}

function githubProblem(headers: IncomingHttpHeaders, body: Buffer, keys: readonly Buffer[]): string | undefined {
  const hex = /^sha256=([0-9a-f]{64})$/i.exec(String(headers['x-hub-signature-256']))?.[1];
  const problem = 'The X-Hub-Signature-256 is not valid for this body.';
  if (hex === undefined) return problem;
  const right = keys.map((key) => createHmac('sha256', key).update(body).digest());
  return matches([Buffer.from(hex, 'hex')], right) ? undefined : problem;
}

/** Whether one of the signatures is right. Compares in constant time. */
function matches(given: readonly Buffer[], right: readonly Buffer[]): boolean {
  let found = false;
  for (const one of right) {
    for (const signature of given) {
      found = (signature.length === one.length && timingSafeEqual(signature, one)) || found;
    }
  }
  return found;
}
