import { ValueError } from '../util/errors';

/** Reads `host:port` or a host alone, an IPv6 address in brackets. @throws {ValueError} with `form`: the text is neither. */
export function hostIn(text: string, defaultPort: string, form: string): { hostname: string; port: string } {
  const address = `host://${text}`;
  if (!/^[!-~]+$/.test(text) || !URL.canParse(address)) throw new ValueError(form);
  const { hostname, port } = new URL(address);
  return { hostname, port: port || defaultPort };
}
