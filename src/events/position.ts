/**
 * A position in the log is a number: 1, 2, 3 and so on, in the order of the events. Callers, archives and files have it as a
 * `sequence`, 20 digits, so that text order is log order.
 */

/** Digits of a `sequence`: those of 2^64 - 1. */
const SEQUENCE_DIGITS = 20;

/** No log has a larger position: at a million events a second it is reached after 285 years. */
export const LAST_POSITION = Number.MAX_SAFE_INTEGER;

/** Writes a position as a `sequence`. */
export function sequenceOf(position: number): string {
  return String(position).padStart(SEQUENCE_DIGITS, '0');
}

/**
 * Reads a position that a caller named: up to 20 digits, with or without zeros before them. One beyond {@link LAST_POSITION} becomes
 * that, which is after every event. Returns undefined for any other text.
 */
export function positionIn(text: string): number | undefined {
  return /^\d{1,20}$/.test(text) ? Math.min(Number(text), LAST_POSITION) : undefined;
}
