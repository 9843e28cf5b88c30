/** Host and port of an address (RFC 3986, section 3.2): an IPv6 address in brackets. */
export function authority(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}
