import type { IncomingHttpHeaders } from 'node:http';
import type { HandshakeRequest, JsonMembers } from './handshakes';
import { SENDERS, STANDARD_SIGNATURE } from './senders';
import type { SenderSecret } from './signature';

/** A service that is known to send webhooks. */
export type Sender = (typeof ALL)[number];

const TYPE = /^[\w:/-]{1,100}(?:\.[\w:/-]{1,100}){0,9}$/;

const KEY = /^[\x20-\x7e]{1,256}$/;

const ALL = SENDERS.map((form) => ({
  ...form,
  /** The name as it is typed: `github`, `standard-webhooks`. */
  shortName: form.name.toLowerCase().replaceAll(' ', '-'),

  /** The CloudEvents `type` of a call, unless the sender has none for it or one that is no type. */
  typeOf(headers: IncomingHttpHeaders, body: JsonMembers, signed?: Buffer): string | undefined {
    const text = form.type?.(headers, body, signed);
    return typeof text === 'string' && TYPE.test(text) ? text : undefined;
  },

  /**
   * The name of the sender's key, the scope if there is one, and the key of a call, with line feeds between them, which no header field can
   * hold. With a signature the name is another: an unsigned call cannot use up the key of a signed one.
   */
  keyOf(headers: IncomingHttpHeaders, body: JsonMembers, scope?: string, signed?: Buffer): string | undefined {
    const text = form.key?.of(headers, body, signed);
    if (form.key === undefined || typeof text !== 'string' || !KEY.test(text)) return undefined;
    const name = signed === undefined ? form.key.name : `signed ${form.key.name}`;
    return [name, ...(scope === undefined ? [] : [scope]), text].join('\n');
  },
}));

const FIELDS = new Set(ALL.map(({ field }) => field));

/** The secrets of senders, by their settings. */
export type SenderSecrets = { readonly [setting in SenderSecret]?: readonly string[] | undefined };

export const Sender = {
  /** All known senders, in the order in which they are looked for. */
  all: ALL,

  /** The short names of those whose calls are recognised. */
  recognised: ALL.flatMap(({ field, shortName }) => (field ? shortName : [])),

  /** The short names of those as which a request can be signed. */
  signing: ALL.flatMap(({ field, signature, shortName }) => (field && signature ? shortName : [])),

  /** Finds the sender of a call. Nothing is proved by that: anybody can send these header fields. */
  of(headers: IncomingHttpHeaders): Sender | undefined {
    // Most calls have none of the fields: to look for each takes several times as long.
    for (const name in headers)
      if (FIELDS.has(name)) return ALL.find(({ field }) => field !== undefined && headers[field] !== undefined);
    return undefined;
  },

  /** @param name - also as it is typed. */
  named: (name: string | undefined): Sender | undefined =>
    ALL.find((sender) => sender.name === name || sender.shortName === name),

  /**
   * Returns the type and the answer of the handshake that a request is, if that is one of those named in `wanted`. A signed request
   * is its sender's handshake or none.
   */
  handshakeOf(wanted: readonly string[], request: HandshakeRequest, { sender }: { readonly sender?: Sender } = {}) {
    if (wanted.length === 0) return undefined;
    for (const { handshake } of sender === undefined ? ALL : [sender]) {
      const answer = handshake !== undefined && wanted.includes(handshake.name) ? handshake.answer(request) : undefined;
      if (answer !== undefined) return { type: handshake?.type ?? '', answer };
    }
    return undefined;
  },

  /**
   * Returns the header fields of Standard Webhooks that sign a message now, with each of the secrets.
   *
   * @param id - as `Signature.sign` needs it.
   */
  standardHeaders(secrets: readonly string[], id: string, body: Buffer): Readonly<Record<string, string>> {
    const keys = secrets.flatMap((secret) => STANDARD_SIGNATURE.signingKey(secret) ?? []);
    return STANDARD_SIGNATURE.sign(id, body, keys);
  },

  /** Returns the check of senders' signatures for the secrets that are configured. */
  signatureCheck(secrets: SenderSecrets) {
    const kinds = ALL.flatMap((sender) => {
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
      check(headers: IncomingHttpHeaders, body: Buffer) {
        const kind = kindOf(headers);
        if (kind === undefined) throw new Error('The request has no signature of a known kind.');
        const { sender, signature, keys } = kind;
        if (body.length === 0) return { sender, problem: 'A signature counts for a body, and there is none.' };
        return { sender, problem: signature.problem(headers, body, keys) };
      },
    };
  },
};
