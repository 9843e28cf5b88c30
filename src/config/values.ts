import { availableParallelism } from 'node:os';
import { compile } from 'proxy-addr';
import { z } from 'zod';
import { parseDuration } from '../lang/duration';

export const MEBIBYTE = 1024 * 1024;

/** A whole number in a range, both ends included. */
export function wholeNumber(from: number, to: number) {
  const allowed = `must be a whole number from ${String(from)} to ${String(to)}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, { error: allowed, abort: true })
    .transform(Number)
    .refine((value) => value >= from && value <= to, allowed);
}

/** A duration, in milliseconds. */
export const duration = z.string().transform((value, context) => {
  const milliseconds = parseDuration(value);
  if (milliseconds === undefined || milliseconds <= 0) {
    context.addIssue('must be a duration, as in 30d, 12h, 45m or the ISO 8601 P1DT12H');
    return z.NEVER;
  }
  return milliseconds;
});

/** A time limit, in milliseconds: from one second to an hour. */
export const timeout = duration.refine(
  (milliseconds) => milliseconds >= 1000 && milliseconds <= 3_600_000,
  'must be a duration from 1s to 1h',
);

/** A host name or an IP address, without brackets. */
export const host = z
  .string()
  .regex(/^[^\s[\]/]+$/, 'must be a host name or an IP address, as in 127.0.0.1, 0.0.0.0 or ::');

/** A switch. */
export const flag = z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true');

/** One segment of a URL's path. */
export const pathSegment = z
  .string()
  .regex(/^(?!\.+$)[\w.~-]+$/, 'must be one path segment of letters, digits and - . _ ~, without slashes');

/** The XML namespace of the operations; ends with a slash. */
export const namespace = z
  .string()
  .refine((value) => value.endsWith('/'), {
    error: 'must end with a slash, as in http://tempuri.org/',
    abort: true,
  })
  .refine(
    (value) => /^[^\s"<>{}|\\^`]+$/.test(value) && URL.canParse(value),
    'must be an absolute URI, as in http://tempuri.org/',
  );

/** A public base address, in the very characters in which callers see it; without a trailing slash once it is read. */
export const baseUrl = z
  .string()
  .refine(
    isBaseUrl,
    'must be an http or https address without query, fragment or user, as in https://hooks.example.com',
  )
  .transform((value) => new URL(value).href.replace(/\/+$/, ''));

/** Whether a text is an absolute address that `URL` takes as it stands: its parser repairs what others read differently. */
function isBaseUrl(text: string): boolean {
  const [, host, path = ''] =
    /^https?:\/\/([^\s/?#@\\:[\]]+|\[[\da-f:.]+\])(?::\d{1,5})?(\/[^\s?#\\]*)?$/i.exec(text) ?? [];
  if (host === undefined || !URL.canParse(text)) return false;
  const url = new URL(text);
  const isIpv4 = /^[\d.]+$/.test(url.hostname);
  return (!isIpv4 || url.hostname === host) && url.pathname === (path || '/');
}

/** Trusted proxies: a number of them, or networks as `proxy-addr` takes them. */
export const trustProxy = z.string().transform((value, context): number | readonly string[] => {
  if (/^\d{1,3}$/.test(value)) return Number(value);
  const networks = value.split(',').map((network) => network.trim());
  try {
    compile(networks);
  } catch {
    const names = 'loopback, linklocal, uniquelocal';
    context.addIssue(
      `must be a number of hops, or a list of addresses, networks as in 10.0.0.0/8, and the names ${names}`,
    );
  }
  return networks;
});

/** The `type` of a CloudEvent. */
export const eventType = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters without spaces');

/** Host names of webhook senders, separated by commas, or `*` for all of them. */
export const origins = z
  .string()
  .transform((value) => value.split(',').map((name) => name.trim()))
  .refine(
    (names) => names.every((name) => /^(?:\*|[\w.-]{1,253}(?::\d{1,5})?)$/.test(name)),
    'must be * or a list of host names, as in eventgrid.azure.net,sender.example.com',
  );

/** A number of processes; `auto` stands for the number of cores. */
export const workers = z.union([z.literal('auto').transform(() => availableParallelism()), wholeNumber(1, 128)], {
  error: 'must be auto, or a whole number from 1 to 128',
});

/** A list of keys: separated by commas or line breaks, each of 16 to 256 printable characters without spaces. */
export const keys = listOf(
  /^[\x21-\x7e]{16,256}$/,
  'must be a list of secrets, each of 16 to 256 printable ASCII characters without spaces',
);

/**
 * A list of secrets of senders that sign, separated as {@link keys} are. One that begins with `whsec_` is for Standard Webhooks and
 * has base64 after that; the other prefixes of that standard belong to public and private keys, which nobody else must be able to
 * sign with. Any other secret is a text that may contain spaces.
 */
export const webhookSecrets = listOf(
  /^[\x20-\x7e]{16,256}$/,
  'must be a list of secrets, each of 16 to 256 printable ASCII characters, separated by commas',
)
  .refine(
    (values) => !values.some((value) => /^wh[ps]k_|^-----BEGIN /i.test(value)),
    'must not have a public or private key (whpk_, whsk_, PEM); set the secret that is shared with the sender: whsec_ and base64',
  )
  .refine(
    (values) => values.every((value) => !/^whsec_/i.test(value) || isStandardSecret(value)),
    'must have base64 of 16 bytes or more after whsec_',
  );

const NO_STANDARD_SECRET = 'must be whsec_ and base64 of 16 bytes or more; several are separated by commas';

/** A list of the secrets of Standard Webhooks, separated as {@link keys} are: each `whsec_` and base64. */
export const standardSecrets = listOf(/^.{1,256}$/, NO_STANDARD_SECRET).refine(
  (values) => values.every(isStandardSecret),
  NO_STANDARD_SECRET,
);

function listOf(item: RegExp, allowed: string) {
  return z
    .string()
    .transform((value) =>
      value
        .split(/[,\r\n]/)
        .map((secret) => secret.trim())
        .filter((secret) => secret !== ''),
    )
    .refine((values) => values.length > 0 && values.every((value) => item.test(value)), {
      error: allowed,
      abort: true,
    });
}

function isStandardSecret(secret: string): boolean {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  if (base64 === undefined) return false;
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length >= 16 && bytes.toString('base64').replace(/=+$/, '') === base64.replace(/=+$/, '');
}

/** A number of calls in a time, as in `100/1m`; the time in milliseconds. */
export const rate = z.string().transform((value, context) => {
  const [, calls = '', per = ''] = /^(\d{1,9})\/(\w+)$/.exec(value) ?? [];
  const milliseconds = parseDuration(per);
  if (Number(calls) < 1 || milliseconds === undefined || milliseconds < 1000) {
    context.addIssue('must be a number of calls and a duration of at least 1s, as in 600/1m');
    return z.NEVER;
  }
  return { calls: Number(calls), milliseconds };
});
