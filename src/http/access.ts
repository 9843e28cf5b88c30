import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, IncomingHttpHeaders } from 'node:http';
import type { Access, AccessConfig, SENDER_SECRETS } from '../config/config';
import { isLoopback } from '../config/open-service';
import { SENDERS, type Sender, type SignedBy } from '../senders/senders';
import { isForwarded } from './callers';
import type { BodyLimit } from './content/body';
import {
  hostName,
  isLocal,
  refuseOtherSites,
  type LocalConfig,
  type OtherSite,
  type RequestCheck,
  mayLeadHere,
} from './cross-site';
import { HTTP_ERRORS, type RequestError } from './errors';

/** A call, as far as its access depends on it. */
export interface GuardedCall {
  readonly request: IncomingMessage;
  /** The password of a WS-Security UsernameToken. */
  readonly password?: string | undefined;
  /** Why a WS-Security header yields no password. */
  readonly passwordProblem?: string | undefined;
}

/** What can prove that a caller may make a call: a key, or the signature of what it sends. */
export type Proof = 'key' | 'signature';

/** Decides who may call. */
export interface AccessControl {
  /** What proves that a caller has each access. Any one is enough; an empty list means that none is needed. */
  readonly proofs: Readonly<Record<Access, readonly Proof[]>>;
  /**
   * Refuses what the header fields of a call alone rule out, and returns the limit on the body of a caller who has proved nothing
   * so far, if there is one. Lets no call through: {@link AccessControl.afterBody} does.
   *
   * @param named - the access to what the header fields name; undefined if they name no operation.
   * @param call - `hasEnvelope`: whether its message may hold a key and name another operation.
   * @throws {RequestError} as {@link AccessControl.afterBody}.
   */
  beforeBody(named: Access | undefined, call: GuardedCall & { readonly hasEnvelope: boolean }): BodyLimit | undefined;
  /**
   * Lets a call through to the operation that is invoked next.
   *
   * @param needed - the access to that operation.
   * @returns the sender whose signature proved it.
   * @throws {RequestError} 401: no key, a wrong key, or a signature that is not valid; 403: a page of another site sent it.
   */
  afterBody(needed: Access, call: GuardedCall, body?: Buffer): SignedBy | undefined;
}

const MAX_UNPROVED = 256 * 1024;

/** What is read of a caller that has proved nothing: a key may be in the message, and operations that are open need no more. */
const UNPROVED_BODY: BodyLimit = {
  maxBytes: MAX_UNPROVED,
  refusal: () => HTTP_ERRORS.keyInHeader(MAX_UNPROVED),
};

/**
 * Makes the access control. Undefined if nothing is guarded.
 *
 * @param checkUnguarded - checks calls that record or read and need no key.
 */
export function accessControl(
  options: Partial<AccessConfig>,
  otherSite: OtherSite,
  checkUnguarded?: RequestCheck,
): AccessControl | undefined {
  const { recordKeys, readKeys, ...secrets } = options;
  const hasSecrets = Object.values(secrets).some((secret) => secret !== undefined);
  const hasKeys = recordKeys !== undefined || readKeys !== undefined || hasSecrets;
  if (!hasKeys && checkUnguarded === undefined) return undefined;
  const signatures = signatureCheck(secrets);
  const guards: Readonly<Record<Access, KeyCheck | undefined>> = {
    open: undefined,
    record: recordKeys || hasSecrets ? keyCheck(recordKeys ?? []) : undefined,
    read: readKeys && keyCheck(readKeys),
  };
  const isAnyKey = hasKeys ? keyCheck([...(recordKeys ?? []), ...(readKeys ?? [])]) : undefined;
  const proofs: Readonly<Record<Access, Proof[]>> = { open: [], record: [], read: [] };
  if (recordKeys) proofs.record.push('key');
  if (hasSecrets) proofs.record.push('signature');
  if (readKeys) proofs.read.push('key');
  const isSigned = ({ method, headers }: IncomingMessage): boolean => method === 'POST' && signatures.isSigned(headers);

  return {
    proofs,
    beforeBody(named, { request, hasEnvelope }) {
      if (hasKeys) refuseOtherSites(request, otherSite);
      // Without a name the call may be of any operation; the one with large bodies records.
      const likely = named ?? 'record';
      if (likely === 'record' && isSigned(request)) return undefined;
      const isValid = guards[likely] ?? (likely === 'record' ? undefined : isAnyKey);
      if (isValid === undefined) return undefined;
      const given = presentedKeys(request.headers);
      if (given.some(isValid)) return undefined;
      if (named !== undefined && guards[named] && (given.length > 0 || !hasEnvelope)) throw keyProblem(named, given);
      return UNPROVED_BODY;
    },
    afterBody(needed, { request, password, passwordProblem }, body = EMPTY) {
      if (hasKeys) refuseOtherSites(request, otherSite);
      const isValid = guards[needed];
      if (isValid === undefined) {
        if (needed !== 'open') checkUnguarded?.(request);
        return undefined;
      }
      if (needed === 'record' && isSigned(request)) {
        // A wrong signature is refused even with a valid key: the message was changed on its way, or is replayed.
        const { sender, problem } = signatures.check(request.headers, body);
        if (problem === undefined) return { sender, body };
        throw HTTP_ERRORS.signature(problem);
      }
      const given = presentedKeys(request.headers);
      if (password !== undefined) given.push(password);
      if (given.some(isValid)) return undefined;
      throw passwordProblem === undefined ? keyProblem(needed, given) : HTTP_ERRORS.key(passwordProblem);
    },
  };
}

