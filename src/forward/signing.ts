import { Sender } from '../senders/sender';

/** Returns the header fields that sign a request; `id` is its own unless it has one. */
export type Signer = (sent: SentFields, id: string, body: Buffer) => SentFields;

export type SentFields = Readonly<Record<string, string>>;

/** The senders that sign, by their names in lower case. */
export const SIGNING: ReadonlyMap<string, Sender> = new Map(
  Sender.all
    .filter(({ field, signature }) => field !== undefined && signature !== undefined)
    .map((sender) => [sender.shortName, sender]),
);

/** Returns a {@link Signer} that signs as a sender does, or undefined if the text is not a secret of that sender. */
export function signerOf({ signature }: Sender, secret: string): Signer | undefined {
  const key = signature?.signingKey(secret.trim());
  if (signature === undefined || key === undefined || key.length === 0) return undefined;
  const idField = signature.field.replace(/-signature$/, '-id');
  return (sent, id, body) => signature.sign(signedId(sent[idField]) ?? id, body, [key]);
}

/** The id of a request, if it can be signed: with a full stop in it the signed text could be cut in another place. */
function signedId(id: string | undefined): string | undefined {
  return id === '' || id?.includes('.') ? undefined : id;
}
