import type { IncomingMessage, IncomingHttpHeaders } from 'node:http';
import type { Access, AccessConfig, SENDER_SECRETS } from '../../config/config';
import { LARGE_MESSAGE } from '../../util/promises';
import type { BodyLimit } from '../content/body';
import { keyCheck, presentedKeys, type KeyCheck } from './credentials';
import { HTTP_ERRORS } from '../errors';
import { SENDERS } from '../../senders/senders';

/** The credentials of a call that do not stand in its header fields. */
export interface Credentials {
  /** The body, once it has been read: its sender may have signed it. */
  readonly body?: Buffer | undefined;
  /** The password of a WS-Security UsernameToken. */
  readonly password?: string | undefined;
  /** Why a WS-Security header yields no password. */
  readonly passwordProblem?: string | undefined;
}

/** What can prove that a caller may make a call: a key, or the signature of what it sends. */
export type Proof = 'key' | 'signature';

/**
 * Checks a request.
 *
 * @throws {RequestError} it is refused.
 */
export type RequestCheck = (request: IncomingMessage) => void;

/** Decides who may call. */
export interface AccessControl {
  /** Whether keys or secrets are set, with which callers prove who they are. */
  readonly takesProofs: boolean;
  /** What proves that a caller has this access, any one of them; empty: everybody has it. */
  proofsOf(access: Access): readonly Proof[];
  /** Whether {@link AccessControl.check} needs the body of this request, because its sender signed it. */
  needsBody(request: IncomingMessage): boolean;
  /**
   * Checks what the header fields alone decide of a call whose message may still prove who calls. Returns the limit on a body
   * whose sender has proved nothing so far, if it is lower than that of all bodies.
   *
   * @param needed - undefined if the header fields do not name the operation.
   * @throws {RequestError} 401: a key is in the header fields, but not a valid one; 403: a page of another site sent it.
   */
  checkHeader(needed: Access | undefined, request: IncomingMessage): BodyLimit | undefined;
  /**
   * Checks a call.
   *
   * @returns the name of the sender whose signature proved it.
   * @throws {RequestError} 401: no key, a wrong key, or a signature that is not valid; 403: a page of another site sent it.
   */
  check(needed: Access, request: IncomingMessage, credentials: Credentials): string | undefined;
}

/** A message with a key inside it has to be read before its caller is known, so it must not be large. */
const UNPROVED_BODY: BodyLimit = {
  maxBytes: LARGE_MESSAGE,
  refusal: () => HTTP_ERRORS.keyInHeader(LARGE_MESSAGE),
};

/**
 * Makes the access control. Undefined if nothing is guarded.
 *
 * @param checkUnguarded - checks calls that record or read and need no key.
 */
export function accessControl(
  options: Partial<AccessConfig>,
  checkUnguarded?: RequestCheck,
): AccessControl | undefined {
  const { recordKeys, readKeys, ...secrets } = options;
  const hasSecrets = Object.values(secrets).some((secret) => secret !== undefined);
  const hasKeys = recordKeys !== undefined || readKeys !== undefined || hasSecrets;
  if (!hasKeys && checkUnguarded === undefined) return undefined;
  const signatures = signatureCheck(secrets);
  const checks: Readonly<Record<Access, KeyCheck | undefined>> = {
    open: undefined,
    record: recordKeys || hasSecrets ? keyCheck(recordKeys ?? []) : undefined,
    read: readKeys && keyCheck(readKeys),
  };
  const proofs: Readonly<Record<Access, readonly Proof[]>> = {
    open: [],
    record: [...(recordKeys ? KEY : []), ...(hasSecrets ? SIGNATURE : [])],
    read: readKeys ? KEY : [],
  };
  const needsBody = (request: IncomingMessage): boolean =>
    request.method === 'POST' && signatures.isSigned(request.headers);

  return {
    takesProofs: hasKeys,
    proofsOf: (access) => proofs[access],
    needsBody,
    checkHeader(needed, request) {
      if (hasKeys) refuseOtherSites(request);
      // Without a name the call may be of any operation; the one with large bodies records.
      const isValid = checks[needed ?? 'record'];
      if (isValid === undefined || (needed !== 'read' && needsBody(request))) return undefined;
      const given = presentedKeys(request.headers);
      if (given.some(isValid)) return undefined;
      if (given.length > 0 && needed !== undefined) throw HTTP_ERRORS.key(`The key is not valid to ${needed}.`);
      return UNPROVED_BODY;
    },
    check(needed, request, { body, password, passwordProblem }) {
      if (hasKeys) refuseOtherSites(request);
      const isValid = checks[needed];
      if (isValid === undefined) {
        if (needed !== 'open') checkUnguarded?.(request);
        return undefined;
      }
      if (needed === 'record' && body !== undefined && needsBody(request)) {
        // A wrong signature is refused even with a valid key: the message was changed on its way, or is replayed.
        const { sender, problem } = signatures.check(request.headers, body);
        if (problem === undefined) return sender;
        throw HTTP_ERRORS.signature(problem);
      }
      const given = presentedKeys(request.headers);
      if (password !== undefined) given.push(password);
      if (given.some(isValid)) return undefined;
      const what = given.length === 0 ? `A key to ${needed} is needed.` : `The key is not valid to ${needed}.`;
      throw HTTP_ERRORS.key(passwordProblem ?? what);
    },
  };
}

const KEY: readonly Proof[] = ['key'];
const SIGNATURE: readonly Proof[] = ['signature'];

/**
 * Refuses what a page of another site makes a browser send: the browser adds the credentials that it keeps for this address.
 * It tells where the page is from (Fetch Metadata). Other origins of the same site are not this service either.
 *
 * @throws {RequestError} 403
 */
export function refuseOtherSites({ headers }: IncomingMessage): void {
  const site = headers['sec-fetch-site'];
  if (site === 'cross-site' || site === 'same-site') {
    throw HTTP_ERRORS.otherSite();
  }
}

/** The secrets of senders, by their settings. */
export type SenderSecrets = Partial<Pick<AccessConfig, (typeof SENDER_SECRETS)[number]>>;

/** What the check of a signed request found: whose signature it has, and why that is not valid, if it is not. */
export interface CheckedSignature {
  readonly sender: string;
  readonly problem: string | undefined;
}

/** Checks the signatures of senders. */
export interface SignatureCheck {
  /** Whether the header fields contain a signature of a kind for which a secret is configured. */
  isSigned(headers: IncomingHttpHeaders): boolean;
  /**
   * Checks a signed request. Its signature covers the body as the sender's application wrote it: every byte, after a content
   * coding is undone.
   */
  check(headers: IncomingHttpHeaders, body: Buffer): CheckedSignature;
}

/** Makes the check for the secrets that are configured. */
export function signatureCheck(secrets: SenderSecrets): SignatureCheck {
  const kinds = SENDERS.flatMap(({ name, signature }) => {
    if (signature === undefined) return [];
    const keys = (secrets[signature.setting] ?? []).flatMap((secret) => signature.signingKey(secret) ?? []);
    return keys.length === 0 ? [] : [{ name, signature, keys }];
  });
  const kindOf = (headers: IncomingHttpHeaders) =>
    kinds.find(({ signature: { field } }) => headers[field] !== undefined);
  return {
    isSigned: (headers) => kindOf(headers) !== undefined,
    check(headers, body) {
      const kind = kindOf(headers);
      if (kind === undefined) throw new Error('The request has no signature of a known kind.');
      const problem =
        body.length === 0
          ? 'A signature counts for a body, and there is none.'
          : kind.signature.problem(headers, body, kind.keys);
      return { sender: kind.name, problem };
    },
  };
}
