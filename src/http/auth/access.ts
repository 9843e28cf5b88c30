import type { IncomingMessage } from 'node:http';
import { keyCheck, presentedKeys, type KeyCheck } from './credentials';
import { RequestError } from './request-error';
import { signatureCheck } from './signature';

/** What a caller needs: nothing, a key to record, or a key to read. */
export type Access = 'open' | 'record' | 'read';

/** Who may call. */
export interface AccessOptions {
  /** Keys that allow to record; undefined: everybody may, unless there are secrets. */
  readonly recordKeys: readonly string[] | undefined;
  /** Keys that allow to read; undefined: everybody may. */
  readonly readKeys: readonly string[] | undefined;
  /** Secrets with which senders sign what they send; a valid signature allows to record. */
  readonly webhookSecrets: readonly string[] | undefined;
}

/** What a caller brought beside its header fields. */
export interface Proof {
  /** The body, where it was read already. */
  readonly body?: Buffer;
  /** The password of a WS-Security UsernameToken. */
  readonly password?: string | undefined;
  /** Why a WS-Security header gave no password. */
  readonly passwordProblem?: string | undefined;
}

/** Decides who may call. */
export interface AccessControl {
  /** Whether {@link AccessControl.check} needs the body of this request: its sender signed it. */
  needsBody(request: IncomingMessage): boolean;
  /** @throws {RequestError} 401: no key, a wrong one, or a signature that is not valid; 403: sent by another web site. */
  check(needed: Access, request: IncomingMessage, proof: Proof): void;
}

/** Browsers show their password dialog for Basic, so a person can use the service page. */
const CHALLENGE = { 'WWW-Authenticate': ['Basic realm="WebHook", charset="UTF-8"', 'Bearer realm="WebHook"'] };

const HOW =
  'Send it as Authorization: Bearer, as the password of Authorization: Basic, as X-API-Key, or over SOAP as a WS-Security UsernameToken.';

/** Makes the access control; undefined where neither keys nor secrets are set, so that it costs nothing. */
export function accessControl(options: AccessOptions): AccessControl | undefined {
  const { recordKeys, readKeys, webhookSecrets } = options;
  if (recordKeys === undefined && readKeys === undefined && webhookSecrets === undefined) return undefined;
  const signatures = signatureCheck(webhookSecrets ?? []);
  const checks: Readonly<Record<Access, KeyCheck | undefined>> = {
    open: undefined,
    record: recordKeys || webhookSecrets ? keyCheck(recordKeys ?? []) : undefined,
    read: readKeys && keyCheck(readKeys),
  };
  const needsBody = (request: IncomingMessage): boolean =>
    request.method === 'POST' && signatures.isSigned(request.headers);

  return {
    needsBody,
    check(needed, request, { body, password, passwordProblem }) {
      refuseOtherSites(request);
      const isValid = checks[needed];
      if (isValid === undefined) return;
      if (needed === 'record' && body !== undefined && needsBody(request)) {
        // A wrong signature is refused even beside a valid key: somebody changed what was sent, or sends it again.
        const problem = signatures.problem(request.headers, body);
        if (problem === undefined) return;
        throw new RequestError(401, problem, 'signature', CHALLENGE);
      }
      const given = presentedKeys(request.headers);
      if (password !== undefined) given.push(password);
      if (given.some(isValid)) return;
      const what = given.length === 0 ? `A key to ${needed} is needed.` : `The key is not valid to ${needed}.`;
      throw new RequestError(401, `${passwordProblem ?? what} ${HOW}`, 'key', CHALLENGE);
    },
  };
}

/**
 * A browser adds the credentials that it keeps for this address to what any web site makes it send. It also says which
 * kind of site that is (Fetch Metadata); other origins of the same site are not this service either.
 */
function refuseOtherSites({ headers }: IncomingMessage): void {
  const site = headers['sec-fetch-site'];
  if (site === 'cross-site' || site === 'same-site') {
    throw new RequestError(403, 'A page of another site may not call operations (Sec-Fetch-Site).', 'cross-site');
  }
}
