const WSS = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss';
export const WSSE = `${WSS}-wssecurity-secext-1.0.xsd`;
export const WSU = `${WSS}-wssecurity-utility-1.0.xsd`;
const PASSWORD_TEXT = `${WSS}-username-token-profile-1.0#PasswordText`;
export const PASSWORD_DIGEST = `${WSS}-username-token-profile-1.0#PasswordDigest`;

/** Puts a SOAP header into an envelope, with a prefix for the envelope's own namespace. */
export function withHeader(envelope: string, blocks: string): string {
  const prefix = /<([\w-]+):Body>/.exec(envelope)?.[1] ?? '';
  return envelope.replace(
    `<${prefix}:Body>`,
    `<${prefix}:Header>${blocks.replaceAll('SOAP:', `${prefix}:`)}</${prefix}:Header><${prefix}:Body>`,
  );
}

/** A WS-Security header; attributes may name the envelope's namespace by the prefix `SOAP:`. */
export function securityHeader(inside: string, attributes = ''): string {
  return `<wsse:Security xmlns:wsse="${WSSE}" xmlns:wsu="${WSU}" ${attributes}>${inside}</wsse:Security>`;
}

export function usernameToken(password: string, type = PASSWORD_TEXT): string {
  return `<wsse:UsernameToken wsu:Id="u1"><wsse:Username>me</wsse:Username><wsse:Password Type="${type}">${password}</wsse:Password><wsse:Nonce>bm9uY2U=</wsse:Nonce><wsu:Created>2026-01-01T00:00:00Z</wsu:Created></wsse:UsernameToken>`;
}
