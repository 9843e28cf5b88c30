/** Words in names of header fields, as in `X-Api-Key`. The word before `key` or `token` excludes others, as in `Idempotency-Key`. */
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

/** Stands for a secret that was cut out: in characters that a header field and an address may have. */
const CUT = '***';

/** The backslashes before a character that JSON escapes: `\"`, or `\\\"` if that JSON is a string in JSON. */
const ESCAPES = '\\\\{1,8}';

/** The value of an `access_token` (RFC 6750), as in `?access_token=a&x`, `%253Faccess%255Ftoken%253Da%2526x`, `{\"access_token\":\"a\"}`. */
const TOKEN = new RegExp(
  `(?<=${anyForm('access_token')}(?:${anyForm('=')}|(?:${ESCAPES})?"\\s*:\\s*(?:${ESCAPES})?"))` +
    `(?:[^&\\s"\\\\<>]|${ESCAPES}/)+?(?=$|[&\\s"\\\\<>]|%(?:25)*26)`,
  'g',
);

/** Cuts secrets out of what is kept or shown, known by their value wherever they stand: those configured, and each `access_token`. */
export class Secrets {
  /** The longest first: one may be part of another. */
  #values: readonly { readonly plain: string; readonly pattern: RegExp }[] = [];
  #haveQuotes = false;
  #newest: readonly string[] = [];

  constructor(values: readonly string[] = []) {
    this.use(values);
  }

  /** Returns true if a header field of this name, in lower case, may hold a secret. Some servers read an underscore as a hyphen. */
  static mayBeIn(this: void, name: string): boolean {
    return SECRET_NAME.test(`-${name.replaceAll('_', '-')}-`);
  }

  /** Uses other values. Those before them are cut out, too, until the next time: callers may still send them. */
  use(values: readonly string[]): void {
    const all = [...new Set([...values, ...this.#newest])];
    this.#newest = values;
    this.#haveQuotes = all.some((value) => /["\\]/.test(value));
    this.#values = all
      .toSorted((a, b) => b.length - a.length)
      .map((value) => ({ plain: unescaped(value), pattern: new RegExp(anyForm(value), 'g') }));
  }

  /** Returns a text without them. */
  readonly cut = (text: string): string => this.#patternsFor(text).reduce((rest, one) => rest.replace(one, CUT), text);

  /** Returns JSON without them in the values of its members. */
  readonly cutJson = (json: string): string => {
    if (this.#patternsFor(json).length === 0) return json;
    const shown = (_name: string, value: unknown) => (typeof value === 'string' ? this.cut(value) : value);
    return JSON.stringify(JSON.parse(json), shown);
  };

  #patternsFor(text: string): readonly RegExp[] {
    const plain = this.#hasEscapes(text) ? unescaped(text) : text;
    const patterns: RegExp[] = [];
    for (const value of this.#values) if (plain.includes(value.plain)) patterns.push(value.pattern);
    // The end of `access_token`: its first character is rare, which makes it quick to find.
    if (plain.includes('_token')) patterns.push(TOKEN);
    return patterns;
  }

  /** Almost all JSON has a `\"`, which matters only if a value has a quote. A pattern would be slower. */
  #hasEscapes(text: string): boolean {
    if (text.includes('%')) return true;
    for (let i = text.indexOf('\\'); i !== -1; i = text.indexOf('\\', i + 2))
      if (text[i + 1] !== '"' || this.#haveQuotes) return true;
    return false;
  }
}

/** A text without what escapes its characters: `a%2D%22`, `a%252d"` and, in JSON, `a\u002d\"` become `a-"`. */
function unescaped(text: string): string {
  return text
    .replace(/%(?:25)*([0-7][\da-f])|\\u00([0-7][\da-f])/gi, (_all, encoded?: string, inJson = '') =>
      String.fromCharCode(parseInt(encoded ?? String(inJson), 16)),
    )
    .replaceAll('\\', '');
}

/** A pattern of a text whose characters may be percent-encoded (`-` as `%2D`, `%252d`), or escaped as in JSON (`\u002D`, `\"`). */
function anyForm(text: string): string {
  const characters = text.match(/\\+|[^]/g) ?? [];
  return characters
    .map((character, i) => {
      // Any number stands for any other, `\` also for `\\` or `%5C`: JSON doubles them.
      if (character.startsWith('\\')) return '(?:\\\\|%(?:25)*5[cC]){1,64}';
      const hex = character.charCodeAt(0).toString(16).padStart(2, '0');
      const encoded = `(?:${hex}|${hex.toUpperCase()})`;
      const literal = character.replace(/\W/, '\\$&');
      // The first character may keep its escape: to look for it would be slow at each of many backslashes.
      const escaped = i === 0 ? `${literal}|\\\\u00${encoded}` : `(?:${ESCAPES})?${literal}|${ESCAPES}u00${encoded}`;
      return `(?:${escaped}|%(?:25)*${encoded})`;
    })
    .join('');
}
