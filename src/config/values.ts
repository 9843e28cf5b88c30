import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { compile } from 'proxy-addr';
import { Sender } from '../senders/sender';
import { ValueError } from '../util/errors';
import { parseDuration } from '../util/time';
import { isQuoted, QUOTES, type Read } from './variable';

export const MEBIBYTE = 1024 * 1024;

const BINDING_NAMES = { soap11: 'SOAP 1.1', soap12: 'SOAP 1.2', httpget: 'HTTP GET', httppost: 'HTTP POST' } as const;

/** A way to call the service: a version of SOAP, or a method of HTTP with the operation in the path. Settings name it as here. */
export type Binding = keyof typeof BINDING_NAMES;

export const Binding = {
  /** In the order of the WSDL. */
  all: Object.keys(BINDING_NAMES) as readonly Binding[],
  names: BINDING_NAMES,
};

function matching(expression: RegExp, allowed: string): Read<string> {
  return (value) => {
    if (expression.test(value)) return value;
    throw new ValueError(allowed);
  };
}

function oneOf<Name extends string>(names: readonly Name[], allowed: string): Read<Name> {
  return (value) => {
    const found = names.find((name) => name === value.toLowerCase());
    if (found !== undefined) return found;
    throw new ValueError(allowed);
  };
}

/** A list, separated by commas; in lower case. */
function listOf(item: RegExp, allowed: string): Read<readonly string[]> {
  return (value) => {
    const members = value.split(',').map((member) => member.trim().toLowerCase());
    if (members.every((member) => item.test(member))) return members;
    throw new ValueError(allowed);
  };
}

/** A list of some names; in the order of all of them. */
function someOf<Name extends string>(names: readonly Name[]): Read<readonly Name[]> {
  const list = listOf(new RegExp(`^(?:${names.join('|')})$`), `must be a list of ${names.join(', ')}, one at least`);
  return (value) => {
    const given = list(value);
    return names.filter((name) => given.includes(name));
  };
}

export function wholeNumber(from: number, to: number): Read<number> {
  return (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : NaN;
    if (number >= from && number <= to) return number;
    throw new ValueError(`must be a whole number from ${String(from)} to ${String(to)}`);
  };
}

/** A duration, in milliseconds. */
export const duration: Read<number> = (value) => {
  const milliseconds = parseDuration(value);
  if (milliseconds !== undefined && milliseconds > 0) return milliseconds;
  if (milliseconds === 0) throw new ValueError('must be longer than 0');
  if (/^\d+$/.test(value)) throw new ValueError(`needs a unit, as in ${value}s or ${value}ms`);
  throw new ValueError('must be a duration, as in 30d, 12h, 45m or the ISO 8601 P1DT12H');
};

/** A time limit, in milliseconds: from 50 ms to an hour. */
export const timeout: Read<number> = (value) => {
  const milliseconds = duration(value);
  if (milliseconds >= 50 && milliseconds <= 3_600_000) return milliseconds;
  throw new ValueError('must be a duration from 50ms to 1h');
};

/** A host name or an IP address, without brackets. */
export const host: Read<string> = (value) => {
  if (/^[^\s[\]/:]+$/.test(value) || isIP(value) !== 0) return value;
  const port = /:\d+$/.test(value) ? '; the port has a variable of its own' : '';
  throw new ValueError(`must be a host name or an IP address, as in 127.0.0.1, 0.0.0.0 or ::${port}`);
};

export const flag: Read<boolean> = (value) => oneOf(['true', 'false'], 'must be true or false')(value) === 'true';

export const logLevel = oneOf(
  ['debug', 'info', 'warn', 'error', 'silent'],
  'must be debug, info, warn, error or silent',
);

/** One segment of a URL's path. */
export const pathSegment = matching(
  /^(?!\.+$)[\w.~-]+$/,
  'must be one path segment of letters, digits and - . _ ~, without slashes',
);

