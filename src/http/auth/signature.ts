import type { IncomingHttpHeaders } from 'node:http';
import type { AccessConfig, SENDER_SECRETS } from '../../config/config';
import { SENDERS } from '../../senders/senders';

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