/** What is said to callers without a key. */
const KEY_NEEDED: Readonly<Record<Access, string>> = {
  open: '',
  record: 'RecordEvent needs a record key.',
  read: 'Reading events needs a read key.',
};

function keyProblem(needed: Access, given: readonly string[]): RequestError {
  return HTTP_ERRORS.key(given.length === 0 ? KEY_NEEDED[needed] : `This key may not ${needed} events.`);
}

const EMPTY = Buffer.alloc(0);

type KeyCheck = (given: string) => boolean;

/** Makes the check for a set of keys. It compares all their digests, each in constant time: its time says nothing about a key. */
export function keyCheck(keys: readonly string[]): KeyCheck {
  const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
  const digests = keys.map(digest);
  return (given) => {
    const wanted = digest(given);
    let found = false;
    for (const known of digests) found = timingSafeEqual(known, wanted) || found;
    return found;
  };
}

/**
 * Lists the keys in the header fields: `Authorization: Bearer` (RFC 6750), the password of `Authorization: Basic`
 * (RFC 7617), and `X-API-Key`.
 */
export function presentedKeys({ authorization = '', 'x-api-key': apiKey }: IncomingHttpHeaders): string[] {
  const bearer = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  const basic = /^basic +(\S+) *$/i.exec(authorization)?.[1];
  const password = basic === undefined ? undefined : passwordOf(basic);
  return [apiKey, bearer, password].filter((key) => typeof key === 'string');
}

/** The password in the value of `Authorization: Basic`: what follows the first colon, if there is one. */
function passwordOf(basic: string): string | undefined {
  const pair = Buffer.from(basic, 'base64').toString();
  const colon = pair.indexOf(':');
  return colon === -1 ? undefined : pair.slice(colon + 1);
}

/** The secrets of senders, by their settings. */
export type SenderSecrets = Partial<Pick<AccessConfig, (typeof SENDER_SECRETS)[number]>>;

/** Makes the check of senders' signatures for the secrets that are configured. */
export function signatureCheck(secrets: SenderSecrets) {
  const kinds = SENDERS.flatMap((sender) => {
    const { signature } = sender;
    if (signature === undefined) return [];
    const keys = (secrets[signature.setting] ?? []).flatMap((secret) => signature.signingKey(secret) ?? []);
    return keys.length === 0 ? [] : [{ sender, signature, keys }];
  });
  const kindOf = (headers: IncomingHttpHeaders) =>
    kinds.find(({ signature: { field } }) => headers[field] !== undefined);
  return {
    /** Whether the header fields contain a signature of a kind for which a secret is configured. */
    isSigned: (headers: IncomingHttpHeaders) => kindOf(headers) !== undefined,
    /** Tells whose signature a signed request has, and why it is not valid. It covers the body after its content coding is undone. */
    check(
      headers: IncomingHttpHeaders,
      body: Buffer,
    ): { readonly sender: Sender; readonly problem: string | undefined } {
      const kind = kindOf(headers);
      if (kind === undefined) throw new Error('The request has no signature of a known kind.');
      const problem =
        body.length === 0
          ? 'A signature counts for a body, and there is none.'
          : kind.signature.problem(headers, body, kind.keys);
      return { sender: kind.sender, problem };
    },
  };
}

/**
 * Makes the check of who may look at the pages of the events. They show more than `GetEvents` does, so without READ_KEYS they
 * are open to this machine alone: the service listens on a loopback address, nothing says that a proxy is in front of it, and
 * the caller addressed it by a loopback name or one of ALLOWED_HOSTS. The last keeps out web pages whose name was made to lead
 * to this machine (DNS rebinding). Refuses with 401 where a read key is needed, else with 403.
 */
export function viewerCheck(
  config: LocalConfig,
  otherSite: OtherSite,
  access: AccessControl | undefined,
): RequestCheck {
  const { access: keys, allowedHosts = [] } = config;
  const isOpen = isLocal(config);
  return (request) => {
    if (otherSite(request) !== undefined) throw HTTP_ERRORS.otherSiteLink();
    if (keys.readKeys !== undefined && access !== undefined) {
      access.afterBody('read', { request });
      return;
    }
    if (!isOpen) throw HTTP_ERRORS.eventsClosed('This service can be reached by others.');
    if (isForwarded(request) || SENT_ON.some((field) => request.headers[field] !== undefined))
      throw HTTP_ERRORS.eventsClosed('A proxy has sent this request on.');
    const name = hostName(request.headers);
    const isLocalName = isLoopback(name) && !mayLeadHere(name);
    if (!isLocalName && !allowedHosts.includes(name))
      throw HTTP_ERRORS.eventsClosed('This request did not come to a loopback address.');
  };
}

/** Further header fields that proxies add. They are not used, but show that the caller is someone else. */
const SENT_ON = [
  'via',
  'x-real-ip',
  'x-client-ip',
  'x-forwarded-server',
  'x-forwarded-by',
  'true-client-ip',
  'cf-connecting-ip',
];

/** In the names of header fields. No secrets are the keys of a delivery, a CloudEvents partition and a handshake of WebSocket. */
const SECRET =
  /auth|cookie|token|secret|pass|credential|session|jwt|signature|hmac|(?<!idempotency-|partition|websocket-)key/;

/** Whether a header field of this name, in lower case, may hold a secret. Such fields are neither kept nor shown. */
export function mayBeSecret(name: string): boolean {
  return SECRET.test(name);
}
