import type { IncomingMessage } from 'node:http';
import { HTTP_ERRORS, type RequestError } from '../http/errors';
import type { HttpRequest } from '../http/request';
import type { Sender } from '../senders/sender';
import { LARGE_MESSAGE } from '../util/promises';
import type { Access, AccessControl } from './access-control';

type GuardedRequest = IncomingMessage & Partial<Pick<HttpRequest, 'accessTokens'>>;

/**
 * Who makes a call, if that is proved: the holder of a key, or the sender whose secret signed the body. Made once, from the header
 * fields, and completed by the bytes of the body. Everything that depends on who calls asks here.
 */
export class Caller {
  /** The name of the key that let the call through, if it has one. */
  keyName: string | undefined;
  /** The sender whose secret signed the body, and the name of that secret. */
  signedBy: { readonly sender: Sender; readonly secret: string; readonly body: Buffer } | undefined;
  /** Its caller must still prove who it is. All such callers share a quarter of memory, slots and connections. */
  isUnproved = false;
  #keys = NO_KEYS;
  readonly #signatures: ReturnType<AccessControl['rules']['signatures']['in']>;
  #signatureProblem = '';
  #passwordProblem: RequestError | undefined;

  constructor(
    private readonly request: GuardedRequest,
    private readonly access: Pick<AccessControl, 'rules'>,
  ) {
    const { hasGuards, guards, signatures } = access.rules;
    const { method, headers } = request;
    if (hasGuards) this.#keys = keysIn(request);
    if (guards.record && method !== 'GET' && method !== 'HEAD') this.#signatures = signatures.in(headers);
  }

  /** Lets a request look at the pages of the events, which show more than `GetEvents`: without READ_KEYS only from this machine. */
  static checkViewer(request: GuardedRequest, access: AccessControl): void {
    const { guards, otherSite, checkLocalViewer } = access.rules;
    if (otherSite(request) !== undefined) throw HTTP_ERRORS.otherSiteLink();
    if (guards.read) new Caller(request, access).require('read');
    else checkLocalViewer(request);
  }

