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

const TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/**
 * Reads a time as RFC 3339 writes it (section 5.6), in milliseconds since 1970-01-01T00:00Z. Leap seconds count as the second after
 * them; times that do not exist are refused, and those outside the years 0000 to 9999 in UTC.
 */
export function parseTime(text: string): number | undefined {
  const match = TIME.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const [fraction = '', sign, offsetHour = 0, offsetMinute = 0] = match.slice(7);
  if (hour > 23 || minute > 59 || second > 60 || Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === '-' ? -1 : 1);
  date.setUTCHours(hour, minute - offset);
  if (date.getUTCFullYear() < 0 || date.getUTCFullYear() > 9999) return undefined;
  if (second === 60 && !date.toISOString().includes('T23:59')) return undefined;
  return date.getTime() + second * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'));
}

/** Writes a time for a person, in UTC: `2026-11-22 14:02:07.123`. */
export function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('T', ' ').replace('Z', '');
}
