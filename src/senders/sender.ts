import type { IncomingHttpHeaders } from 'node:http';
import type { Handshake, HandshakeRequest } from './handshakes';
import { SENDERS, STANDARD_SIGNATURE, type SenderForm } from './senders';
import type { SenderSecret } from './signature';

/** Who has proved to have sent a call, and the body by which. */
export interface SignedBy {
  readonly sender: Sender;
  readonly body: Buffer;
}

/** A type of a sender: names with dots between them. */
const TYPE = /^[\w:/-]{1,100}(?:\.[\w:/-]{1,100}){0,9}$/;

const KEY = /^[\x20-\x7e]{1,256}$/;

/** A service that is known to send webhooks. */
export class Sender {
  /** All known senders, in the order in which they are looked for. */
  static readonly all: readonly Sender[] = SENDERS.map((form) => new Sender(form));

  /** The short names of those whose calls are recognised. */
  static readonly recognised: readonly string[] = Sender.all.flatMap(({ field, shortName }) =>
    field ? shortName : [],
  );

  readonly name: string;
  /** The name as it is typed: `github`, `standard-webhooks`. */
  readonly shortName: string;
  /** The header field, in lower case, by which its calls are recognised, if there is one. */
  readonly field: string | undefined;
  readonly signature: SenderForm['signature'];
  readonly handshake: Handshake | undefined;
  readonly wantsFormsUnanswered: boolean;
  readonly #form: SenderForm;

  private constructor(form: SenderForm) {
    this.#form = form;
    this.name = form.name;
    this.shortName = form.name.toLowerCase().replaceAll(' ', '-');
    this.field = form.field;
    this.signature = form.signature;
    this.handshake = form.handshake;
    this.wantsFormsUnanswered = form.wantsFormsUnanswered ?? false;
  }

  /** Finds the sender of a call. Nothing is proved by that: anybody can send these header fields. */
  static of(headers: IncomingHttpHeaders): Sender | undefined {
    return Sender.all.find(({ field }) => field !== undefined && headers[field] !== undefined);
  }

  /** @param name - also as it is typed. */
  static named(name: string | undefined): Sender | undefined {
    return Sender.all.find((sender) => sender.name === name || sender.shortName === name);
  }

  /**
   * Returns the type and the answer of the handshake that a request is, if that is one of those named in `wanted`. A signed request
   * is its sender's handshake or none.
   */
  static handshakeOf(wanted: readonly string[], request: HandshakeRequest, { sender }: Partial<SignedBy> = {}) {
    if (wanted.length === 0) return undefined;
    for (const { handshake } of sender === undefined ? Sender.all : [sender]) {
      const answer = handshake !== undefined && wanted.includes(handshake.name) ? handshake.answer(request) : undefined;
      if (answer !== undefined) return { type: handshake?.type ?? '', answer };
    }
    return undefined;
  }

  /**
   * Returns the header fields of Standard Webhooks that sign a message now, with a signature for each of the secrets: a sender uses
   * two while it changes its secret.
   *
   * @param id - as `Signature.sign` needs it.
   */
  static standardHeaders(secrets: readonly string[], id: string, body: Buffer): Readonly<Record<string, string>> {
    const keys = secrets.flatMap((secret) => STANDARD_SIGNATURE.signingKey(secret) ?? []);
    return STANDARD_SIGNATURE.sign(id, body, keys);
  }

  /**
   * The CloudEvents `type` of a call, unless the sender has none for it or one that is no type.
   *
   * @param body - the members of a JSON object; none if the body is anything else.
   */
  typeOf(headers: IncomingHttpHeaders, body: Readonly<Record<string, unknown>>, signed?: Buffer): string | undefined {
    const text = this.#form.type?.(headers, body, signed);
    return typeof text === 'string' && TYPE.test(text) ? text : undefined;
  }

  /**
   * The name of the sender's key, the scope if there is one, and the key of a call, with line feeds between them, which no header field can
   * hold. With a signature the name is another: an unsigned call cannot use up the key of a signed one.
   *
   * @param body - as for {@link typeOf}.
   * @param signed - the body whose signature was verified.
   */
  keyOf(
    headers: IncomingHttpHeaders,
    body: Readonly<Record<string, unknown>>,
    scope?: string,
    signed?: Buffer,
  ): string | undefined {
    const { key } = this.#form;
    const text = key?.of(headers, body, signed);
    if (key === undefined || typeof text !== 'string' || !KEY.test(text)) return undefined;
    return [signed === undefined ? key.name : `signed ${key.name}`, ...(scope === undefined ? [] : [scope]), text].join(
      '\n',
    );
  }
}

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