/** Namespaces of XML, XML Schema, SOAP and WSDL: in messages they mean something else. */
const TAKEN_NAMESPACE = /^http:\/\/(?:www\.w3\.org|schemas\.xmlsoap\.org)\//;

const namespaceText = matching(
  /^[^\s\p{Cc}"<>{}|\\^`]+(?: +[^\s\p{Cc}"<>{}|\\^`]+)*$/u,
  'must be a namespace without " < > { } | \\ ^ and `, as in http://tempuri.org/, urn:example:hooks or WebService',
);

/** The XML namespace of the operations. ASP.NET takes any text, and services have namespaces that are no URI. */
export const namespace: Read<string> = (value) => {
  if (!TAKEN_NAMESPACE.test(value)) return namespaceText(value);
  throw new ValueError('must be a namespace of your own: this one belongs to XML, XML Schema, SOAP or WSDL');
};

const ABSOLUTE = /^https?:\/\/([^\s/?#@\\:[\]]+|\[[\da-f:.]+\])(?::\d{1,5})?(\/[^\s?#\\]*)?$/i;

/** A public base address, read without its trailing slash. Refuses what `URL` would repair, since other programs read it differently. */
export const baseUrl: Read<string> = (value) => {
  const [ownPath] = /[^/]*\/Services\/WebHooks\.asmx.*$/i.exec(value) ?? [];
  if (ownPath !== undefined) throw new ValueError(`must end before the path of the service: leave out ${ownPath}`);
  const [, host, path = ''] = ABSOLUTE.exec(value) ?? [];
  const url = host !== undefined && URL.canParse(value) ? new URL(value) : undefined;
  const isIpv4 = /^[\d.]+$/.test(url?.hostname ?? '');
  if (url !== undefined && (!isIpv4 || url.hostname === host) && url.pathname === (path || '/'))
    return url.href.replace(/\/+$/, '');
  throw new ValueError(
    'must be an http or https address without query, fragment or user, as in https://hooks.example.com',
  );
};

/** Trusted proxies: a number of them, or networks as `proxy-addr` takes them. */
export const trustProxy: Read<number | readonly string[]> = (value) => {
  if (/^\d{1,3}$/.test(value)) return Number(value);
  const networks = value.split(',').map((network) => network.trim());
  try {
    compile(networks);
  } catch {
    const names = 'loopback, linklocal, uniquelocal';
    throw new ValueError(
      `must be a number of hops, or a list of addresses, networks as in 10.0.0.0/8, and the names ${names}`,
    );
  }
  return networks;
};

export const eventType = matching(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters without spaces');

const passwordText = matching(/^\P{Cc}{1,1000}$/u, 'must be a password of up to 1,000 characters on one line');

/** Leaves out the line break at the end of a file. */
export const password: Read<string> = (value) => passwordText(value.replace(/\r?\n$/, ''));

export const protocols: Read<ReadonlySet<Binding>> = (value) => new Set(someOf(Binding.all)(value));

export const recordAnswer = oneOf(
  ['id', 'empty'],
  'must be id, for the id of the event, or empty, for 204 without a body',
);

/** Host names of webhook senders, or `*` for all of them. */
export const origins = listOf(
  /^(?:\*|[\w.-]{1,253}(?::\d{1,5})?)$/,
  'must be * or a list of host names, as in eventgrid.azure.net,sender.example.com',
);

export const handshakes = someOf(Sender.handshakes.all.map(({ name }) => name));

/** Names of header fields (RFC 9110, section 5.1), in lower case once they are read. */
export const fieldNames = listOf(
  /^[\w!#$%&'*+.^`|~-]{1,64}$/,
  'must be a list of names of header fields, as in paypal-transmission-id',
);

export const hostNames = listOf(
  /^[\w.-]{1,253}$/,
  'must be a list of host names without ports, as in webhook.test,hooks.example.com',
);

export const forwardedHeader = oneOf(
  ['forwarded', 'x-forwarded'],
  'must be x-forwarded, for X-Forwarded-For and the fields beside it, or forwarded, for Forwarded (RFC 7239)',
);

/** A number of processes; `auto` stands for the number of cores. */
export const workers: Read<number> = (value) =>
  value === 'auto' ? availableParallelism() : wholeNumber(1, 128)(value);

/** A condition for each secret, and the message if one does not meet it. */
type Rule = readonly [isValid: (secret: string) => boolean, allowed: string];

/** Reads a list of secrets: separated by commas or line breaks, one at least. The rules apply one after the other. */
function secretsOf(...rules: readonly [Rule, ...Rule[]]): Read<readonly string[]> {
  return (value) => {
    const members = value.split(/[,\r\n]/).map((secret) => secret.trim());
    const secrets = members.filter((secret) => secret !== '');
    if (secrets.length === 0) throw new ValueError(rules[0][1]);
    const all: readonly Rule[] = [[(secret) => !isQuoted(secret), QUOTES], ...rules];
    for (const [isValid, allowed] of all) {
      const wrong = secrets.findIndex((secret) => !isValid(secret));
      if (wrong === -1) continue;
      const which = secrets.length === 1 ? '' : `; number ${String(wrong + 1)} of the list is wrong`;
      throw new ValueError(allowed + which);
    }
    return secrets;
  };
}

/**
 * Keys of 16 to 256 printable characters without spaces, each after its name and a space if it has one. Names are shorter
 * than keys: of two keys with a space between them, the first would be shown as a name.
 */
export const keys = secretsOf([
  (secret) => /^(?:[\w.-]{1,15} +)?[\x21-\x7e]{16,256}$/.test(secret),
  'must be a list of secrets, each of 16 to 256 printable ASCII characters without spaces; ' +
    'before it may stand a name of up to 15 letters, digits and - . _, and a space',
]);

const TEXT: Rule = [
  (secret) => /^[\x20-\x7e]{16,256}$/.test(secret),
  'must be a list of secrets, each of 16 to 256 printable ASCII characters, separated by commas',
];

/** Keys and tokens for calling Stripe, Shopify and Slack, which sign no webhooks. */
const NO_API_KEY: Rule = [
  (secret) => !/^(?:[spr]k_(?:live|test)_|shpat_|xox[a-z]-|xapp-)/.test(secret),
  'must be what signs webhooks (Stripe: whsec_…), not an API key',
];

export const senderSecrets = secretsOf(TEXT, NO_API_KEY);

/**
 * Secrets of senders that sign. One that begins with `whsec_` is for Standard Webhooks and has base64 after that; the other prefixes of
 * that standard belong to key pairs, whose public key must not sign. Any other secret is a text that may contain spaces.
 */
export const webhookSecrets = secretsOf(
  TEXT,
  NO_API_KEY,
  [
    (secret) => !/^wh[ps]k_|^-----BEGIN /i.test(secret),
    'must not have a public or private key (whpk_, whsk_, PEM); set the secret that is shared with the sender: whsec_ and base64',
  ],
  [
    (secret) => !/^whsec_/i.test(secret) || isStandardSecret(secret),
    'must have base64 of 16 bytes or more after whsec_',
  ],
);

export const standardSecrets = secretsOf([
  isStandardSecret,
  'must be whsec_ and base64 of 16 bytes or more; several are separated by commas',
]);

/** `whsec_` and base64 of 16 bytes or more. */
function isStandardSecret(secret: string): boolean {
  return /^whsec_(?=.{22})(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}={0,2}|[A-Za-z\d+/]{3}=?)?$/.test(secret);
}

/** A number of calls in a time, as in `100/1m`; the time in milliseconds. */
export const rate: Read<{ readonly calls: number; readonly milliseconds: number }> = (value) => {
  const [, calls = '', per = ''] = /^(\d{1,9})\/(\w+)$/.exec(value) ?? [];
  const milliseconds = parseDuration(per);
  if (Number(calls) >= 1 && milliseconds !== undefined && milliseconds >= 1000)
    return { calls: Number(calls), milliseconds };
  throw new ValueError('must be a number of calls and a duration of at least 1s, as in 600/1m');
};
