import { setTimeout } from 'node:timers/promises';
import { quoted } from '../terminal';
import type { Answer, Target } from './target';

/** What became of an event: the target took it, refused it for good, or the forwarder was stopped before either. */
export type Delivery =
  | { readonly outcome: 'delivered' | 'stopped' }
  | { readonly outcome: 'refused' | 'redirected'; readonly reason: string };

/** What is sent. */
export interface Message {
  readonly body: Buffer;
  /** Makes the header fields of an attempt: a signature has the time of its attempt. */
  readonly headers: () => Readonly<Record<string, string>>;
}

/** Statuses below 500 that say that the same request may succeed later (RFC 9110 and RFC 6585). */
const LATER: ReadonlySet<number> = new Set([408, 429]);

/**
 * Posts a message until the target takes or refuses it. After 5xx, 408, 429 and where there is no answer, it pauses and posts
 * again, as often as needed.
 *
 * @param stop - ends it, but not an attempt that is under way.
 * @param report - is told, on one line, why there will be another attempt.
 */
export async function deliver(
  { body, headers }: Message,
  target: Target,
  stop: AbortSignal,
  report: (problem: string) => void,
): Promise<Delivery> {
  for (let attempts = 1; !stop.aborted; attempts++) {
    const answer = await target.post(body, headers());
    const delivery = verdict(answer);
    if (delivery !== undefined) return delivery;
    const { problem, retryAfter } =
      'failure' in answer ? { problem: answer.failure, retryAfter: undefined } : { ...answer, problem: answer.summary };
    const pause = pauseBefore(attempts, retryAfter);
    if (stop.aborted) break;
    report(`${problem}. Trying again in ${(pause / 1000).toFixed(1)} s.`);
    await setTimeout(pause, undefined, { signal: stop }).catch(() => undefined);
  }
  return { outcome: 'stopped' };
}

/** What an answer means for the event; undefined: another attempt may go better. */
function verdict(answer: Answer): Delivery | undefined {
  if ('failure' in answer) return undefined;
  const { status, summary, location } = answer;
  if (status >= 200 && status < 300) return { outcome: 'delivered' };
  if (status >= 500 || LATER.has(status)) return undefined;
  if (status >= 400) return { outcome: 'refused', reason: summary };
  const to = location === undefined ? '' : ` to ${quoted(withoutSecrets(location))}`;
  return { outcome: 'redirected', reason: `${summary.replace(/:.*/s, '')}${to}` };
}

/** The address of a redirect as a message may show it; what is relative stays on the same host. */
function withoutSecrets(location: string): string {
  return URL.canParse(location) ? new URL(location).origin : 'another path';
}

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
