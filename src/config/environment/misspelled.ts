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
    .filter(
      ({ name, guards }) =>
        typingErrors(given, name) <= allowedErrors(name, guards) || isVariation(given, name, guards),
    )
    .sort((one, other) => distance(given, one.name) - distance(given, other.name));
  return near[0]?.name;
}

function allowedErrors(name: string, guards: boolean): number {
  if (name.length < 7) return 0;
  return guards && name.length >= 9 ? 2 : 1;
}

/** Letters to add, drop or change; two letters in the wrong order are one error. */
function typingErrors(given: string, name: string): number {
  const errors = distance(given, name);
  return errors === 2 && sorted(given) === sorted(name) ? 1 : errors;
}

function isVariation(given: string, name: string, guards: boolean): boolean {
  const swapped = sorted(given) === sorted(name) && distance(given, name) === 2;
  const withoutUnderscores = given.replaceAll('_', '') === name.replaceAll('_', '');
  return swapped || withoutUnderscores || (guards && given === `${name}_FILE`);
}

function sorted(text: string): string {
  return [...text].sort().join('');
}
