import { meantName } from './misspelled';
import { fileVariable, type NamedProblem, type Texts } from './secret-files';
import type { Variable } from '../variable';

/** Finds the variables that would leave something open: misspelled ones, and guards that are set to nothing. */
export function wrongNames(variables: readonly Variable<unknown>[], environment: Texts): NamedProblem[] {
  const known = variables.flatMap((variable) => {
    const { name, guards, secret } = variable;
    return [{ name, guards }, ...(secret ? [{ name: fileVariable(variable), guards }] : [])];
  });
  const problems: NamedProblem[] = [];
  for (const [name, text] of Object.entries(environment)) {
    if (text === undefined) continue;
    const variable = known.find((one) => one.name === name);
    if (variable === undefined) {
      const meant = meantName(name, known);
      if (meant !== undefined)
        problems.push({ name, line: `${name}: is not a variable; rename it to ${meant}, or remove it` });
    } else if (variable.guards && text.trim() === '') {
      problems.push({ name, line: `${name}: must not be empty; give it a value, or remove it` });
    }
  }
  return problems;
}
