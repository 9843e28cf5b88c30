/** Digits of the largest position that any engine numbers events with (2^64 - 1). */
export const SEQUENCE_DIGITS = 20;

/** No position in a log is larger: at a million events a second it is reached after 285 years. */
const MAX_SEQUENCE = BigInt(Number.MAX_SAFE_INTEGER);

/** Writes a position as the `sequence` of an event: text that sorts. */
export function paddedSequence(sequence: number): string {
  return String(sequence).padStart(SEQUENCE_DIGITS, '0');
}

/** A position that a reader named, as the number that an engine uses; what is too large lies behind every event. */
export function sequenceNumber(position: bigint): number {
  return Number(position > MAX_SEQUENCE ? MAX_SEQUENCE : position);
}
