import type { IncomingHttpHeaders } from 'node:http';
import { Handshake } from './handshakes';
import { SENDERS, STANDARD_WEBHOOKS, TYPE, type JsonMembers } from './known-senders';
import { LARGE_MESSAGE, letOthersRun } from '../util/promises';
import { secretKey, type SenderSecret } from './signature';

/** A service that is known to send webhooks. */
export type Sender = (typeof ALL)[number];

const KEY = /^[\x20-\x7e]{1,256}$/;

const ALL = SENDERS.map((spec) => ({
  ...spec,
  /** The name as it is typed: `github`, `standard-webhooks`. */
  shortName: spec.name.toLowerCase().replaceAll(' ', '-'),

  /** True if a call has the sender's field. A field for signatures must also hold one of this sender's kind. */
  isOf: (headers: IncomingHttpHeaders): boolean =>
    spec.field !== undefined &&
    (spec.field === spec.signature.field ? spec.signature.textIn(headers) : headers[spec.field]) !== undefined,

  /** The CloudEvents `type` of a call, if the sender names a valid one. */
  typeOf(headers: IncomingHttpHeaders, body: JsonMembers, signed?: Buffer): string | undefined {
    const text = spec.type?.(headers, body, signed);
    return typeof text === 'string' && TYPE.test(text) ? text : undefined;
  },

  /**
   * The name of the sender's key, the scope if there is one, and the key of a call, with line feeds between them, which no header field can
   * hold. With a signature the name is another: an unsigned call cannot use up the key of a signed one.
   */
  keyOf(headers: IncomingHttpHeaders, body: JsonMembers, scope?: string, signed?: Buffer): string | undefined {
    const text = spec.key?.of(headers, body, signed);
    if (spec.key === undefined || typeof text !== 'string' || !KEY.test(text)) return undefined;
    const name = signed === undefined ? spec.key.name : `signed ${spec.key.name}`;
    return [name, ...(scope === undefined ? [] : [scope]), text].join('\n');
  },
}));

const FIELDS = new Set(ALL.map(({ field }) => field));

/** Each kind of signature, with its senders. Signatures come before tokens: GitLab may send both. */
const KINDS = [...new Set(ALL.map(({ signature }) => signature))]
  .toSorted((a, b) => Number(a.isToken) - Number(b.isToken))
  .map((signature) => ({ signature, senders: ALL.filter((sender) => sender.signature === signature) }));

/** The secrets of senders, by their settings. */
export type SenderSecrets = { readonly [setting in SenderSecret]?: readonly string[] | undefined };

export const Sender = {
  /** All known senders, in the order in which they are looked for. */
  all: ALL,

  /** The short names of those whose calls are recognised, and as which a request can be signed. */
  recognised: ALL.flatMap(({ field, shortName }) => (field ? shortName : [])),

  /** How senders ask, before they deliver, whether an address takes their webhooks. */
  handshakes: Handshake,

  /** The signature of Standard Webhooks. */
  standardSignature: STANDARD_WEBHOOKS.signature,

  /** Finds the sender of a call. Nothing is proved by that: anybody can send these header fields. */
  of(headers: IncomingHttpHeaders): Sender | undefined {
    // Most calls have none of the fields: to look for each takes several times as long.
    for (const name in headers) if (FIELDS.has(name)) return ALL.find((sender) => sender.isOf(headers));
    return undefined;
  },

  /** @param name - also as it is typed. */
  named: (name: string | undefined): Sender | undefined =>
    ALL.find((sender) => sender.name === name || sender.shortName === name),

  /** Whether a key of a delivery, as {@link Sender.keyOf} returns it, is a part of the data itself. */
  isKeyInData: (given: string): boolean =>
    ALL.some(({ key }) => key?.isInData && given.replace(/^signed /, '').startsWith(`${key.name}\n`)),

  /** Returns a reader of the signatures in requests, of the kinds for which secrets are configured. One valid signature is enough. */
  signaturesFor(secrets: SenderSecrets) {
    const configured = KINDS.flatMap((kind) => {
      const keys = kind.signature.keysOf(secrets[kind.signature.setting] ?? []);
      return keys.length === 0 ? [] : [{ ...kind, keys: keys.map(secretKey) }];
    });
    return {
      /** The header fields that hold them. */
      fields: configured.map(({ signature }) => signature.field),

      read(headers: IncomingHttpHeaders) {
        const found = configured.flatMap((kind) => {
          const signature = kind.signature.read(headers);
          return signature === undefined ? [] : [{ ...kind, ...signature }];
        });
        const [first] = found;
        if (first === undefined) return undefined;
        return {
          /** Why none of them is valid for any body, as a sentence. */
          problem: found.some(({ check }) => check !== undefined) ? undefined : first.problem,

          /** Returns who signed a body, after its content coding is undone, and with which secret; or why no signature is valid. */
          async signerOf(body: Buffer): Promise<{ readonly sender: Sender; readonly secret: string } | string> {
            if (body.length === 0) return 'A signature covers a body, and this request has none.';
            const own = Sender.of(headers);
            for (const { check, keys, senders } of found) {
              if (check === undefined) continue;
              // The sender itself, or the last: one that is known by its signature alone.
              const sender = senders.find((one) => one === own) ?? senders.at(-1);
              for (const { key, id } of keys) {
                if (body.length > LARGE_MESSAGE) await letOthersRun();
                if (sender !== undefined && check(body, key)) return { sender, secret: id() };
              }
            }
            return this.problem ?? `The ${first.signature.field} is not valid for this body.`;
          },
        };
      },
    };
  },
};
