import type { IncomingMessage } from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { parse as parseForwarded } from 'forwarded-parse';
import { compile } from 'proxy-addr';
import { RequestError } from './request-error';

/** How callers reach this server. */
export interface CallerOptions {
  /** Public base address without a trailing slash; undefined: told by each request. */
  readonly baseUrl: string | undefined;
  /** Which proxies are believed: so many hops, or networks in the terms of `proxy-addr`. */
  readonly trustProxy: number | readonly string[];
}

/** Tells who calls and under which address. */
export interface Callers {
  /**
   * The base address, without a trailing slash, under which the caller reached the server.
   *
   * @throws {RequestError} 400: what the request or a trusted proxy says about it is not valid.
   */
  baseUrl(request: IncomingMessage): string;
  /** The caller's network address: that of the connection, or what the outermost trusted proxy tells. */
  address(request: IncomingMessage): string | undefined;
  /** The header fields on which an answer that names the address depends, for `Vary`. */
  readonly vary: string;
}

/** One way to a server, as the proxy that took it tells: nearest to the caller first in a list. */
interface Hop {
  readonly for?: string;
  readonly proto?: string;
  readonly host?: string;
  readonly port?: string;
  readonly prefix?: string;
}

type Trust = (address: string, hop: number) => boolean;

/** Makes the answers for the configured way to reach this server. */
export function callersOf({ baseUrl, trustProxy }: CallerOptions): Callers {
  const trust: Trust = typeof trustProxy === 'number' ? (_address, hop) => hop < trustProxy : compile([...trustProxy]);
  return {
    baseUrl: (request) => baseUrl ?? requestedBase(request, trust),
    address: (request) => callerAddress(request, trust),
    vary:
      trustProxy === 0
        ? 'Host'
        : 'Host, Forwarded, X-Forwarded-Host, X-Forwarded-Port, X-Forwarded-Prefix, X-Forwarded-Proto',
  };
}

const HOST = /^(?:[\w.~-]+|\[(?<ipv6>[\da-f:.]+)\])(?::\d{0,5})?$/i;

/** Whether a `Host` value is an authority as RFC 9110, section 7.2 asks for: a name or address, and a port or none. */
export function isAuthority(host: string): boolean {
  const match = HOST.exec(host);
  if (match === null) return false;
  const ipv6 = match.groups?.ipv6;
  return (ipv6 === undefined || isIPv6(ipv6)) && URL.canParse(`http://${host}`);
}

function requestedBase(request: IncomingMessage, trust: Trust): string {
  const { socket, headers } = request;
  const told = toldByProxies(request, trust);
  const scheme = told.proto?.toLowerCase() ?? ('encrypted' in (socket as Partial<TLSSocket>) ? 'https' : 'http');
  if (scheme !== 'http' && scheme !== 'https')
    throw new RequestError(400, 'The forwarded scheme is neither http nor https.');
  const host = withPort(told.host ?? headers.host ?? localAuthority(socket), told.port);
  if (!isAuthority(host)) throw new RequestError(400, 'The forwarded host is not a valid authority.');
  return new URL(`${scheme}://${host}`).origin + prefixPath(told.prefix);
}

function withPort(host: string, port: string | undefined): string {
  if (port === undefined || /:\d+$/.test(host)) return host;
  if (!/^\d{1,5}$/.test(port)) throw new RequestError(400, 'The forwarded port is not a number.');
  return `${host.replace(/:$/, '')}:${port}`;
}

function prefixPath(prefix = ''): string {
  let path = prefix;
  while (path.endsWith('/')) path = path.slice(0, -1);
  if (path === '') return '';
  const isPath = /^(?:\/[\w.~!$&'()*+,;=:@%-]+)+$/.test(path) && !/\/\.{1,2}(?:\/|$)/.test(path);
  if (!isPath) throw new RequestError(400, 'The forwarded prefix is not a valid path.');
  return path;
}

/** HTTP/1.0 knows requests without a host; then it is the address that the caller connected to. */
function localAuthority({ localAddress = 'localhost', localPort = 80 }: Socket): string {
  return `${isIPv6(localAddress) ? `[${localAddress}]` : localAddress}:${String(localPort)}`;
}

function callerAddress(request: IncomingMessage, trust: Trust): string | undefined {
  const remote = request.socket.remoteAddress;
  if (remote === undefined || !trust(remote, 0)) return remote;
  const addresses = addressesOf(request);
  return addresses[Math.min(trustedHops(addresses, trust), addresses.length - 1)];
}

/**
 * What the outermost trusted proxy says. A proxy appends its own values to those it was sent, so of a list only as many
 * count, from the end, as there are trusted proxies in a row.
 */
function toldByProxies(request: IncomingMessage, trust: Trust): Hop {
  const remote = request.socket.remoteAddress ?? '';
  if (!trust(remote, 0)) return {};
  const hops = trustedHops(addressesOf(request), trust);
  const forwarded = forwardedHops(request);
  const standard = forwarded.at(-Math.min(hops, forwarded.length)) ?? {};
  if (!usesCustomFields(request)) return standard;
  const custom: Hop = Object.fromEntries(
    FIELDS.flatMap((field) => {
      const values = list(request.headers[`x-forwarded-${field}`]);
      const value = values.at(-Math.min(hops, values.length));
      return value === undefined ? [] : [[field, value]];
    }),
  );
  // A proxy that writes only one of the two families may hand on what a caller invented in the other.
  if (disagree(standard.host, custom.host ?? request.headers.host) || disagree(standard.proto, custom.proto)) {
    throw new RequestError(400, 'Forwarded and the X-Forwarded fields contradict each other.');
  }
  return custom;
}

const FIELDS = ['proto', 'host', 'port', 'prefix'] as const;

function disagree(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one.toLowerCase() !== other.toLowerCase();
}

function usesCustomFields({ headers }: IncomingMessage): boolean {
  return ['for', ...FIELDS].some((field) => headers[`x-forwarded-${field}`] !== undefined);
}

/** How many proxies in a row are trusted, counted from the one that is connected. */
function trustedHops(addresses: readonly string[], trust: Trust): number {
  const first = addresses.findIndex((address, hop) => !trust(address, hop));
  return first === -1 ? addresses.length : first;
}

/** The address of the connection, and behind it those that proxies tell, from the nearest to the farthest. */
function addressesOf(request: IncomingMessage): string[] {
  const told = usesCustomFields(request)
    ? list(request.headers['x-forwarded-for'])
    : forwardedHops(request).map((hop) => nodeAddress(hop.for ?? ''));
  return [request.socket.remoteAddress ?? '', ...told.reverse()];
}

/** The address in a `for` parameter: without port, without brackets (RFC 7239, section 6). */
function nodeAddress(node: string): string {
  return /^\[([\da-f:.]+)\]/i.exec(node)?.[1] ?? node.replace(/:\d+$/, '');
}

/** The elements of `Forwarded` (RFC 7239); one that cannot be read tells nothing. */
function forwardedHops({ headers }: IncomingMessage): Hop[] {
  try {
    return parseForwarded(headers.forwarded ?? '');
  } catch {
    return [];
  }
}

function list(value: string | string[] | undefined): string[] {
  return value === undefined
    ? []
    : String(value)
        .split(',')
        .map((item) => item.trim());
}
