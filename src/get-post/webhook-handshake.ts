import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

/** Which senders may deliver events, and how often. */
export interface HandshakeOptions {
  /** Origins of senders, as host names; `*` allows all. */
  readonly origins: readonly string[];
  /** The most calls of one sender in a period; without it there is no limit. */
  readonly rate: { readonly calls: number; readonly milliseconds: number } | undefined;
}

const ORIGIN = /^[\x21-\x7e]{1,255}$/;
const MINUTE = 60_000;

/** Whether a request is the validation request of a webhook sender (CloudEvents HTTP 1.1 Web Hooks, section 4.1). */
export function isValidationRequest(headers: IncomingHttpHeaders): boolean {
  return headers['webhook-request-origin'] !== undefined;
}

/**
 * Makes the header fields that grant a sender the delivery of events (section 4.2). The answer itself grants it: no
 * `WebHook-Request-Callback` is ever called. Returns undefined if the sender's origin may not
 * deliver.
 */
export function grantedFields(
  headers: IncomingHttpHeaders,
  options: HandshakeOptions | undefined,
): OutgoingHttpHeaders | undefined {
  const origin = headers['webhook-request-origin'];
  if (options === undefined || typeof origin !== 'string' || !ORIGIN.test(origin)) return undefined;
  const isNamed = (name: string): boolean => name.toLowerCase() === origin.toLowerCase();
  if (origin === '*' || !options.origins.some((name) => name === '*' || isNamed(name))) return undefined;
  return { 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': callsPerMinute(options.rate) };
}

function callsPerMinute(rate: HandshakeOptions['rate']): string {
  if (rate === undefined) return '*';
  return String(Math.max(1, Math.floor((rate.calls * MINUTE) / rate.milliseconds)));
}
