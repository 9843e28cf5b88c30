import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { parse as parseForwarded } from 'forwarded-parse';
import ipaddr from 'ipaddr.js';
import { compile } from 'proxy-addr';
import type { Config } from '../config/config';
import { HTTP_ERRORS } from './errors';

/** The statement of one proxy about the request that it received (RFC 7239). */
type Hop = Partial<Record<'for' | 'proto' | 'host' | 'port' | 'prefix', string | undefined>>;

const HINT =
  'A request has forwarded header fields, which are ignored. If a proxy in front of this service writes them, set TRUST_PROXY to the ' +
  'number of proxies or to their networks, and FORWARDED_HEADER to forwarded for Forwarded, or to x-forwarded for X-Forwarded-For.';

/** Tells who sent a request, and to which public URL, as the configured proxies state it. */
export class Proxies {
  /** The `Vary` of a reply that contains the base URL: the request header fields that the URL depends on. */
  readonly vary: string;
  readonly #trust: (address: string, hop: number) => boolean;
  readonly #isStandard: boolean;

  /** @param hint - called for each request whose forwarded fields are all ignored. */
  constructor(
    private readonly config: Pick<Config, 'baseUrl' | 'trustProxy'> & Partial<Pick<Config, 'forwardedHeader'>>,
    private readonly hint?: (key: string, message: string) => void,
  ) {
    const { trustProxy, forwardedHeader } = config;
    this.#trust = typeof trustProxy === 'number' ? (_address, hop) => hop < trustProxy : compile([...trustProxy]);
    this.#isStandard = forwardedHeader === 'forwarded';
    this.vary = trustProxy === 0 ? 'Host' : `Host, ${this.#isStandard ? 'Forwarded' : CUSTOM_FIELDS}`;
  }

  /** The authority at which this machine reaches a server that listens on `host`: on a loopback address if that is every address. */
  static localAuthority(host: string, port: number): string {
    if (host === '0.0.0.0') return authority('127.0.0.1', port);
    return authority(host === '::' ? '::1' : host, port);
  }

  /** Whether a proxy has sent the request on, or its caller pretends that. */
  static isForwarded(request: IncomingMessage): boolean {
    return usesCustomFields(request) || request.headers.forwarded !== undefined;
  }

  /** The base URL, without a trailing slash, under which the caller reached the server. Throws 400 if a proxy states a wrong one. */
  baseUrl(request: IncomingMessage): string {
    this.#giveHint(request);
    if (this.config.baseUrl !== undefined) return this.config.baseUrl;
    const { socket, headers } = request;
    const stated = this.#statedByProxies(request);
    const scheme = stated.proto?.toLowerCase() ?? ('encrypted' in (socket as Partial<TLSSocket>) ? 'https' : 'http');
    if (scheme !== 'http' && scheme !== 'https') throw HTTP_ERRORS.forwarded('scheme is neither http nor https');
    // A request of HTTP/1.0 may have no `Host`; it then means the address that the caller connected to.
    const requested =
      stated.host ?? headers.host ?? authority(socket.localAddress ?? 'localhost', socket.localPort ?? 80);
    const host = withPort(requested, stated.port);
    if (!isAuthority(host)) throw HTTP_ERRORS.forwarded('host is not a valid authority');
    return new URL(`${scheme}://${host}`).origin + prefixPath(stated.prefix);
  }

