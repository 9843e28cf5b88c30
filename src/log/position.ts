/** Digits of the largest position that any engine numbers events with (2^64 - 1). */
export const SEQUENCE_DIGITS = 20;

/** No log has a larger position: at a million events a second it is reached after 285 years. */
export const MAX_POSITION = Number.MAX_SAFE_INTEGER;

/** Writes a position as the `sequence` of an event: text that sorts. */
export function paddedSequence(sequence: number): string {
  return String(sequence).padStart(SEQUENCE_DIGITS, '0');
}

/** The number that an engine uses for a position that a reader named; one that is too large stands after every event. */
export function sequenceNumber(position: bigint): number {
  return position > MAX_POSITION ? MAX_POSITION : Number(position);
}
