import { hash } from 'node:crypto';
import { JsonText } from './cloudevents/json-text';
import { type NewEvent, StoredEvent } from './stored-event';

type Compared = Pick<NewEvent, 'attributes' | 'arrival'> & { readonly data: string | null | undefined };

/** Why an event does not repeat the one in the log with the same key: another caller was proved, or type or data differ. */
export interface KeyConflict {
  readonly key: 'idempotencyKey' | 'webhookId';
  readonly differs: 'caller' | 'data';
}

export const KeyConflict = {
  /**
   * Returns undefined if the event repeats the first one. What was signed tells more than the data that was made of it. Events of 1.1.0 and
   * earlier do not say what that was, and some signed ones would have another type now.
   */
  between(key: KeyConflict['key'], event: Compared, first: Compared): KeyConflict | undefined {
    const [own, other] = [callerIn(event), callerIn(first)];
    if (own.keyName !== other.keyName || (other.signedWith ?? own.signedWith) !== own.signedWith)
      return { key, differs: 'caller' };
    const isSame =
      own.signedBody === undefined || other.signedBody === undefined
        ? event.data === first.data &&
          (own.signedBody !== undefined || StoredEvent.typeOf(event) === StoredEvent.typeOf(first))
        : own.signedBody === other.signedBody;
    return isSame ? undefined : { key, differs: 'data' };
  },

  /** Returns a key of the event's own: the one it has, then its caller and, for the id of a delivery that is not in the data, these too. */
  ownKey(event: NewEvent, key: KeyConflict['key'], isInData: boolean): string {
    const { signedBody, ...caller } = callerIn(event);
    if (key === 'idempotencyKey') return `${event.idempotencyKey ?? ''}${APART}${caller.keyName ?? ''}`;
    const data = signedBody === undefined ? [StoredEvent.typeOf(event), event.data] : [];
    const what = isInData ? [caller] : [{ ...caller, signedBody }, ...data];
    return `${event.webhookId ?? ''}${APART}${shortDigestOf(JSON.stringify(what))}`;
  },

  /** Divides a key from what {@link ownKey} added, if it did. */
  parts: (key: string | undefined): readonly string[] => key?.split(APART) ?? [],
};

/** Stands before what tells events apart; a key that a caller sends has no line feeds. */
const APART = '\n\n';

/** A digest of 128 bits. */
export function shortDigestOf(content: string | Buffer): string {
  return hash('sha256', content, 'base64url').slice(0, 22);
}

/** Returns the proved caller that an arrival names. Events of version 1.1.0 and earlier name neither secret nor body. */
function callerIn({ arrival }: Pick<NewEvent, 'arrival'>): Readonly<Record<string, string | undefined>> {
  const { keyName, signedWith, signedBody } = Object(new JsonText(arrival).parsed()?.value) as Record<string, string>;
  return { keyName, signedWith, signedBody };
}
