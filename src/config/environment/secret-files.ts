import { resolve } from 'node:path';
import { readTextFile } from './text-file';
import type { Variable } from '../variable';

/** The name of the variable that gives the value of a secret as a file. */
export function fileVariable({ name }: Variable<unknown>): string {
  return `${name}_FILE`;
}

/** The texts of variables by their names. */
export type Texts = Readonly<Record<string, string | undefined>>;

/** Something wrong with a variable, by the variable's name. */
export interface NamedProblem {
  readonly name: string;
  /** The whole line, which begins with the name. */
  readonly line: string;
}

/**
 * Reads the secrets that are given as files.
 *
 * @returns the texts of all variables, with the content of the files, and what is wrong.
 */
export function withSecretFiles(
  secrets: readonly Variable<unknown>[],
  given: Texts,
): { readonly texts: Texts; readonly problems: readonly NamedProblem[] } {
  const texts = { ...given };
  const problems: NamedProblem[] = [];
  for (const secret of secrets) {
    const name = fileVariable(secret);
    const file = given[name];
    if (file === undefined || file === '') continue;
    const wrong = (what: string): void => void problems.push({ name, line: `${name}=${file}: ${what}` });
    if (given[secret.name] !== undefined) {
      wrong(`must not be set together with ${secret.name}`);
      continue;
    }
    try {
      const text = readTextFile(file);
      const parsed = secret.parse(text);
      if ('problem' in parsed) wrong(`the file ${parsed.problem}`);
      else texts[secret.name] = text;
    } catch (error) {
      wrong(`must be a file that can be read; ${resolve(file)} ${(error as Error).message}`);
    }
  }
  return { texts, problems };
}
