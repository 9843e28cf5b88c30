import { z } from 'zod';
import { parseDuration } from './duration';

export const MEBIBYTE = 1024 * 1024;

/** A whole number in a range, both ends included. */
export function wholeNumber(from: number, to: number) {
  const allowed = `must be a whole number from ${String(from)} to ${String(to)}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, allowed)
    .transform(Number)
    .refine((value) => value >= from && value <= to, allowed);
}

/** A duration, in milliseconds. */
export const duration = z.string().transform((value, context) => {
  const milliseconds = parseDuration(value);
  if (milliseconds === undefined || milliseconds <= 0) {
    context.addIssue('must be a duration, as in 30d, 12h, 45m or the ISO 8601 P1DT12H');
  }
  return milliseconds ?? 0;
});

/** A time-out, in milliseconds: from one second to an hour. */
export const timeout = duration.refine(
  (milliseconds) => milliseconds >= 1000 && milliseconds <= 3_600_000,
  'must be a duration from 1s to 1h',
);

/** A switch. */
export const flag = z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true');

/** A list of secrets: separated by commas or line breaks, each of at least 16 printable characters without spaces. */
export const secrets = z
  .string()
  .transform((value) =>
    value
      .split(/[,\r\n]/)
      .map((secret) => secret.trim())
      .filter((secret) => secret !== ''),
  )
  .refine(
    (values) => values.length > 0 && values.every((secret) => /^[\x21-\x7e]{16,256}$/.test(secret)),
    'must be a list of secrets, each of 16 to 256 printable ASCII characters without spaces',
  );

/** As {@link secrets}; one that begins with `whsec_` (Standard Webhooks) has base64 behind it. */
export const webhookSecrets = secrets.refine(
  (values) => values.every((secret) => !secret.startsWith('whsec_') || /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret)),
  'a secret that begins with whsec_ must have base64 behind it',
);

/** So many calls in so long: `100/1m`. */
export const rate = z.string().transform((value, context): Rate => {
  const [, calls = '', per = ''] = /^(\d{1,9})\/(\w+)$/.exec(value) ?? [];
  const milliseconds = parseDuration(per);
  if (Number(calls) < 1 || milliseconds === undefined || milliseconds < 1000) {
    context.addIssue('must be a number of calls and a duration of at least 1s, as in 600/1m');
  }
  return { calls: Number(calls), milliseconds: milliseconds ?? 0 };
});

/** So many calls in so long. */
export interface Rate {
  readonly calls: number;
  readonly milliseconds: number;
}