  /** The caller's network address: the connection's, or the one that the outermost trusted proxy states. */
  address(request: IncomingMessage): string | undefined {
    this.#giveHint(request);
    const remote = request.socket.remoteAddress;
    if (remote === undefined || !this.#trust(remote, 0)) return remote;
    const addresses = [remote, ...this.#addresses(request)];
    return addresses[Math.min(this.#trustedHops(addresses), addresses.length - 1)];
  }

  #giveHint(request: IncomingMessage): void {
    if (this.hint === undefined || !Proxies.isForwarded(request)) return;
    const isUsed = this.#isStandard ? request.headers.forwarded !== undefined : usesCustomFields(request);
    if (this.config.trustProxy === 0 || !isUsed) this.hint('forwarded', HINT);
  }

  #addresses(request: IncomingMessage): string[] {
    const stated = this.#isStandard
      ? forwardedHops(request).map((hop) => hop.for ?? '')
      : list(request.headers['x-forwarded-for']);
    return stated.map(nodeAddress).reverse();
  }

  /** The statement of the outermost trusted proxy. Proxies append to what they received: a list counts from its end. */
  #statedByProxies(request: IncomingMessage): Hop {
    const remote = request.socket.remoteAddress ?? '';
    if (!this.#trust(remote, 0)) return {};
    const hops = this.#trustedHops([remote, ...this.#addresses(request)]);
    const outermost = <T>(values: readonly T[]): T | undefined => values.at(-Math.min(hops, values.length));
    if (this.#isStandard) return outermost(forwardedHops(request)) ?? {};
    return Object.fromEntries(FIELDS.map((field) => [field, outermost(list(request.headers[`x-forwarded-${field}`]))]));
  }

  #trustedHops(addresses: readonly string[]): number {
    const first = addresses.findIndex((address, hop) => !this.#trust(address, hop));
    return first === -1 ? addresses.length : first;
  }
}

function withPort(host: string, port: string | undefined): string {
  if (port === undefined || /:\d+$/.test(host)) return host;
  if (!/^\d{1,5}$/.test(port)) throw HTTP_ERRORS.forwarded('port is not a number');
  return `${host.replace(/:$/, '')}:${port}`;
}

function prefixPath(prefix = ''): string {
  let path = prefix;
  while (path.endsWith('/')) path = path.slice(0, -1);
  if (path === '') return '';
  const isPath = /^(?:\/[\w.~!$&'()*+,;=:@%-]+)+$/.test(path) && !/\/\.{1,2}(?:\/|$)/.test(path);
  if (!isPath) throw HTTP_ERRORS.forwarded('prefix is not a valid path');
  return path;
}

const FIELDS = ['proto', 'host', 'port', 'prefix'] as const;

const CUSTOM_FIELDS = 'X-Forwarded-Host, X-Forwarded-Port, X-Forwarded-Prefix, X-Forwarded-Proto';

function usesCustomFields({ headers }: IncomingMessage): boolean {
  // By their names: asked for each call, a list of them takes 0.7 µs.
  return (
    headers['x-forwarded-for'] !== undefined ||
    headers['x-forwarded-proto'] !== undefined ||
    headers['x-forwarded-host'] !== undefined ||
    headers['x-forwarded-port'] !== undefined ||
    headers['x-forwarded-prefix'] !== undefined
  );
}

/** The address of a node (RFC 7239, section 6) without brackets and port, in its one canonical text. */
function nodeAddress(node: string): string {
  const text = /^"?\[([^\]]*)\](?::\d*)?"?$/.exec(node)?.[1] ?? node.replace(/^([^:]*):\d*$/, '$1');
  return isIP(text) === 0 ? text : ipaddr.process(text).toString();
}

/** The elements of `Forwarded` (RFC 7239) after the last unreadable one: those before it cannot be trusted. */
function forwardedHops({ headers: { forwarded = '' } }: IncomingMessage): Hop[] {
  const hops: Hop[] = [];
  let element: string | undefined;
  // A quoted text may have commas.
  let isQuoted = false;
  for (const piece of forwarded.split(',').reverse()) {
    element = element === undefined ? piece : `${piece},${element}`;
    if ((piece.match(/(?<!\\)"/g)?.length ?? 0) % 2 === 1) isQuoted = !isQuoted;
    if (isQuoted) continue;
    try {
      hops.unshift(...parseForwarded(element.trim()));
    } catch {
      break;
    }
    element = undefined;
  }
  return hops;
}

function list(value: string | string[] = []): string[] {
  return [value].flat().flatMap((line) => line.split(',').map((item) => item.trim()));
}

/** Joins host and port (RFC 3986, section 3.2): an IPv6 address stands in brackets. */
function authority(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}

const AUTHORITY = /^(?:[\w.~-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

/** No name of a host is longer (RFC 1035, section 2.3.4). */
const MAX_AUTHORITY_LENGTH = 255;

/** Whether a `Host` value is an authority (RFC 9110, section 7.2): a name or address, with or without a port. */
export function isAuthority(host: string): boolean {
  return host.length <= MAX_AUTHORITY_LENGTH && AUTHORITY.test(host) && URL.canParse(`http://${host}`);
}
