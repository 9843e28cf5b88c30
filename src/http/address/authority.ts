import { isIPv6 } from 'node:net';

/** Joins host and port (RFC 3986, section 3.2): an IPv6 address stands in brackets. */
export function authority(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}

const AUTHORITY = /^(?:[\w.~-]+|\[(?<ipv6>[\da-f:.]+)\])(?::\d{0,5})?$/i;

/** Whether a `Host` value is an authority (RFC 9110, section 7.2): a name or address, with or without a port. */
export function isAuthority(host: string): boolean {
  const match = AUTHORITY.exec(host);
  if (match === null) return false;
  const ipv6 = match.groups?.ipv6;
  return (ipv6 === undefined || isIPv6(ipv6)) && URL.canParse(`http://${host}`);
}
