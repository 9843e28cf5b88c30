import type { Sender } from '../senders/sender';
import { HTTP_ERRORS, type RequestError } from '../http/errors';
import type { RateLimit } from '../http/rate-limit';
import type { HttpRequest } from '../http/request';
import { LARGE_MESSAGE } from '../util/promises';
import { digestOf, type Access, type AccessControl, type ShownKey } from './access-control';

/** Most bytes of a message whose caller has proved nothing, unless it is signed. It is read at once, not in another thread. */
const MAX_UNPROVED = LARGE_MESSAGE;

/**
 * Who makes a call, if that is proved: the holder of a key, or the sender whose secret signed the body. Made once, from the header
 * fields, and completed by the bytes of the body. Everything that depends on who calls asks here.
 */
export class Caller {
  /** The name of the key that let the call through, if it has one. */
  keyName: string | undefined;
  /** The sender whose secret signed the body, and the name of that secret. */
  signedBy: { readonly sender: Sender; readonly secret: string; body: Buffer } | undefined;
  /** The caller has not proved who it is, although some callers must. Such callers share a quarter of memory, slots and connections. */
  isUnproved = false;
  /** Most bytes of the body if its header fields prove nothing: `Infinity` if a signature covers it. Undefined for other callers. */
  unprovedLimit: number | undefined;
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

  /** Lets a request read the metrics at the public address. */
  static checkMetricsReader(request: HttpRequest, access: AccessControl, rate: RateLimit): void {
    // Before the key is looked at: a caller over the limit must not learn whether it is right.
    if (access.rules.guards.read) rate.count(request);
    new Caller(request, access).require('read');
  }

  /**
   * Refuses, as {@link Caller.require} would, what the header fields alone rule out: a wrong key only if the message can have no other.
   *
   * @param needs - undefined if the header fields name no operation: the one with large bodies records.
   * @param hasEnvelope - whether the message may contain a key, and name another operation.
   */
  checkHeader(needs: Access | undefined, hasEnvelope: boolean): void {
    const { hasGuards, guards, keyFor } = this.access.rules;
    const likely = needs ?? 'record';
    if (!hasGuards || (likely === 'record' && !guards.record)) return;
    const key = keyFor(this.#keys, likely);
    this.isUnproved = key === undefined;
    const signature = likely === 'record' ? this.signature : undefined;
    if (needs !== undefined && signature?.problem !== undefined) throw HTTP_ERRORS.signature(signature.problem);
    const mayProveLater = signature !== undefined || (this.isUnproved && hasEnvelope);
    if (!mayProveLater) this.require(likely, key);
    if (this.isUnproved) this.unprovedLimit = signature && signature.problem === undefined ? Infinity : MAX_UNPROVED;
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
    if (needs === 'record' || (needs === undefined && body.length > MAX_UNPROVED)) throw HTTP_ERRORS.signature(found);
  }

  /** Adds the password of a WS-Security header, or why that yields none. */
  addPassword({ password, problem }: { password: string | undefined; problem: { message: string } | undefined }): void {
    if (password !== undefined) this.#keys = [{ digest: digestOf(password), from: 'caller' }, ...this.#keys];
    if (problem !== undefined) this.#passwordProblem = HTTP_ERRORS.key(problem.message);
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
  require(needs: Access, key = this.access.rules.keyFor(this.#keys, needs)): void {
    const { isGuarded, guards, missing, otherSite, checkNameOfUnguardedCall } = this.access.rules;
    if (needs === 'open' && !isGuarded) return;
    if (needs === 'record' && this.signature !== undefined) {
      if (this.signedBy === undefined) throw HTTP_ERRORS.signature(this.#signatureProblem);
      return;
    }
    if (guards[needs] && key === undefined) throw this.#passwordProblem ?? missing(needs, this.#keys.length > 0);
    const sign = key === undefined || key.from === 'browser' ? otherSite(this.request) : undefined;
    if (sign !== undefined) throw HTTP_ERRORS.otherSite(sign);
    if (guards[needs]) {
      this.keyName = key?.name || undefined;
      this.isUnproved = false;
    } else if (needs !== 'open') checkNameOfUnguardedCall(this.request);
  }
}

const NO_KEYS: readonly ShownKey[] = [];

/** Lists the keys in `X-API-Key`, `Authorization: Bearer` (RFC 6750), the query and, as a password, `Authorization: Basic` (RFC 7617). */
function keysIn({ headers, accessTokens }: HttpRequest): ShownKey[] {
  const { authorization = '', 'x-api-key': apiKey } = headers;
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+) *$/i.exec(authorization) ?? [];
  const isBasic = scheme.toLowerCase() === 'basic';
  const password = isBasic ? /:(.*)$/s.exec(Buffer.from(value, 'base64').toString())?.[1] : undefined;
  const keys: ShownKey[] = [];
  if (typeof apiKey === 'string') keys.push({ digest: digestOf(apiKey), from: 'caller' });
  if (value !== '' && !isBasic) keys.push({ digest: digestOf(value), from: 'caller' });
  for (const token of accessTokens) keys.push({ digest: digestOf(token), from: 'query' });
  // Last: a key that no browser adds by itself is preferred.
  if (password !== undefined) keys.push({ digest: digestOf(password), from: 'browser' });
  return keys;
}
