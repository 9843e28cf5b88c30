import type { IncomingHttpHeaders } from 'node:http';
import { Sender } from './sender';
import type { SenderSecret } from './signature';

/** The secrets of senders, by their settings. */
export type SenderSecrets = { readonly [setting in SenderSecret]?: readonly string[] | undefined };

/** Returns the check of senders' signatures for the secrets that are configured. */
export function signatureCheck(secrets: SenderSecrets) {
  const kinds = Sender.all.flatMap((sender) => {
    const { signature } = sender;
    if (signature === undefined) return [];
    const keys = (secrets[signature.setting] ?? []).flatMap((secret) => signature.signingKey(secret) ?? []);
    return keys.length === 0 ? [] : [{ sender, signature, keys }];
  });
  // The sender whose own field is there, too, or one that is known by its signature alone.
  const kindOf = (headers: IncomingHttpHeaders) => {
    const given = kinds.filter(({ signature: { field } }) => headers[field] !== undefined);
    return given.find(({ sender: { field } }) => field === undefined || headers[field] !== undefined) ?? given[0];
  };
  return {
    /** Whether the header fields contain a signature of a kind for which a secret is configured. */
    isSigned: (headers: IncomingHttpHeaders) => kindOf(headers) !== undefined,
    /** Finds whose signature a signed request has, and why it is not valid. It covers the body after its content coding is undone. */
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
