import type { IncomingMessage } from 'node:http';
import { HTTP_ERRORS, type RequestError } from '../http/errors';
import type { HttpRequest } from '../http/request';
import type { Sender } from '../senders/sender';
import { LARGE_MESSAGE } from '../util/promises';
import type { Access, AccessRules } from './access-rules';
import { keysIn, type ShownKey } from './keys';

export type GuardedRequest = IncomingMessage & Partial<Pick<HttpRequest, 'accessTokens'>>;

/** The limit for a caller without proof: a key may still be in the message, and open operations need no more. */
const UNPROVED_BODY = { maxBytes: LARGE_MESSAGE, refusal: () => HTTP_ERRORS.keyInHeader(LARGE_MESSAGE) };

/** A signature covers the body, all of which has to be read before it proves anything. */
const SIGNED_BODY = { ...UNPROVED_BODY, maxBytes: Infinity };

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
  readonly #signatures: ReturnType<AccessRules['signatures']['in']>;
  #signatureProblem = '';
  #keyProblem: string | undefined;

  /** @param access - has the rules of the moment. */
  constructor(
    private readonly request: GuardedRequest,
    private readonly access: { readonly rules: AccessRules },
  ) {
    const { hasGuards, guards, signatures } = access.rules;
    if (!hasGuards) return;
    const { method, headers, accessTokens = [] } = request;
    this.#keys = [...keysIn(headers), ...accessTokens.map((key) => ({ key, from: 'address' }) as const)];
    if (guards.record && method !== 'GET' && method !== 'HEAD') this.#signatures = signatures.in(headers);
  }

  /**
   * Refuses what the header fields alone rule out, as {@link Caller.require} would. Lets no call through.
   *
   * @param needs - undefined if the header fields name no operation: the one with large bodies records.
   * @param hasEnvelope - whether the message may contain a key, and name another operation.
   * @returns the limit on the body of a caller who has proved nothing so far.
   */
  beforeBody(needs: Access | undefined, hasEnvelope: boolean): typeof UNPROVED_BODY | undefined {
    const { hasGuards, guards } = this.access.rules;
    const likely = needs ?? 'record';
    if (!hasGuards || (likely === 'record' && !guards.record)) return undefined;
    const key = this.#keyFor(likely);
    this.isUnproved = key === undefined;
    if (this.isSigned(needs)) {
      this.#signatureProblem = this.#signatures?.problem ?? '';
      if (this.#signatureProblem === '') return this.isUnproved ? SIGNED_BODY : undefined;
      if (needs === 'record') this.#refuseSignature();
    } else if (key !== undefined) this.#refuseOtherSites(key);
    else if (guards[likely] && needs !== undefined && (this.#keys.length > 0 || !hasEnvelope))
      throw this.#problem(needs);
    return this.isUnproved ? UNPROVED_BODY : undefined;
  }

  /** Whether the call has a signature that matters for an operation; `needs` as for {@link Caller.beforeBody}. */
  isSigned(needs: Access | undefined): boolean {
    return this.#signatures !== undefined && (needs ?? 'record') === 'record' && this.access.rules.guards.record;
  }

  /** Verifies the signature before the body is put to use. A wrong one is refused beside a valid key, too. */
  async verify(body: Buffer, needs: Access | undefined): Promise<void> {
    // By the secrets of the moment: one may have been removed while the body arrived.
    const signatures = this.access.rules.signatures.in(this.request.headers);
    const signer = (await signatures?.signerOf(body)) ?? 'The secret of this signature is not in use any more.';
    if (typeof signer === 'string') {
      this.#signatureProblem = signer;
      if (needs !== undefined || body.length > LARGE_MESSAGE) this.#refuseSignature();
    } else {
      this.signedBy = { ...signer, body };
      this.isUnproved = false;
    }
  }

  /** Adds the password of a WS-Security UsernameToken, or why the header yields none. */
  addPassword(password: string | undefined, problem: string | undefined): void {
    if (password !== undefined) this.#keys = [...this.#keys, { key: password, from: 'caller' }];
    this.#keyProblem = problem;
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
    const { isGuarded, guards, checkHost } = this.access.rules;
    if (needs === 'open' && !isGuarded) return;
    if (this.isSigned(needs)) {
      if (this.signedBy === undefined) this.#refuseSignature();
      return;
    }
    const key = this.#keyFor(needs);
    if (guards[needs] && key === undefined) throw this.#problem(needs);
    this.#refuseOtherSites(key);
    if (guards[needs]) {
      this.keyName = key?.name || undefined;
      this.isUnproved = false;
    } else if (needs !== 'open') checkHost(this.request);
  }

  /** A key that opens an access, rather one that no browser adds by itself. */
  #keyFor(access: Access): (ShownKey & { readonly name: string }) | undefined {
    const found = this.#keys.flatMap((shown) => {
      const isOfUse = shown.from !== 'address' || access === 'record';
      const name = isOfUse ? this.access.rules.nameOf[access](shown.key) : undefined;
      return name === undefined ? [] : { ...shown, name };
    });
    return found.find(({ from }) => from !== 'browser') ?? found[0];
  }

  #refuseOtherSites(key: ShownKey | undefined): void {
    if (key !== undefined && key.from !== 'browser') return;
    const shownBy = this.access.rules.otherSite(this.request);
    if (shownBy !== undefined) throw HTTP_ERRORS.otherSite(shownBy);
  }

  #refuseSignature(): never {
    throw HTTP_ERRORS.signature(this.#signatureProblem);
  }

  /** Says which proof is missing. */
  #problem(needs: Access): RequestError {
    if (this.#keyProblem !== undefined) return HTTP_ERRORS.key(this.#keyProblem);
    return this.access.rules.missing(needs, this.#keys.length > 0);
  }
}

const NO_BODY = Buffer.alloc(0);

const NO_KEYS: readonly ShownKey[] = [];
