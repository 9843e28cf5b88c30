import { shortened } from '../util/text';
import type { ElementName, Tag } from '../xml/handler';

const WSS = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss';

const WSSE = `${WSS}-wssecurity-secext-1.0.xsd`;
const WSU = `${WSS}-wssecurity-utility-1.0.xsd`;

/** The `Type` of a plain-text password, and the default (UsernameToken Profile 1.1, section 3.1). */
const PASSWORD_TEXT = `${WSS}-username-token-profile-1.0#PasswordText`;

/** Milliseconds that a sender's clock may be behind; WCF allows the same. */
const CLOCK_SKEW = 5 * 60 * 1000;

/** A name to be written as text or in an attribute value, with its prefix. */
export interface QualifiedName extends ElementName {
  readonly prefix: string;
}

const wsse = (name: string): QualifiedName => ({ namespace: WSSE, prefix: 'wsse', name });

/** Fault codes of WS-Security 1.1, section 12. */
export const SECURITY_CODES = {
  invalid: wsse('InvalidSecurity'),
  unsupported: wsse('UnsupportedSecurityToken'),
  failedAuthentication: wsse('FailedAuthentication'),
  expired: { namespace: WSU, prefix: 'wsu', name: 'MessageExpired' },
} as const;

export interface SecurityProblem {
  readonly code: QualifiedName;
  readonly message: string;
}

export interface SecurityHeader {
  /** Whether its sender demands that it is understood (`mustUnderstand`). */
  readonly mandatory: boolean;
  readonly password: string | undefined;
  /** Why the header cannot be used, unless all of it is understood. */
  readonly problem: SecurityProblem | undefined;
}

export function isSecurityHeader({ uri, local }: Tag): boolean {
  return uri === WSSE && local === 'Security';
}

/** The namespace of each element that is understood, by its path inside the header. */
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

/** The path of an element that is not understood, and of those in it. */
const UNKNOWN = '';

/** Reads a WS-Security header: a UsernameToken (OASIS UsernameToken Profile 1.0 and 1.1) and perhaps a Timestamp. */
export class SecurityHeaderReader {
  /** The paths of the open elements inside the header, outermost first. */
  readonly #paths: string[] = [];
  readonly #texts = new Map<string, string>();
  #problem: SecurityProblem | undefined;
  #headers = 0;
  #mandatory = false;

  /** A header block opens. A message must not have two for the same receiver (WS-Security 1.1, section 5). */
  open(mandatory: boolean): void {
    this.#mandatory ||= mandatory;
    if (++this.#headers > 1) this.#refuse(SECURITY_CODES.invalid, 'there are two');
  }

  openElement(tag: Tag): void {
    const outer = this.#paths.at(-1);
    const path = outer === undefined ? tag.local : `${outer}/${tag.local}`;
    const isUnderstood = outer !== UNKNOWN && UNDERSTOOD.get(path) === tag.uri;
    // The paths of what is not understood would become long.
    this.#paths.push(isUnderstood ? path : UNKNOWN);
    if (this.#problem !== undefined) return;
    const name = shortened(tag.name);
    if (!isUnderstood) this.#refuse(SECURITY_CODES.unsupported, `the element ${name} is not supported`);
    else if (this.#texts.has(path)) this.#refuse(SECURITY_CODES.invalid, `it has more than one ${name}`);
    else this.#texts.set(path, '');
    const type = tag.attributes.find(({ uri, local }) => uri === '' && local === 'Type');
    if (path === 'UsernameToken/Password' && type !== undefined && type.value !== PASSWORD_TEXT)
      this.#refuse(
        SECURITY_CODES.unsupported,
        'only a password of the type PasswordText is supported, no PasswordDigest',
      );
  }

  addText(text: string): void {
    const path = this.#paths.at(-1) ?? '';
    const before = this.#texts.get(path);
    if (before !== undefined) this.#texts.set(path, before + text);
  }

  closeElement(): void {
    this.#paths.pop();
  }

  header(): SecurityHeader {
    for (const name of ['Username', 'Password']) {
      if (!this.#texts.has(`UsernameToken/${name}`))
        this.#refuse(SECURITY_CODES.invalid, `it has no UsernameToken with a ${name}`);
    }
    const expires = this.#texts.get('Timestamp/Expires');
    const expiry = expires === undefined ? Infinity : Date.parse(expires);
    if (Number.isNaN(expiry)) this.#refuse(SECURITY_CODES.invalid, 'the Expires of its Timestamp is not a time');
    if (expiry + CLOCK_SKEW < Date.now()) this.#refuse(SECURITY_CODES.expired, 'its Timestamp has expired');
    const problem = this.#problem;
    const password = problem === undefined ? this.#texts.get('UsernameToken/Password') : undefined;
    return { mandatory: this.#mandatory, password, problem };
  }

  #refuse(code: QualifiedName, reason: string): void {
    this.#problem ??= { code, message: `The WS-Security header cannot be used: ${reason}.` };
  }
}
