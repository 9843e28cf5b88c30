import { STATUS_CODES } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { NoAnswerError, type Answer, type Question } from '../http-client';
import { quoted } from '../terminal';

/** What became of an event: the target took it, refused it for good, or the forwarder was stopped before either. */
export type Delivery =
  | { readonly outcome: 'delivered' | 'stopped'; readonly reason?: undefined }
  | { readonly outcome: 'refused' | 'redirected'; readonly reason: string };

/** What is sent. */
export interface Message {
  readonly body: Buffer;
  /** Makes the header fields of an attempt: a signature has the time of its attempt. */
  readonly headers: () => Readonly<Record<string, string>>;
}

/** The first pause before an event is sent again, and the longest, in milliseconds. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 60_000;

/** The longest that a target can make the forwarder wait with `Retry-After`, in milliseconds. */
const LONGEST_RETRY_AFTER = 5 * 60_000;

/** Statuses below 500 that say that the same request may succeed later (RFC 9110 and RFC 6585). */
const LATER: ReadonlySet<number> = new Set([408, 429]);

/**
 * Posts a message until the target takes or refuses it: again after 5xx, 408, 429 and where there is no answer.
 *
 * @param post - makes one attempt.
 * @param stop - ends the repetition, but not an attempt that is under way.
 * @param report - called before each pause with the reason, on one line.
 */
export async function deliver(
  { body, headers }: Message,
  post: (question: Question) => Promise<Answer>,
  stop: AbortSignal,
  report: (problem: string) => void,
): Promise<Delivery> {
  for (let attempts = 1; !stop.aborted; attempts++) {
    const answer = await post({ method: 'POST', headers: headers(), body }).catch((error: unknown) => {
      if (error instanceof NoAnswerError) return error;
      throw error;
    });
    const delivery = verdict(answer);
    if (delivery !== undefined) return delivery;
    const isAnswer = !(answer instanceof NoAnswerError);
    const pause = pauseBefore(attempts, isAnswer ? answer.headers.get('retry-after') : undefined);
    if (stop.aborted) break;
    const problem = isAnswer ? summaryOf(answer) : quoted(answer.message);
    report(`${problem}. Trying again in ${(pause / 1000).toFixed(1)} s.`);
    await setTimeout(pause, undefined, { signal: stop }).catch(() => undefined);
  }
  return { outcome: 'stopped' };
}

/** Says what an answer means for the event, unless another attempt may go better. The header alone decides. */
function verdict(answer: Answer | NoAnswerError): Delivery | undefined {
  if (answer instanceof NoAnswerError) return undefined;
  const { status, headers } = answer;
  if (status >= 200 && status < 300) return { outcome: 'delivered' };
  if (status >= 500 || LATER.has(status)) return undefined;
  if (status >= 400) return { outcome: 'refused', reason: summaryOf(answer) };
  const location = headers.get('location');
  const to = location === undefined ? '' : ` to ${quoted(withoutSecrets(location))}`;
  return { outcome: 'redirected', reason: `${statusText(status)}${to}` };
}

/** What the target says about the event, on one line. */
function summaryOf({ status, body }: Answer): string {
  const text = quoted(body.toString().trim());
  return statusText(status) + (text === '' ? '' : `: ${text}`);
}

function statusText(status: number): string {
  return `${String(status)} ${STATUS_CODES[status] ?? ''}`.trim();
}

/** The address of a redirect as a message may show it; what is relative stays on the same host. */
function withoutSecrets(location: string): string {
  return URL.canParse(location) ? new URL(location).origin : 'another path';
}

/**
 * How long to wait before an event is sent again, in milliseconds: twice as long after each attempt, up to a minute, minus random
 * jitter of up to a half, so that forwarders that lost the same target do not come back together. `Retry-After` makes it
 * longer, up to five minutes.
 *
 * @param attempts - how many have failed so far; at least 1.
 * @param retryAfter - what the target answered.
 */
export function pauseBefore(attempts: number, retryAfter: string | undefined): number {
  const pause = Math.min(FIRST_PAUSE * 2 ** (attempts - 1), LONGEST_PAUSE);
  const asked = retryAfter === undefined ? 0 : (retryAfterMilliseconds(retryAfter) ?? 0);
  return Math.max(pause * (1 - Math.random() / 2), Math.min(asked, LONGEST_RETRY_AFTER));
}

/** Reads `Retry-After` (RFC 9110, section 10.2.3), seconds or a date. */
function retryAfterMilliseconds(text: string): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const time = / GMT$/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? undefined : time - Date.now();
}
