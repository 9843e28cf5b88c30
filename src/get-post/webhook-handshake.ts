import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

/** To which senders webhook deliveries are granted. */
export interface HandshakeOptions {
  /** Origins of senders, as host names; `*` grants it to everybody. */
  readonly origins: readonly string[];
  /** So many calls in so many milliseconds are taken from one sender; undefined: as many as it likes. */
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
 * `WebHook-Request-Callback` is ever called. Undefined if the sender's origin may not deliver.
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
