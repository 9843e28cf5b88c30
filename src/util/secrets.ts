/** In names of header fields, as whole words. What a key or token is about tells those of deliveries, partitions and WebSocket from secrets. */
const SECRET_NAME = new RegExp(
  '-(?:' +
    [
      'auth(?!-(?:algo|level|method|result|results|scheme|status|time|type|version)-)',
      'authorization|authentication(?!-results-)|cookie2?|credentials?|hmac|jwt|oidc|otp|pass|passcode|passphrase|passwd|password',
      'principal|pw|secrets?|session|sessionid|sig|signature|verification|wsse|(?:access|api|id|refresh|session)token|apikey',
      '(?<!-(?:idempotency|page|continuation|sync)-)token',
      '(?<!-(?:cache|event|idempotency|issue|message|object|partition|project|record|routing|surrogate|websocket)-)keys?',
    ].join('|') +
    ')-',
);

/** Whether a header field of this name, in lower case, may hold a secret. Some servers read an underscore as a hyphen. */
export function mayBeSecret(name: string): boolean {
  return SECRET_NAME.test(`-${name.replaceAll('_', '-')}-`);
}

/** Stands for a secret that was cut out: in characters that a header field and an address may have. */
const CUT = '***';

/** What stands before a character that JSON escapes, which may be in JSON again. */
const ESCAPES = '\\\\{1,8}';

/** The value of an `access_token` (RFC 6750) in an address, perhaps percent-encoded once or more often, or in JSON. */
const TOKEN =
  `(?<=${anyForm('access_token')}(?:${anyForm('=')}|(?:${ESCAPES})?"\\s*:\\s*(?:${ESCAPES})?"))` +
  `(?:[^&\\s"'\\\\<>,;]|${ESCAPES}/)+?(?=$|[&\\s"'\\\\<>,;]|%(?:25)*26)`;

/** Cuts secrets out of what is kept or shown, known by their value wherever they stand: those configured, and each `access_token`. */
export class Secrets {
  /** As they are, and as JSON has them. */
  #values: readonly string[] = [];
  #pattern = /(?!)/g;

  constructor(values: readonly string[] = []) {
    this.use(values);
  }

  use(values: readonly string[]): void {
    this.#values = [...new Set(values.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]))];
    // One may be part of another.
    const longestFirst = values.toSorted((a, b) => b.length - a.length);
    this.#pattern = new RegExp([...longestFirst.map(anyForm), TOKEN].join('|'), 'g');
  }

  /** Returns a text without them. */
  readonly cut = (text: string): string => (this.#mayHold(text) ? text.replace(this.#pattern, CUT) : text);

  /** Returns JSON without them in the values of its members. */
  readonly cutJson = (json: string): string =>
    this.#mayHold(json)
      ? JSON.stringify(JSON.parse(json), (_name, value: unknown) =>
          typeof value === 'string' ? this.cut(value) : value,
        )
      : json;

  #mayHold(text: string): boolean {
    // Most texts have none of these, which takes a tenth of the time.
    return /%|\\[\\/u]|token/.test(text) || this.#values.some((value) => text.includes(value));
  }
}

/** A pattern of a text whose characters may be percent-encoded, as in an address, or escaped, as in JSON. */
function anyForm(text: string): string {
  const characters = text.match(/\\+|[^]/g) ?? [];
  return characters
    .map((character) => {
      // Any number stands for any other: JSON doubles them.
      if (character.startsWith('\\')) return '(?:\\\\|%(?:25)*5[cC]){1,64}';
      const hex = character.charCodeAt(0).toString(16).padStart(2, '0');
      const encoded = `(?:${hex}|${hex.toUpperCase()})`;
      const literal = character.replace(/\W/, '\\$&');
      return `(?:(?:${ESCAPES})?${literal}|%(?:25)*${encoded}|${ESCAPES}u00${encoded})`;
    })
    .join('');
}
