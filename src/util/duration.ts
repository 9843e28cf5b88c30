const MILLISECONDS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;

const SHORT = /^(\d{1,9})(d|h|m|s|ms)$/;
const ISO_8601 = /^P(?=.)(?:(\d{1,9})W)?(?:(\d{1,9})D)?(?:T(?=.)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?$/;

/**
 * Reads a duration in milliseconds: a number followed by `d`, `h`, `m`, `s` or `ms`, or an ISO 8601 duration of weeks,
 * days, hours, minutes and seconds. Months and years have no fixed length and are not accepted. Undefined: not a duration.
 */
export function parseDuration(text: string): number | undefined {
  const short = SHORT.exec(text);
  if (short !== null) return Number(short[1]) * MILLISECONDS[short[2] as keyof typeof MILLISECONDS];
  const iso = ISO_8601.exec(text);
  if (iso === null) return undefined;
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = iso.slice(1).map((part) => Number(part ?? 0));
  const { d, h, m, s } = MILLISECONDS;
  return (weeks * 7 + days) * d + hours * h + minutes * m + seconds * s;
}
