import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import helmet from 'helmet';

/** What a page consists of, as sources for its Content-Security-Policy. */
export interface PageSources {
  readonly style: string;
  /** Undefined: it has no script. */
  readonly scripts?: readonly string[] | undefined;
  /** Whether its scripts call this service. */
  readonly connects?: boolean;
}

/** The security headers of all pages but for the Content-Security-Policy, which depends on the page. */
export const SECURITY_HEADERS = helmet({
  contentSecurityPolicy: false,
  // Whether a host may be reached over plain HTTP is for the operator to decide.
  strictTransportSecurity: false,
});

/**
 * Makes what allows a page its own style and scripts, by their hashes, and nothing from elsewhere. Only a page whose scripts call
 * this service may connect to it.
 */
export function contentPolicy({ style, scripts, connects = false }: PageSources): (response: ServerResponse) => void {
  const setHeader = helmet.contentSecurityPolicy({
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      styleSrc: [style],
      ...(scripts && { scriptSrc: scripts }),
      ...(connects && { connectSrc: ["'self'"] }),
      imgSrc: ['data:'],
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
  });
  return (response) => {
    setHeader(response.req, response, () => {
      // The header field is set; nothing comes after it.
    });
  };
}

/** The source of an inline style or script: its hash. */
export function sourceOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
