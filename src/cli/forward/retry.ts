/** The first pause before an event is sent again, and the longest, in milliseconds. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 60_000;

/** The longest that a target can make the forwarder wait with `Retry-After`, in milliseconds. */
const LONGEST_RETRY_AFTER = 5 * 60_000;

/**
 * How long to wait before an event is sent again, in milliseconds: twice as long after each attempt, up to a minute, and less by
 * a random part of up to a half, so that forwarders that lost the same target do not come back together. `Retry-After` makes it
 * longer, up to five minutes.
 *
 * @param attempts - how many have failed so far; at least 1.
 * @param retryAfter - what the target answered; undefined: nothing.
 */
export function pauseBefore(attempts: number, retryAfter: string | undefined): number {
  const pause = Math.min(FIRST_PAUSE * 2 ** (attempts - 1), LONGEST_PAUSE);
  const asked = retryAfter === undefined ? 0 : (retryAfterMilliseconds(retryAfter) ?? 0);
  return Math.max(pause * (1 - Math.random() / 2), Math.min(asked, LONGEST_RETRY_AFTER));
}

/** Reads `Retry-After` (RFC 9110, section 10.2.3), seconds or a date. Undefined: it is neither. */
function retryAfterMilliseconds(text: string): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const time = / GMT$/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? undefined : time - Date.now();
}
