import type { SaxesTagNS } from 'saxes';

const WSS = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss';

/** Namespaces of WS-Security (OASIS WSS 1.0 and 1.1). */
const WSSE = `${WSS}-wssecurity-secext-1.0.xsd`;
const WSU = `${WSS}-wssecurity-utility-1.0.xsd`;

/** `Type` of a password in plain text; without a type it is that too (UsernameToken Profile 1.1, section 3.1). */
const PASSWORD_TEXT = `${WSS}-username-token-profile-1.0#PasswordText`;

/** How far a sender's clock may be behind, in milliseconds, as WCF allows. */
const CLOCK_SKEW = 5 * 60 * 1000;

const MAX_TEXT_LENGTH = 4096;

/** What a WS-Security header says. */
export interface SecurityHeader {
  /** Whether its sender wants it understood or the message refused. */
  readonly mandatory: boolean;
  /** The password of its UsernameToken. */
  readonly password: string | undefined;
  /** Why the header cannot be used; undefined: all of it was understood. */
  readonly problem: string | undefined;
}

/** Whether a header block is a WS-Security header. */
export function isSecurityHeader({ uri, local }: SaxesTagNS): boolean {
  return uri === WSSE && local === 'Security';
}

/** The elements that are understood, each by its path below the header. */
const UNDERSTOOD: ReadonlyMap<string, string> = new Map([
  ['UsernameToken', WSSE],
  ['UsernameToken/Username', WSSE],
  ['UsernameToken/Password', WSSE],
  ['UsernameToken/Nonce', WSSE],
  ['UsernameToken/Created', WSU],
  ['Timestamp', WSU],
  ['Timestamp/Created', WSU],
  ['Timestamp/Expires', WSU],
]);

/** Reads a WS-Security header with a UsernameToken (OASIS UsernameToken Profile 1.0 and 1.1) and a Timestamp or none. */
export class SecurityHeaderReader implements SecurityHeader {
  readonly #path: string[] = [];
  readonly #texts = new Map<string, string>();
  #problem: string | undefined;
  #headers = 0;
  mandatory = false;

  /** The header begins; a message has one for each receiver (WS-Security 1.1, section 5). */
  begins(mandatory: boolean): void {
    this.mandatory ||= mandatory;
    if (++this.#headers > 1) this.#refuse('there are two');
  }

  /** An element below the header opens. */
  opened(tag: SaxesTagNS): void {
    this.#path.push(tag.local);
    const path = this.#path.join('/');
    if (UNDERSTOOD.get(path) !== tag.uri) this.#refuse(`the element ${tag.name} is not supported`);
    else if (this.#texts.has(path)) this.#refuse(`it has more than one ${tag.name}`);
    else this.#texts.set(path, '');
    const { Type: type } = tag.attributes;
    if (path === 'UsernameToken/Password' && type !== undefined && type.value !== PASSWORD_TEXT)
      this.#refuse('only a password of the type PasswordText is supported, no PasswordDigest');
  }

  text(text: string): void {
    const path = this.#path.join('/');
    const before = this.#texts.get(path);
    if (before === undefined) return;
    if (before.length + text.length > MAX_TEXT_LENGTH)
      this.#refuse(`a value has more than ${String(MAX_TEXT_LENGTH)} characters`);
    else this.#texts.set(path, before + text);
  }

  closed(): void {
    this.#path.pop();
  }

  get password(): string | undefined {
    return this.problem === undefined ? this.#texts.get('UsernameToken/Password') : undefined;
  }

  get problem(): string | undefined {
    const reason = this.#problem ?? this.#missing() ?? this.#expired();
    return reason === undefined ? undefined : `The WS-Security header cannot be used: ${reason}.`;
  }

  #refuse(reason: string): void {
    this.#problem ??= reason;
  }

  #missing(): string | undefined {
    for (const name of ['Username', 'Password']) {
      if (!this.#texts.has(`UsernameToken/${name}`)) return `it has no UsernameToken with a ${name}`;
    }
    return undefined;
  }

  #expired(): string | undefined {
    const expires = this.#texts.get('Timestamp/Expires');
    if (expires === undefined) return undefined;
    const time = Date.parse(expires);
    if (Number.isNaN(time)) return 'the Expires of its Timestamp is no time';
    return time + CLOCK_SKEW < Date.now() ? 'its Timestamp has expired' : undefined;
  }
}
