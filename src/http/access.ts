import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, IncomingHttpHeaders } from 'node:http';
import type { Access, AccessConfig, Config, SENDER_SECRETS } from '../config/config';
import { isLoopback } from '../config/open-service';
import { SENDERS } from '../senders/senders';

import { isForwarded } from './callers';
import type { BodyLimit } from './content/body';
import { HTTP_ERRORS } from './errors';

/** The credentials of a call outside its header fields. */
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

/** Throws a {@link RequestError} where a request is refused. */
export type RequestCheck = (request: IncomingMessage) => void;

/** Decides who may call. */
export interface AccessControl {
  /** Whether keys or secrets are set. */
  readonly takesProofs: boolean;
  /** What proves that a caller has this access. Any one is enough; an empty list means that none is needed. */
  proofsOf(access: Access): readonly Proof[];
  /** Whether {@link AccessControl.check} needs the body of this request, because its sender signed it. */
  needsBody(request: IncomingMessage): boolean;
  /**
   * Checks the header fields of a call whose message may still prove who calls. Returns the limit on the body of a sender who
   * has proved nothing so far, if there is one.
   *
   * @param needed - undefined if the header fields do not name the operation.
   * @throws {RequestError} 401: the key in the header fields is not valid; 403: a page of another site sent it.
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

const MAX_UNPROVED = 256 * 1024;

/** A message with a key inside it has to be read before its caller is known, so it must not be large. */
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
  const proofs: Readonly<Record<Access, Proof[]>> = { open: [], record: [], read: [] };
  if (recordKeys) proofs.record.push('key');
  if (hasSecrets) proofs.record.push('signature');
  if (readKeys) proofs.read.push('key');
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

/**
 * Refuses (403) what a page of another site makes a browser send: the browser adds the credentials that it keeps for this
 * address, and says where the page is from (Fetch Metadata). Other origins of the same site are not this service either.
 */
function refuseOtherSites({ headers }: IncomingMessage): void {
  const site = headers['sec-fetch-site'];
  if (site === 'cross-site' || site === 'same-site') throw HTTP_ERRORS.otherSite();
}

type KeyCheck = (given: string) => boolean;

/** Makes the check for a set of keys. It compares all their digests, each in constant time: its time says nothing about a key. */
export function keyCheck(keys: readonly string[]): KeyCheck {
  const digests = keys.map(digest);
  return (given) => {
    const wanted = digest(given);
    let found = false;
    for (const known of digests) found = timingSafeEqual(known, wanted) || found;
    return found;
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
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
  const kinds = SENDERS.flatMap(({ name, signature }) => {
    if (signature === undefined) return [];
    const keys = (secrets[signature.setting] ?? []).flatMap((secret) => signature.signingKey(secret) ?? []);
    return keys.length === 0 ? [] : [{ name, signature, keys }];
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
    ): { readonly sender: string; readonly problem: string | undefined } {
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

type LocalConfig = Pick<Config, 'host' | 'baseUrl' | 'trustProxy' | 'access' | 'allowedHosts'>;

/**
 * Makes the check of who may look at the pages of the events. They show more than `GetEvents` does, so without READ_KEYS they
 * are open to this machine alone: the service listens on a loopback address, nothing says that a proxy is in front of it, and
 * the caller addressed it by a loopback name or one of ALLOWED_HOSTS. The last keeps out web pages whose name was made to lead
 * to this machine (DNS rebinding). Refuses with 401 where a read key is needed, else with 403.
 */
export function viewerCheck(config: LocalConfig, access: AccessControl | undefined): RequestCheck {
  const { access: keys, allowedHosts = [] } = config;
  if (keys.readKeys !== undefined && access !== undefined) {
    return (request) => {
      access.check('read', request, {});
    };
  }
  const isOpen = isLocal(config);
  return (request) => {
    refuseOtherSites(request);
    if (!isOpen) throw HTTP_ERRORS.eventsClosed('This service can be reached by others.');
    if (isForwarded(request) || SENT_ON.some((field) => request.headers[field] !== undefined))
      throw HTTP_ERRORS.eventsClosed('A proxy has sent this request on.');
    const name = hostName(request);
    if (!isLoopback(name) && !allowedHosts.includes(name))
      throw HTTP_ERRORS.eventsClosed('This request did not come to a loopback address.');
  };
}

/**
 * Makes the check of calls that no key guards, for a service that only this machine reaches; undefined for any other service.
 * Refuses with 403 what a browser sends for a page of another site, and a name that DNS may lead here for such a page. Scripts
 * and generated clients send neither: they call a loopback name, an address or a name without dots, as containers have.
 */
export function localCallerCheck(config: LocalConfig): RequestCheck | undefined {
  if (!isLocal(config)) return undefined;
  const { allowedHosts = [] } = config;
  return (request) => {
    refuseOtherSites(request);
    const name = hostName(request);
    if (isPublicName(name) && !isLoopback(name) && !allowedHosts.includes(name)) throw HTTP_ERRORS.unknownHost(name);
  };
}

function isLocal({ host, baseUrl, trustProxy }: LocalConfig): boolean {
  return isLoopback(host) && baseUrl === undefined && trustProxy === 0;
}

/** Whether DNS can hold a name for a page: one with a dot, and no address. */
function isPublicName(name: string): boolean {
  return /\.[^.]*[a-z][^.]*\.?$/.test(name) && !name.startsWith('[');
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

/** The name in `Host`, which the server has checked, without its port. */
function hostName({ headers: { host = '' } }: IncomingMessage): string {
  return host.replace(/:\d*$/, '').toLowerCase();
}

/** In the names of header fields. No secrets are the keys of a delivery, a CloudEvents partition and a handshake of WebSocket. */
const SECRET =
  /auth|cookie|token|secret|pass|credential|session|jwt|signature|hmac|(?<!idempotency-|partition|websocket-)key/;

/** Whether a header field of this name, in lower case, may hold a secret. Such fields are neither kept nor shown. */
export function mayBeSecret(name: string): boolean {
  return SECRET.test(name);
}
