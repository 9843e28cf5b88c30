/** No log has a larger position: at a million events a second it is reached after 285 years. */
export const LAST_POSITION = Number.MAX_SAFE_INTEGER;

/** Writes a position as callers, archives and files have it: as a `sequence`, 20 digits, so that text order is log order. */
export function sequenceOf(position: number): string {
  return String(position).padStart(20, '0');
}

/** Reads a position that a caller named in up to 20 digits; one beyond {@link LAST_POSITION}, which is after every event, becomes that. */
export function positionIn(text: string): number | undefined {
  return /^\d{1,20}$/.test(text) ? Math.min(Number(text), LAST_POSITION) : undefined;
}
