import helmet from 'helmet';
import { within } from '../util/promises';

/** Sets the security headers of all documents. Each page adds a Content-Security-Policy, which depends on its scripts. */
export const SECURITY_HEADERS = helmet({
  contentSecurityPolicy: false,
  // The operator decides whether plain HTTP is allowed.
  strictTransportSecurity: false,
  // With `no-referrer` the forms of the pages would send `Origin: null`.
  referrerPolicy: { policy: 'same-origin' },
});

/** The parameters in the query of a page's address, under their names in lower case: these are case-insensitive. */
export function parametersOf(query: string): URLSearchParams {
  const given = [...new URLSearchParams(query)];
  return new URLSearchParams(given.map(([name, value]): [string, string] => [name.toLowerCase(), value]));
}

/** Longest that a page waits for a number beside what it shows, in milliseconds. */
const NUMBER_TIMEOUT = 500;

/** Resolves to undefined if there is no answer in time, or an error: a page works while the log or another process does not. */
export function inTime<T>(answer: Promise<T>): Promise<T | undefined> {
  return within(answer, NUMBER_TIMEOUT, () => new Error('too late')).catch(() => undefined);
}
