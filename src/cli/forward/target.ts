import { STATUS_CODES } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { ArchiveLine } from '../../events/archive-line';
import { isReadable, type StoredEvent } from '../../events/stored-event';
import { HttpClient, noAnswer, NoAnswerError, type HttpAnswer } from '../http-client';
import { quoted } from '../terminal';
import { messageOf, type PostedForm } from './message';
import type { ForwardProgress } from './progress';

/** The outcome of posting an event. The reason is a line that names the event and the target. */
export type Delivery =
  | { readonly outcome: 'delivered' | 'stopped'; readonly reason?: undefined }
  | { readonly outcome: 'refused' | 'redirected' | 'damaged'; readonly reason: string };

/** The longest that an attempt may take, in milliseconds, its whole answer included. */
const ATTEMPT_TIMEOUT = 30_000;

/** The most bytes of an answer that are read: the connection of a longer one is closed. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** The first pause before an event is sent again, and the longest, in milliseconds. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 60_000;

/** The longest that a target can make the forwarder wait with `Retry-After`, in milliseconds. */
const LONGEST_RETRY_AFTER = 5 * 60_000;

/** Statuses below 500 that say that the same request may succeed later (RFC 9110 and RFC 6585). */
const LATER: ReadonlySet<number> = new Set([408, 429]);

/** An address to which events are posted, one after the other. */
export class Target {
  readonly #url: URL;
  readonly #options: PostedForm;
  readonly #client = new HttpClient({ timeout: ATTEMPT_TIMEOUT }, MAX_ANSWER_BYTES);

  constructor(
    readonly progress: ForwardProgress,
    url: URL,
    options: PostedForm,
  ) {
    this.#url = url;
    this.#options = options;
  }

  /**
   * Posts an event until the target takes or refuses it: again after 5xx, 408, 429 and without an answer. The signal ends
   * the repetition, but not an attempt that is under way. An event that the disk has damaged is not posted.
   */
  async post(event: StoredEvent, stop: AbortSignal): Promise<Delivery> {
    const name = `Event ${String(event.position)}`;
    if (!isReadable(event))
      return {
        outcome: 'damaged',
        reason: `${name} is damaged and is passed over: ${ArchiveLine.problemOf(event) ?? ''}.`,
      };
    const { headers, ...message } = messageOf(event, this.#url, this.#options);
    for (let attempts = 1; !stop.aborted; attempts++) {
      const began = performance.now();
      const answer = await this.#client.send(this.#url, { ...message, headers: headers() }).catch(noAnswer);
      const milliseconds = performance.now() - began;
      const isAnswer = !(answer instanceof NoAnswerError);
      const delivery = isAnswer ? this.#verdict(answer, milliseconds, event) : undefined;
      if (delivery !== undefined) return delivery;
      const pause = pauseBefore(attempts, isAnswer ? answer.headers['retry-after'] : undefined);
      const reason = isAnswer ? summaryOf(answer, milliseconds) : quoted(answer.message);
      const problem = `${name} was not taken by ${this.progress.name}: ${reason}.`;
      this.progress.undelivered('failed', problem);
      if (stop.aborted) break;
      this.progress.report(`${problem} Trying again in ${(pause / 1000).toFixed(1)} s.`);
      await setTimeout(pause, undefined, { signal: stop }).catch(() => undefined);
    }
    return { outcome: 'stopped' };
  }

  /** Says what an answer means for the event, unless another attempt may go better. The header alone decides. */
  #verdict(answer: HttpAnswer, milliseconds: number, event: StoredEvent): Delivery | undefined {
    const { status } = answer;
    const answered = statusText(status, milliseconds);
    if (status >= 200 && status < 300) {
      this.progress.delivered(event, answered);
      return { outcome: 'delivered' };
    }
    if (status >= 500 || LATER.has(status)) return undefined;
    const outcome = status >= 400 ? 'refused' : 'redirected';
    const place = `Event ${String(event.position)} was ${outcome} by ${this.progress.name}`;
    const { location } = answer.headers;
    const to = location === undefined ? '' : ` to ${quoted(withoutSecrets(location))}`;
    const reason =
      outcome === 'refused'
        ? `${place}: ${summaryOf(answer, milliseconds)}`
        : `${place}: ${answered}${to}. Redirects are not followed: forward to the new address.`;
    this.progress.undelivered(outcome, reason);
    return { outcome, reason };
  }
}

/** The target's answer on one line. */
function summaryOf({ status, body }: HttpAnswer, milliseconds: number): string {
  const text = quoted(body.toString().trim());
  return statusText(status, milliseconds) + (text === '' ? '' : `: ${text}`);
}

function statusText(status: number, milliseconds: number): string {
  return `${`${String(status)} ${STATUS_CODES[status] ?? ''}`.trim()} (${milliseconds.toFixed(0)} ms)`;
}

/** The address of a redirect as a message may show it; what is relative stays on the same host. */
function withoutSecrets(location: string): string {
  return URL.canParse(location) ? new URL(location).origin : 'another path';
}

/**
 * How long to wait before an event is sent again, in milliseconds. Doubles after each attempt, up to a minute, less random jitter
 * of up to a half, so that forwarders that lost the same target do not come back together. `Retry-After` makes it longer, up to
 * five minutes.
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
