import { isUtf8 } from 'node:buffer';
import { lstatSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { distance } from 'fastest-levenshtein';
import { reasonOf } from '../util/errors';
import { ConfigError, type Problem, type Variable } from './variable';

const ENTRY = /^(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)$/;
const QUOTED = /^(?:"([^"]*)"|'([^']*)'|`([^`]*)`)\s*(?:#.*)?$/;

/** The variables of an `.env` file. */
export class EnvFile {
  readonly texts: Readonly<Record<string, string>>;
  /** Where each variable is set, for messages: `.env, line 3`. */
  readonly places = new Map<string, string>();

  /**
   * Parses a file: one `NAME=VALUE` a line, `export` before it or not, the value in quotes or not, comments after `#`. Refuses
   * what programs read differently, so that no guard gets lost.
   *
   * @throws {ConfigError} naming the first line that is not valid, without its value.
   */
  constructor(file: string, content: string) {
    const texts: [name: string, text: string][] = [];
    for (const [i, row] of content.split(/\r\n|\n|\r/).entries()) {
      if (/^\s*(?:#|$)/.test(row)) continue;
      const place = `${file}, line ${String(i + 1)}`;
      const lineError = (problem: string) => new ConfigError(`${place}: ${problem}`);
      const [, name, text] = ENTRY.exec(row.trim()) ?? [];
      if (name === undefined || text === undefined)
        throw lineError('must be NAME=VALUE, a comment that begins with #, or empty');
      const before = this.places.get(name);
      if (before !== undefined) throw lineError(`${name} is already set in ${before}`);
      this.places.set(name, place);
      texts.push([name, valueOf(text, (problem) => lineError(`${name} ${problem}`))]);
    }
    this.texts = Object.fromEntries(texts);
  }

  static read(file: string): EnvFile {
    // A dangling symbolic link is a mistake, not a missing file.
    const isThere = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
    return new EnvFile(file, isThere ? readTextFile(file) : '');
  }
}

function valueOf(text: string, lineError: (problem: string) => ConfigError): string {
  if (!/^["'`]/.test(text)) {
    const value = text.replace(/(?:^|\s+)#.*$/, '');
    if (value.includes('#')) throw lineError('contains a #: put the value in single quotes');
    return value;
  }
  const [quoted, double, single, backquoted] = QUOTED.exec(text) ?? [];
  if (quoted === undefined) throw lineError('must end with the quote that it begins with, on the same line');
  if (double?.includes('\\')) throw lineError('contains a backslash in double quotes: put the value in single quotes');
  return double ?? single ?? backquoted ?? '';
}

export type Texts = Readonly<Record<string, string | undefined>>;

/** Reads the secrets that are given as files. Returns the texts of all variables, with the content of the files. */
export function withSecretFiles(
  variables: readonly Variable<unknown>[],
  given: Texts,
): { readonly texts: Texts; readonly problems: readonly Problem[] } {
  const texts = { ...given };
  const problems: Problem[] = [];
  for (const secret of variables) {
    const [, name] = secret.names;
    const file = name && given[name];
    if (!file) continue;
    const report = (problem: string): void => void problems.push({ name, line: `${name}=${file}: ${problem}` });
    if (given[secret.name]) {
      report(`must not be set together with ${secret.name}`);
      continue;
    }
    try {
      const text = readTextFile(file);
      const parsed = secret.parse(text);
      if ('problem' in parsed) report(`the file ${parsed.problem}`);
      else texts[secret.name] = text;
    } catch (error) {
      report((error as Error).message);
    }
  }
  return { texts, problems };
}

/** Finds the guards that are empty. */
export function emptyGuards(variables: readonly Variable<unknown>[], environment: Texts): Problem[] {
  return variables
    .flatMap(({ guards, names }) => (guards ? names : []))
    .filter((name) => environment[name]?.trim() === '')
    .map((name) => ({ name, line: `${name}: must not be empty; give it a value, or remove it` }));
}

export interface UnknownName extends Problem {
  /** True if it is clearly the name of a variable with a typing error. */
  readonly isMisspelling: boolean;
  /** True if it may be meant for this service: it is close to the name of a setting, or ends like the name of a secret. */
  readonly resembles: boolean;
}

/** Two words, of which the second ends like the settings of secrets: few variables of other programs have such names. */
const LIKE_A_SECRET = /^[A-Z\d]+(_(?:KEY|SECRET|TOKEN))S?(?:_FILE)?$/i;

/** Finds the names that no variable has, and says which one each is close to. */
export function unknownNames(variables: readonly Variable<unknown>[], names: readonly string[]): UnknownName[] {
  const known = variables.flatMap(({ name, names: all, guards, about }) => [
    ...all.map((one) => ({ name: one, letters: lettersOf(one), guards })),
    // Certificates are files, too, but their variables do not say so.
    ...(guards && !about.secret ? [{ name, letters: lettersOf(`${name}_FILE`), guards }] : []),
  ]);
  const unknown = names.filter((name) => !known.some((one) => one.name === name));
  return unknown.map((name) => {
    const given = lettersOf(name);
    const distances = known.map((one) => ({ ...one, errors: distance(given, one.letters) }));
    const nearest = distances.reduce((one, other) => (other.errors < one.errors ? other : one));
    const [, ending] = LIKE_A_SECRET.exec(name) ?? [];
    const isNear = nearest.errors <= nearest.name.length / 3;
    const sameEnding = known.filter((one) => ending && one.name.endsWith(`${ending.toUpperCase()}S`));
    const meant = (isNear ? [nearest] : sameEnding).map((one) => one.name).join(' or ');
    // Short names resemble the variables of other programs: `PORT` and `SPORT`.
    const { length } = nearest.name;
    const maxErrors = (length >= 7 ? 1 : 0) + (nearest.guards && length >= 9 ? 1 : 0);
    return {
      name,
      line: `${name}: there is no such setting${meant === '' ? '' : `; did you mean ${meant}?`}`,
      isMisspelling: nearest.errors <= maxErrors,
      resembles: ending !== undefined || (length >= 7 && nearest.errors <= 2),
    };
  });
}

function lettersOf(name: string): string {
  return name.toUpperCase().replaceAll('_', '');
}

/** Reads a text file in UTF-8. @throws {ConfigError} naming the file. */
function readTextFile(path: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new ConfigError(`${resolve(path)} cannot be read: ${reasonOf(error)}`);
  }
  if (!isUtf8(bytes) || bytes.includes(0)) throw new ConfigError(`${resolve(path)} is not text in UTF-8`);
  return new TextDecoder().decode(bytes);
}
