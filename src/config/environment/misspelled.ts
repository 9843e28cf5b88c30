import { distance } from 'fastest-levenshtein';

/** A variable that is read. */
export interface KnownName {
  readonly name: string;
  /** Whether something is open to everybody without it. */
  readonly guards: boolean;
}

/**
 * Finds the known name that somebody meant by an unknown one: the same in other letter case or with other underscores, or one
 * that differs by a typing error. Undefined: none is near. A long name that guards the service may differ by two errors. Short
 * ones resemble the variables of other programs (`PORT` and `SPORT`), so that only swapped letters count.
 */
export function meantName(unknown: string, known: readonly KnownName[]): string | undefined {
  const given = unknown.toUpperCase();
  const near = known
    .filter((one) => isNear(given, one))
    .sort((one, other) => distance(given, one.name) - distance(given, other.name));
  return near[0]?.name;
}

/** Most typing errors that are forgiven in any name. */
const MAX_ERRORS = 2;

function isNear(given: string, { name, guards }: KnownName): boolean {
  if (given.replaceAll('_', '') === name.replaceAll('_', '') || (guards && given === `${name}_FILE`)) return true;
  // Each name of the environment is compared with all that are known, and most differ in length by more than errors can.
  if (Math.abs(given.length - name.length) > MAX_ERRORS) return false;
  const errors = distance(given, name);
  return errors <= allowedErrors(name, guards) || (errors === 2 && sorted(given) === sorted(name));
}

/** Letters to add, drop or change; two letters in the wrong order are one error, and allowed in any name. */
function allowedErrors(name: string, guards: boolean): number {
  if (name.length < 7) return 0;
  return guards && name.length >= 9 ? MAX_ERRORS : 1;
}

function sorted(text: string): string {
  return [...text].sort().join('');
}
