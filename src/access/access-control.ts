import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Callers } from '../http/callers';
import { HTTP_ERRORS, type RequestError } from '../http/errors';
import type { HttpRequest } from '../http/request';
import type { RecordedCall } from '../events/event';
import { Sender } from '../senders/sender';
import { localCallerCheck, otherSites, viewerCheck, type LocalConfig, type OtherSite } from './local-callers';

/** The access that a call needs: none, a key to record, or a key to read. */
type Access = 'open' | 'record' | 'read';

/** Shows that a caller may make a call: a key, or the signature of a message. */
type Credential = 'key' | 'signature';

/** Returns the name of a key that a set holds, empty if it has none; undefined for any other key. */
type KeyCheck = (given: string) => string | undefined;

type GuardedRequest = IncomingMessage & Partial<Pick<HttpRequest, 'accessTokens'>>;

/** The parts of a call on which its access depends. */
interface GuardedCall {
  readonly request: GuardedRequest;
  /** The access to the operation that has been named so far; undefined for none of the service. */
  readonly needs: Access | undefined;
  /** Whether the message may contain a key, and name another operation than the header fields do. */
  readonly hasEnvelope: boolean;
  /** The password of a WS-Security UsernameToken, or why the header yields none. */
  readonly password?: string | undefined;
  readonly passwordProblem?: string | undefined;
}

/** The credential that let a call through: a signature, or a key that has a name. */
interface Proof {
  readonly signedBy?: RecordedCall['signedBy'];
  readonly keyName?: string;
}

const MAX_UNAUTHENTICATED = 256 * 1024;

/** The limit for a caller without a valid credential: a key may be in the message, and open operations need no more. */
const UNAUTHENTICATED_BODY = {
  maxBytes: MAX_UNAUTHENTICATED,
  refusal: () => HTTP_ERRORS.keyInHeader(MAX_UNAUTHENTICATED),
};

function rulesOf(config: LocalConfig, otherSite: OtherSite) {
  const { recordKeys, readKeys, ...secrets } = config.access;
  const hasSecrets = Object.values(secrets).some((secret) => secret !== undefined);
  const isGuarded = recordKeys !== undefined || readKeys !== undefined || hasSecrets;
  return {
    guards: {
      open: undefined,
      record: recordKeys || hasSecrets ? keyCheck(recordKeys ?? []) : undefined,
      read: readKeys && keyCheck(readKeys),
    } satisfies Record<Access, KeyCheck | undefined>,
    /** Checks a key against all keys. Undefined for a service without keys and secrets. */
    anyKey: isGuarded ? keyCheck([...(recordKeys ?? []), ...(readKeys ?? [])]) : undefined,
    signatures: Sender.signatureCheck(secrets),
    checkLocal: localCallerCheck(config, otherSite),
    checkLocalViewer: viewerCheck(config),
    credentials: {
      open: [],
      record: [...(recordKeys ? ['key' as const] : []), ...(hasSecrets ? ['signature' as const] : [])],
      read: readKeys ? ['key' as const] : [],
    } satisfies Record<Access, Credential[]>,
  };
}

/** Decides who may call, and who may look at the pages of the events. */
export class AccessControl {
  readonly #otherSite: OtherSite;
  #rules: ReturnType<typeof rulesOf>;

  constructor(config: LocalConfig, callers: Pick<Callers, 'baseUrl'>) {
    this.#otherSite = otherSites(callers);
    this.#rules = rulesOf(config, this.#otherSite);
  }

  use(config: LocalConfig): void {
    this.#rules = rulesOf(config, this.#otherSite);
  }

  /** The credentials for each access. Any one is enough; an empty list means that none is needed. */
  get credentials(): Readonly<Record<Access, readonly Credential[]>> {
    return this.#rules.credentials;
  }

