import { distance } from 'fastest-levenshtein';

/** So many of a name's letters may be wrong at most: one in this number. */
const LETTERS_PER_ERROR = 3;

/**
 * Finds the operation that somebody meant by a name that none has: the same in other letter case, else the one that differs
 * least, by a third of its letters at most. Undefined: none is near.
 */
export function meantOperation(unknown: string, operations: readonly string[]): string | undefined {
  const given = unknown.toLowerCase();
  const near = operations
    .map((name) => ({ name, allowed: Math.floor(name.length / LETTERS_PER_ERROR) }))
    // Before the comparison, which takes time for each letter of both.
    .filter(({ name, allowed }) => Math.abs(given.length - name.length) <= allowed)
    .map(({ name, allowed }) => ({ name, allowed, errors: distance(given, name.toLowerCase()) }))
    .filter(({ allowed, errors }) => errors <= allowed)
    .sort((one, other) => one.errors - other.errors);
  return near[0]?.name;
}
