import type { IncomingMessage } from 'node:http';
import { HTTP_ERRORS, type RequestError } from '../http/errors';
import type { HttpRequest } from '../http/request';
import type { ProvedCaller } from '../events/event';
import type { Signatures } from '../senders/sender';
import { LARGE_MESSAGE } from '../util/promises';
import type { Access, AccessRules } from './access-rules';
import { keysIn, type ShownKey } from './keys';

export type GuardedRequest = IncomingMessage & Partial<Pick<HttpRequest, 'accessTokens'>>;

/** What is read of a caller who has shown no proof: a key may be in the message, and open operations need no more. */
const UNPROVED_BODY = { maxBytes: LARGE_MESSAGE, refusal: () => HTTP_ERRORS.keyInHeader(LARGE_MESSAGE) };

/** A signature covers the body, all of which has to be read before it proves anything. */
const SIGNED_BODY = { ...UNPROVED_BODY, maxBytes: Infinity };

/**
 * Who makes a call, as far as that is proved: the holder of a key, a sender whose secret signed the body, or nobody. Made once, from
 * the header fields, and completed by the bytes of the body. Everything that depends on who calls asks here.
 */
export class Caller implements ProvedCaller {
  /** The name of the key that let the call through, if it has one. */
  keyName: string | undefined;
  signedBy: ProvedCaller['signedBy'];
  /** Whether nothing was shown yet that the call needs: such callers share a part of what the service has. */
  isUnproved = false;
  readonly #access: { readonly rules: AccessRules };
  readonly #request: GuardedRequest;
  #keys: readonly ShownKey[] = NO_KEYS;
  readonly #signatures: Signatures | undefined;
  #signatureProblem: string | undefined;
  #keyProblem: string | undefined;

  /** @param access - has the rules of the moment. */
  constructor(request: GuardedRequest, access: { readonly rules: AccessRules }) {
    this.#request = request;
    this.#access = access;
    const { hasKeys, hasSecrets, signatures } = access.rules;
    const { method, headers, accessTokens = [] } = request;
    if (hasKeys)
      this.#keys = [
        ...keysIn(headers),
        ...accessTokens.map((key) => ({ key, isBorrowable: false, isInAddress: true })),
      ];
    this.#signatures = hasSecrets && method !== 'GET' && method !== 'HEAD' ? signatures.in(headers) : undefined;
  }

  /**
   * Refuses what the header fields alone rule out, as {@link Caller.require} would. Lets no call through.
   *
   * @param needs - undefined if the header fields name no operation: the one with large bodies records.
   * @param hasEnvelope - whether the message may contain a key, and name another operation.
   * @returns the limit on the body of a caller who has proved nothing so far.
   */
  beforeBody(needs: Access | undefined, hasEnvelope: boolean): typeof UNPROVED_BODY | undefined {
    const { hasKeys, hasSecrets, guards } = this.#access.rules;
    const likely = needs ?? 'record';
    if (!(hasKeys || hasSecrets) || (likely === 'record' && !guards.record)) return undefined;
    const isSigned = this.isSigned(needs);
    const key = this.#keyFor(guards[likely] ? likely : 'any');
    this.isUnproved = key === undefined;
    if (isSigned) {
      this.#signatureProblem = this.#signatures?.problem;
      if (this.#signatureProblem === undefined) return this.isUnproved ? SIGNED_BODY : undefined;
      if (needs === 'record') this.#refuseSignature();
    } else if (key !== undefined) this.#refuseOtherSites(key.isBorrowable);
    else if (guards[likely] && needs !== undefined && (this.#keys.length > 0 || !hasEnvelope))
      throw this.#problem(needs);
    return this.isUnproved ? UNPROVED_BODY : undefined;
  }

  /** Whether the call has a signature that matters for an operation; `needs` as for {@link Caller.beforeBody}. */
  isSigned(needs: Access | undefined): boolean {
    return this.#signatures !== undefined && (needs ?? 'record') === 'record' && this.#access.rules.guards.record;
  }

  /** Verifies the signature before the body is put to use. A wrong one is refused beside a valid key, too. */
  async verify(body: Buffer, needs: Access | undefined): Promise<void> {
    // By the secrets of the moment: one may have been removed while the body arrived.
    const signatures = this.#access.rules.signatures.in(this.#request.headers);
    const signer = (await signatures?.signerOf(body)) ?? 'The secret of this signature is not in use any more.';
    if (typeof signer === 'object') {
      this.signedBy = { ...signer, body };
      this.isUnproved = false;
      return;
    }
    this.#signatureProblem = signer;
    if (needs !== undefined || body.length > LARGE_MESSAGE) this.#refuseSignature();
  }

  /** Adds the password of a WS-Security UsernameToken, or why the header yields none. */
  addPassword(password: string | undefined, problem: string | undefined): void {
    if (password !== undefined)
      this.#keys = [...this.#keys, { key: password, isBorrowable: false, isInAddress: false }];
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
    const { isGuarded, guards, checkHost } = this.#access.rules;
    if (needs === 'open' && !isGuarded) return;
    if (this.isSigned(needs)) {
      if (this.signedBy === undefined) this.#refuseSignature();
      return;
    }
    const key = this.#keyFor(guards[needs] ? needs : 'any');
    if (guards[needs] && key === undefined) throw this.#problem(needs);
    this.#refuseOtherSites(key?.isBorrowable ?? true);
    if (!guards[needs]) {
      if (needs !== 'open') checkHost(this.#request);
      return;
    }
    this.keyName = key?.name || undefined;
    this.isUnproved = false;
  }

  #keyFor(access: Access | 'any'): (ShownKey & { readonly name: string }) | undefined {
    const { nameOf } = this.#access.rules;
    let borrowable: (ShownKey & { readonly name: string }) | undefined;
    for (const shown of this.#keys) {
      const name = shown.isInAddress && access !== 'record' ? undefined : nameOf[access](shown.key);
      if (name === undefined) continue;
      if (!shown.isBorrowable) return { ...shown, name };
      borrowable = { ...shown, name };
    }
    return borrowable;
  }

  #refuseOtherSites(isBorrowable: boolean): void {
    const shownBy = isBorrowable ? this.#access.rules.otherSite(this.#request) : undefined;
    if (shownBy !== undefined) throw HTTP_ERRORS.otherSite(shownBy);
  }

  #refuseSignature(): never {
    throw HTTP_ERRORS.signature(this.#signatureProblem ?? '');
  }

  /** Says which proof is missing. */
  #problem(needs: Access): RequestError {
    if (this.#keyProblem !== undefined) return HTTP_ERRORS.key(this.#keyProblem);
    return this.#access.rules.missing(needs, this.#keys.length > 0);
  }
}

const NO_BODY = Buffer.alloc(0);

const NO_KEYS: readonly ShownKey[] = [];
