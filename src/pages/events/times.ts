import { parseTime } from '../../util/time';

/** Writes a time for a person, in UTC: `2026-11-22 14:02:07.123`. */
export function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('T', ' ').replace('Z', '');
}

/** What an input of the type `datetime-local` takes and gives: without a zone, perhaps without seconds. */
const LOCAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;

/**
 * Reads a time in milliseconds since 1970-01-01T00:00Z: RFC 3339, or what an input of the type `datetime-local` gives, taken as
 * UTC. Undefined: it is neither.
 */
export function parseInputTime(text: string): number | undefined {
  if (!LOCAL.test(text)) return parseTime(text);
  return parseTime(`${text.length === 'yyyy-mm-ddThh:mm'.length ? `${text}:00` : text}Z`);
}

/** Writes a time for an input of the type `datetime-local`, in UTC. */
export function inputTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/(?::00)?\.000Z$|Z$/, '');
}
