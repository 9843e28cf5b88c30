import type { Sender } from '../senders/sender';
import { HTTP_ERRORS, type RequestError } from '../http/errors';
import type { HttpRequest } from '../http/request';
import { LARGE_MESSAGE } from '../util/promises';
import { digestOf, type Access, type AccessControl, type ShownKey } from './access-control';

/**
 * Who makes a call, if that is proved: the holder of a key, or the sender whose secret signed the body. Made once, from the header
 * fields, and completed by the bytes of the body. Everything that depends on who calls asks here.
 */
export class Caller {
  /** The name of the key that let the call through, if it has one. */
  keyName: string | undefined;
  /** The sender whose secret signed the body, and the name of that secret. */
  signedBy: { readonly sender: Sender; readonly secret: string; body: Buffer } | undefined;
  /** The caller has not yet proved who it is. All such callers share a quarter of memory, slots and connections. */
  isUnproved = false;
  #keys = NO_KEYS;
  /** The signature in its header fields, which matters if it records. */
  readonly signature: ReturnType<AccessControl['rules']['signatures']['read']>;
  #signatureProblem = '';
  #passwordProblem: RequestError | undefined;

  constructor(
    private readonly request: HttpRequest,
    private readonly access: Pick<AccessControl, 'rules'>,
  ) {
    const { hasGuards, guards, signatures } = access.rules;
    const { method, headers } = request;
    if (hasGuards) this.#keys = keysIn(request);
    if (guards.record && method !== 'GET' && method !== 'HEAD') this.signature = signatures.read(headers);
  }

  /** Lets a request look at the pages of the events, which show more than `GetEvents`: without READ_KEYS only from this machine. */
  static checkViewer(request: HttpRequest, access: AccessControl): void {
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
   * @returns undefined if the caller has a key, or needs none. Otherwise the maximum bytes of the body, in which a key may be: with a
   * signature that can be valid `Infinity`, since it covers all of the body.
   */
  checkHeader(needs: Access | undefined, hasEnvelope: boolean): number | undefined {
    const { hasGuards, guards, keyFor } = this.access.rules;
    const likely = needs ?? 'record';
    if (!hasGuards || (likely === 'record' && !guards.record)) return undefined;
    this.isUnproved = keyFor(this.#keys, likely) === undefined;
    const signature = likely === 'record' ? this.signature : undefined;
    if (needs !== undefined && signature?.problem !== undefined) throw HTTP_ERRORS.signature(signature.problem);
    if (needs !== undefined && signature === undefined && (this.#keys.length > 0 || !hasEnvelope)) this.require(needs);
    if (!this.isUnproved) return undefined;
    return signature === undefined || signature.problem !== undefined ? LARGE_MESSAGE : Infinity;
  }

  /** Verifies the signature before the body is put to use. A wrong one is refused even if there is a valid key. */
  async verify(body: Buffer, needs: Access | undefined): Promise<void> {
    // By the current secrets: one may have been removed while the body arrived.
    const signature = this.access.rules.signatures.read(this.request.headers);
    // A sentence if no secret signed it.
    const found = (await signature?.signerOf(body)) ?? 'The secret of this signature is not in use any more.';
    if (typeof found === 'object') {
      this.signedBy = { ...found, body };
      this.isUnproved = false;
      return;
    }
    this.#signatureProblem = found;
    if (needs === 'record' || (needs === undefined && body.length > LARGE_MESSAGE)) throw HTTP_ERRORS.signature(found);
  }

  /** Adds the password of a WS-Security UsernameToken, or why the header yields none. */
  addPassword(password: string | undefined, problem: string | undefined): void {
    if (password !== undefined) this.#keys = [{ digest: digestOf(password), from: 'caller' }, ...this.#keys];
    if (problem !== undefined) this.#passwordProblem = HTTP_ERRORS.key(problem);
  }

  /** Lets go of the body that was signed. */
  forgetBody(): void {
    if (this.signedBy !== undefined) this.signedBy.body = Buffer.alloc(0);
  }

  /**
   * Lets the call through to an operation with this access, by the current rules: what was let through before may not be now.
   *
   * @throws {RequestError} 401: no key, a wrong key, or a signature that is not valid; 403: a page of another site sent it with what its
   * browser adds by itself, or it came under a name that is not this machine's.
   */
  require(needs: Access): void {
    const { isGuarded, guards, keyFor, missing, otherSite, checkHost } = this.access.rules;
    if (needs === 'open' && !isGuarded) return;
    if (needs === 'record' && this.signature !== undefined) {
      if (this.signedBy === undefined) throw HTTP_ERRORS.signature(this.#signatureProblem);
      return;
    }
    const key = keyFor(this.#keys, needs);
    if (guards[needs] && key === undefined) throw this.#passwordProblem ?? missing(needs, this.#keys.length > 0);
    const sign = key === undefined || key.from === 'browser' ? otherSite(this.request) : undefined;
    if (sign !== undefined) throw HTTP_ERRORS.otherSite(sign);
    if (guards[needs]) {
      this.keyName = key?.name || undefined;
      this.isUnproved = false;
    } else if (needs !== 'open') checkHost(this.request);
  }
}

const NO_KEYS: readonly ShownKey[] = [];

/** Lists the keys in `X-API-Key`, `Authorization: Bearer` (RFC 6750), the address and, as a password, `Authorization: Basic` (RFC 7617). */
function keysIn({ headers, accessTokens }: HttpRequest): ShownKey[] {
  const { authorization = '', 'x-api-key': apiKey } = headers;
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+) *$/i.exec(authorization) ?? [];
  const isBasic = scheme.toLowerCase() === 'basic';
  const password = isBasic ? /:(.*)$/s.exec(Buffer.from(value, 'base64').toString())?.[1] : undefined;
  const keys: ShownKey[] = [];
  if (typeof apiKey === 'string') keys.push({ digest: digestOf(apiKey), from: 'caller' });
  if (value !== '' && !isBasic) keys.push({ digest: digestOf(value), from: 'caller' });
  for (const token of accessTokens) keys.push({ digest: digestOf(token), from: 'address' });
  // Last: a key that no browser adds by itself is preferred.
  if (password !== undefined) keys.push({ digest: digestOf(password), from: 'browser' });
  return keys;
}
