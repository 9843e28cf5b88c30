const MILLISECONDS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;

const SHORT = /^(\d{1,9})(d|h|m|s|ms)$/;
const ISO_8601 = /^P(?=.)(?:(\d{1,9})W)?(?:(\d{1,9})D)?(?:T(?=.)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?$/;

/** Reads a duration in milliseconds: a number with `d`, `h`, `m`, `s` or `ms`, or one of ISO 8601 without months and years. */
export function parseDuration(text: string): number | undefined {
  const short = SHORT.exec(text);
  if (short !== null) return Number(short[1]) * MILLISECONDS[short[2] as keyof typeof MILLISECONDS];
  const iso = ISO_8601.exec(text);
  if (iso === null) return undefined;
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = iso.slice(1).map((part) => Number(part ?? 0));
  const { d, h, m, s } = MILLISECONDS;
  return (weeks * 7 + days) * d + hours * h + minutes * m + seconds * s;
}

const TIME =
  /^(\d{4}-\d\d-\d\d)[Tt]((?:[01]\d|2[0-3]):[0-5]\d):([0-5]\d|60)(?:(\.\d{1,3})\d*)?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Reads a time as RFC 3339 writes it (section 5.6), in milliseconds since 1970-01-01T00:00Z. Leap seconds count as the second after
 * them; times that do not exist are refused, and those outside the years 0000 to 9999 in UTC.
 */
export function parseTime(text: string): number | undefined {
  const match = TIME.exec(text);
  if (match === null) return undefined;
  const [, day = '', minute = '', second = '', fraction = '', zone = ''] = match;
  // Date.parse takes 30 February for 2 March.
  if (new Date(Date.parse(day) || 0).toISOString().slice(0, 10) !== day) return undefined;
  const time = new Date(`${day}T${minute}:00${fraction}${zone.toUpperCase()}`);
  if (time.getUTCFullYear() < 0 || time.getUTCFullYear() > 9999) return undefined;
  if (second === '60' && !time.toISOString().includes('T23:59')) return undefined;
  return time.getTime() + Number(second) * 1000;
}

/** Writes a time for a person, in UTC: `2026-11-22 14:02:07.123`. */
export function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('T', ' ').replace('Z', '');
}