  /**
   * Refuses what the header fields of a call alone rule out, as {@link AccessControl.afterBody} would. Lets no call through. Returns the
   * limit on the body of a caller who has shown no valid credential so far.
   */
  beforeBody({ request, needs, hasEnvelope }: GuardedCall): typeof UNAUTHENTICATED_BODY | undefined {
    const { anyKey, guards } = this.#rules;
    if (anyKey === undefined) return undefined;
    this.#refuseOtherSites(request);
    // Without a name the call may be of any operation; the one with large bodies records.
    const likely = needs ?? 'record';
    if (likely === 'record' && this.#isSigned(request)) return undefined;
    const check = guards[likely] ?? (likely === 'record' ? undefined : anyKey);
    if (check === undefined) return undefined;
    const given = keysFor(likely, request);
    if (nameAmong(given, check) !== undefined) return undefined;
    if (needs !== undefined && guards[needs] && (given.length > 0 || !hasEnvelope)) throw this.#missing(needs, given);
    return UNAUTHENTICATED_BODY;
  }

  /**
   * Lets a call through to the operation that it has named, which is invoked next. An unknown one needs the access to record.
   *
   * @returns the sender whose signature was the credential, or the name of the key that was.
   * @throws {RequestError} 401: no key, a wrong key, or a signature that is not valid; 403: a page of another site sent it, or it
   * came under a name that is not this machine's.
   */
  afterBody(call: GuardedCall, body: Buffer): Proof | undefined {
    const { request, needs = 'record', password, passwordProblem } = call;
    const { anyKey, guards, signatures, checkLocal } = this.#rules;
    if (anyKey !== undefined) this.#refuseOtherSites(request);
    const check = guards[needs];
    if (check === undefined) {
      if (needs !== 'open') checkLocal(request);
      return undefined;
    }
    if (needs === 'record' && this.#isSigned(request)) {
      // A wrong signature is refused even with a valid key: the message was changed on its way, or is replayed.
      const { sender, problem } = signatures.check(request.headers, body);
      if (problem === undefined) return { signedBy: { sender, body } };
      throw HTTP_ERRORS.signature(problem);
    }
    const given = keysFor(needs, request);
    if (password !== undefined) given.push(password);
    const keyName = nameAmong(given, check);
    if (keyName !== undefined) return keyName === '' ? undefined : { keyName };
    throw passwordProblem === undefined ? this.#missing(needs, given) : HTTP_ERRORS.key(passwordProblem);
  }

  /** Lets a request read events or metrics that no operation returns; throws as for an operation that reads. */
  checkReader(request: GuardedRequest): void {
    this.afterBody({ request, needs: 'read', hasEnvelope: false }, NO_BODY);
  }

  /** Lets a request look at the pages of the events, which show more than `GetEvents`: without READ_KEYS only from this machine. */
  checkViewer(request: GuardedRequest): void {
    if (this.#otherSite(request) !== undefined) throw HTTP_ERRORS.otherSiteLink();
    if (this.#rules.guards.read !== undefined) this.checkReader(request);
    else this.#rules.checkLocalViewer(request);
  }

  /** Says which proof a call lacks. */
  #missing(needs: Access, given: readonly string[]): RequestError {
    if (needs === 'record' && !this.credentials.record.includes('key'))
      return HTTP_ERRORS.signature('RecordEvent needs the signature of a sender whose secret the service has.');
    const without = `${needs === 'record' ? 'RecordEvent' : 'Reading events'} needs a ${needs} key.`;
    return HTTP_ERRORS.key(given.length === 0 ? without : `This key may not ${needs} events.`);
  }

  #isSigned({ method, headers }: GuardedRequest): boolean {
    return method !== 'GET' && method !== 'HEAD' && this.#rules.signatures.isSigned(headers);
  }

  #refuseOtherSites(request: GuardedRequest): void {
    const shownBy = this.#otherSite(request);
    if (shownBy !== undefined) throw HTTP_ERRORS.otherSite(shownBy);
  }
}

/** The keys that a request shows for an access: those in its header fields and, to record alone, in its address. */
function keysFor(needs: Access, { headers, accessTokens = [] }: GuardedRequest): string[] {
  return needs === 'record' ? [...presentedKeys(headers), ...accessTokens] : presentedKeys(headers);
}

function nameAmong(keys: readonly string[], check: KeyCheck): string | undefined {
  return keys.map(check).find((name) => name !== undefined);
}

const NO_BODY = Buffer.alloc(0);

/** Returns the check against a set of keys, with or without a name and a space before them. Its time says nothing about a key. */
export function keyCheck(keys: readonly string[]): KeyCheck {
  const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
  const known = keys.map((text) => {
    const [key = '', name = ''] = text.split(/ +/).reverse();
    return { name, digest: digest(key) };
  });
  return (given) => {
    const wanted = digest(given);
    let found: string | undefined;
    for (const { name, digest } of known) if (timingSafeEqual(digest, wanted)) found = name;
    return found;
  };
}

/** Lists the keys in `X-API-Key`, `Authorization: Bearer` (RFC 6750) and, as a password, `Authorization: Basic` (RFC 7617). */
export function presentedKeys({ authorization = '', 'x-api-key': apiKey }: IncomingHttpHeaders): string[] {
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+) *$/i.exec(authorization) ?? [];
  const isBasic = scheme.toLowerCase() === 'basic';
  const key = isBasic ? /:(.*)$/s.exec(Buffer.from(value, 'base64').toString())?.[1] : value || undefined;
  return [apiKey, key].filter((given) => typeof given === 'string');
}