  /**
   * Refuses what the header fields alone rule out, as {@link Caller.require} would. Lets no call through.
   *
   * @param needs - undefined if the header fields name no operation: the one with large bodies records.
   * @param hasEnvelope - whether the message may contain a key, and name another operation.
   * @returns the most bytes of the body of a caller who has proved nothing so far: a key may be in the message, open operations need no
   * more, and a signature covers all of the body.
   */
  beforeBody(needs: Access | undefined, hasEnvelope: boolean): number | undefined {
    const { hasGuards, guards, missing } = this.access.rules;
    const likely = needs ?? 'record';
    if (!hasGuards || (likely === 'record' && !guards.record)) return undefined;
    const key = this.#keyFor(likely);
    this.isUnproved = key === undefined;
    if (likely === 'record' && this.#signatures !== undefined) {
      const { problem } = this.#signatures;
      if (problem === undefined) return this.isUnproved ? Infinity : undefined;
      if (needs !== undefined) throw HTTP_ERRORS.signature(problem);
    } else if (key !== undefined) this.#refuseOtherSites(key);
    else if (guards[likely] && needs !== undefined && (this.#keys.length > 0 || !hasEnvelope))
      throw missing(needs, this.#keys.length > 0);
    return this.isUnproved ? LARGE_MESSAGE : undefined;
  }

  /** Whether the call has a signature, which matters if it records. */
  get isSigned(): boolean {
    return this.#signatures !== undefined && this.access.rules.guards.record;
  }

  /** Verifies the signature before the body is put to use. A wrong one is refused beside a valid key, too. */
  async verify(body: Buffer, needs: Access | undefined): Promise<void> {
    // By the secrets of the moment: one may have been removed while the body arrived.
    const signatures = this.access.rules.signatures.in(this.request.headers);
    const signer = (await signatures?.signerOf(body)) ?? 'The secret of this signature is not in use any more.';
    if (typeof signer === 'object') {
      this.signedBy = { ...signer, body };
      this.isUnproved = false;
      return;
    }
    this.#signatureProblem = signer;
    if (needs === 'record' || (needs === undefined && body.length > LARGE_MESSAGE)) throw HTTP_ERRORS.signature(signer);
  }

  /** Adds the password of a WS-Security UsernameToken, or why the header yields none. */
  addPassword(password: string | undefined, problem: string | undefined): void {
    if (password !== undefined) this.#keys = [{ key: password, from: 'caller' }, ...this.#keys];
    if (problem !== undefined) this.#passwordProblem = HTTP_ERRORS.key(problem);
  }

  /** Lets go of the body that was signed. */
  forgetBody(): void {
    if (this.signedBy !== undefined) this.signedBy = { ...this.signedBy, body: NO_BODY };
  }

  /**
   * Lets the call through to an operation with this access, by the rules of the moment: what was let through before may not be now.
   *
   * @throws {RequestError} 401: no key, a wrong key, or a signature that is not valid; 403: a page of another site sent it with what its
   * browser adds by itself, or it came under a name that is not this machine's.
   */
  require(needs: Access): void {
    const { isGuarded, guards, checkHost, missing } = this.access.rules;
    if (needs === 'open' && !isGuarded) return;
    if (needs === 'record' && this.isSigned) {
      if (this.signedBy === undefined) throw HTTP_ERRORS.signature(this.#signatureProblem);
      return;
    }
    const key = this.#keyFor(needs);
    if (guards[needs] && key === undefined) throw this.#passwordProblem ?? missing(needs, this.#keys.length > 0);
    this.#refuseOtherSites(key);
    if (guards[needs]) {
      this.keyName = key?.name || undefined;
      this.isUnproved = false;
    } else if (needs !== 'open') checkHost(this.request);
  }

  /** A key that opens an access, rather one that no browser adds by itself. */
  #keyFor(access: Access): (ShownKey & { readonly name: string }) | undefined {
    for (const shown of this.#keys) {
      const isOfUse = shown.from !== 'address' || access === 'record';
      const name = isOfUse ? this.access.rules.nameOf(shown.key, access) : undefined;
      if (name !== undefined) return { ...shown, name };
    }
    return undefined;
  }

  #refuseOtherSites(key: ShownKey | undefined): void {
    if (key !== undefined && key.from !== 'browser') return;
    const shownBy = this.access.rules.otherSite(this.request);
    if (shownBy !== undefined) throw HTTP_ERRORS.otherSite(shownBy);
  }
}

const NO_BODY = Buffer.alloc(0);

/** A key that a request shows. */
interface ShownKey {
  readonly key: string;
  /** `browser`: one adds it by itself, also to what a page of another site sends. `address`: it opens recording alone. */
  readonly from: 'caller' | 'browser' | 'address';
}

const NO_KEYS: readonly ShownKey[] = [];

/** Lists the keys in `X-API-Key`, `Authorization: Bearer` (RFC 6750), the address and, as a password, `Authorization: Basic` (RFC 7617). */
function keysIn({ headers, accessTokens = [] }: GuardedRequest): ShownKey[] {
  const { authorization = '', 'x-api-key': apiKey } = headers;
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+) *$/i.exec(authorization) ?? [];
  const isBasic = scheme.toLowerCase() === 'basic';
  const password = isBasic ? /:(.*)$/s.exec(Buffer.from(value, 'base64').toString())?.[1] : undefined;
  return [
    ...(typeof apiKey === 'string' ? [{ key: apiKey, from: 'caller' } as const] : []),
    ...(value === '' || isBasic ? [] : [{ key: value, from: 'caller' } as const]),
    ...accessTokens.map((key) => ({ key, from: 'address' }) as const),
    ...(password === undefined ? [] : [{ key: password, from: 'browser' } as const]),
  ];
}
