import type { StoredEvent } from './stored-event';

type HeaderFields = readonly (readonly [name: string, value: string])[];

/** The element whose content is the payload of a SOAP message, if not the operation; the envelope without its header. */
export type SoapPart = 'body' | 'envelope';

/** How an event arrived, as the log keeps it. */
export type Arrival = ReturnType<typeof Arrival.of>;

export const Arrival = {
  /** Reads the arrival of an event. Events that were imported may have none of it. */
  of({ arrival }: Pick<StoredEvent, 'arrival'>) {
    const members = JSON.parse(arrival) as Readonly<Record<string, unknown>>;
    const { headers: given, sentAs, soap } = members;
    const { of: part } = Object(soap) as { readonly of?: unknown };
    const headers: HeaderFields = Object.entries(typeof given === 'object' ? (given ?? {}) : {}).flatMap(
      ([name, value]) => (typeof value === 'string' ? [[name, value] as const] : []),
    );
    return {
      method: text(members.method),
      /** Path and query. */
      target: text(members.path),
      remoteAddress: text(members.remoteAddress),
      /** The name of the sender whose signature was verified. */
      signedBy: text(members.signedBy),
      /** The name of the record key with which it came, if that has one. */
      keyName: text(members.keyName),
      /** The short name of the known sender that the call seemed to come from. */
      sender: text(members['webhook-sender']),
      /** Names in lower case, values as Node reads them (ISO 8859-1); without those that may hold a secret. */
      headers,
      header: (name: string) => headers.find(([field]) => field === name)?.[1],
      /** The form of the body, if its content type does not say so. */
      sentAs: sentAs === 'json' || sentAs === 'query' ? sentAs : undefined,
      soapPart: part === 'body' || part === 'envelope' ? part : undefined,
    };
  },

  /**
   * Returns the header fields to send again, perhaps to another target: without those of the connection and of framing (RFC 9110, section
   * 7.6.1), those that only browsers send, and those that make targets mistake the request or its caller.
   */
  passedOn(headers: HeaderFields): HeaderFields {
    const named = headers
      .filter(([name]) => name === 'connection')
      .flatMap(([, value]) => value.toLowerCase().split(/[\s,]+/));
    // Some servers read an underscore in a name as a hyphen.
    return headers.filter(([name]) => !NOT_PASSED_ON.test(name.replaceAll('_', '-')) && !named.includes(name));
  },

  /** Returns header fields as a person reads them: most that are not ASCII were meant as UTF-8. */
  readable: (headers: HeaderFields): HeaderFields => headers.map(([name, value]) => [name, asUtf8(value)]),
};

const NOT_PASSED_ON = new RegExp(
  [
    '^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|via|origin|referer|sec-.*',
    'content-length|content-encoding|accept-encoding|forwarded|x-forwarded(?:-.*)?|x-real-ip|x-original-.*|x-rewrite-.*',
    'x-http-method(?:-override)?|x-method-override)$',
  ].join('|'),
);

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function asUtf8(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  const read = bytes.toString();
  return bytes.toString('latin1') === value && Buffer.from(read).equals(bytes) ? read : value;
}
