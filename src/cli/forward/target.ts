import { setTimeout } from 'node:timers/promises';
import { Contract } from '../../contract/contract';
import { sequenceOf, StoredEvent } from '../../events/stored-event';
import { HttpClient, NoAnswerError, statusText, type HttpAnswer, type Reach } from '../http-client';
import { Sender } from '../../senders/sender';
import { quoted } from '../../util/text';
import { messageOf, signerOf, type PostedForm } from './message';

export interface Delivery {
  /** Damaged: by the disk; it was not posted. */
  readonly outcome: 'delivered' | 'refused' | 'redirected' | 'damaged' | 'stopped';
  readonly status?: number | undefined;
  readonly text: string;
}

/** How often an event is posted to a target that does not take it. */
export interface Tries {
  readonly most: number;
  /** The longest pause between two, in milliseconds, unless the target asks for a longer one. */
  readonly longestPause: number;
  /** Waits between two tries, in milliseconds. `problem` is a line that says why. */
  wait(problem: string, pause: number): Promise<unknown>;
}

/** For an attempt and its whole answer, in milliseconds. */
const ATTEMPT_TIMEOUT = 30_000;

/** The connection of a longer answer is closed. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** The first pause before an event is sent again, in milliseconds. */
const FIRST_PAUSE = 500;

/** The longest that a target can make the forwarder wait with `Retry-After`, in milliseconds. */
const LONGEST_RETRY_AFTER = 5 * 60_000;

/** Statuses below 500 that say that the same request may succeed later (RFC 9110 and RFC 6585). */
const LATER: ReadonlySet<number> = new Set([408, 429]);

export function clientFor(reach: Omit<Reach, 'timeout'> = {}): HttpClient {
  return new HttpClient({ ...reach, timeout: ATTEMPT_TIMEOUT }, MAX_ANSWER_BYTES);
}

/** An address to which events are posted, one after the other. */
export class Target {
  readonly #client = clientFor();

  constructor(
    private readonly url: URL,
    private readonly form: PostedForm,
    private readonly tries: Tries,
  ) {}

  /**
   * Posts an event until the target takes or refuses it: again after 5xx, 408, 429 and without an answer. The signal ends
   * the repetition, but not an attempt that is under way.
   *
   * @throws the target took it in none of the tries.
   */
  async post(event: StoredEvent, stop: AbortSignal): Promise<Delivery> {
    const name = `Event ${String(event.position)}`;
    const damage = StoredEvent.problemOf(event);
    if (damage !== undefined) return { outcome: 'damaged', text: `${name} is damaged and is passed over: ${damage}.` };
    // Paths and queries of webhooks hold secrets, as users and passwords do.
    const { origin } = this.url;
    const { headers, ...message } = messageOf(event, this.url, this.form);
    const { most, longestPause } = this.tries;
    for (let tries = 1; !stop.aborted; tries++) {
      const began = performance.now();
      const answer = await this.#client.send(this.url, { ...message, headers: headers() });
      const isAnswer = !(answer instanceof NoAnswerError);
      const status = isAnswer ? answer.status : undefined;
      const said = isAnswer ? answerText(answer, performance.now() - began) : quoted(answer.message);
      if (isAnswer && answer.status < 500 && !LATER.has(answer.status)) {
        if (answer.status < 300) return { outcome: 'delivered', status, text: said };
        if (answer.status >= 400)
          return { outcome: 'refused', status, text: `${name} was refused by ${origin}: ${said}` };
        const to = placeOf(answer.headers.location);
        const advice = 'Redirects are not followed: forward to the new address.';
        return { outcome: 'redirected', status, text: `${name} was redirected by ${origin}: ${said}${to}. ${advice}` };
      }
      const problem = `${name} was not taken by ${origin}: ${said}.`;
      const often = tries === 1 ? 'once' : `${String(tries)} times`;
      if (tries >= most) throw new Error(`${problem} It was tried ${often}.`);
      const retryAfter = isAnswer ? answer.headers['retry-after'] : undefined;
      if (!stop.aborted) await this.tries.wait(problem, pauseBefore(tries, retryAfter, longestPause));
    }
    return { outcome: 'stopped', text: '' };
  }
}

/** The target's answer on one line; the text of one that took the event, or redirects it, says nothing more. */
export function answerText({ status, body }: HttpAnswer, milliseconds: number): string {
  const text = status < 400 ? '' : quoted(body.toString().trim());
  const first = `${statusText(status)} (${milliseconds.toFixed(0)} ms)`;
  return first + (text === '' ? '' : `: ${text}`);
}

/** The address of a redirect as a message may show it; what is relative stays on the same host. */
function placeOf(location: string | undefined): string {
  if (location === undefined) return '';
  return ` to ${URL.canParse(location) ? quoted(new URL(location).origin) : 'another path'}`;
}

/**
 * How long to wait after a number of attempts, in milliseconds: twice as long each time, up to the longest, less random jitter of up
 * to a half, so that forwarders that lost the same target do not come back together. `Retry-After` makes it longer.
 */
export function pauseBefore(attempts: number, retryAfter: string | undefined, longest: number): number {
  const pause = Math.min(FIRST_PAUSE * 2 ** (attempts - 1), longest);
  const asked = retryAfter === undefined ? 0 : (retryAfterMilliseconds(retryAfter) ?? 0);
  return Math.max(pause * (1 - Math.random() / 2), Math.min(asked, LONGEST_RETRY_AFTER));
}

/** Reads `Retry-After` (RFC 9110, section 10.2.3), seconds or a date. */
function retryAfterMilliseconds(text: string): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const time = / GMT$/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? undefined : time - Date.now();
}

/** Tries for each event, and the longest pause between two of them, in milliseconds. */
const TRIES = 3;
const LONGEST_PAUSE = 2000;

/** How a program has events posted. */
interface PostOptions {
  readonly asReceived?: boolean | undefined;
  readonly sign?: { readonly sender: string; readonly secret: string } | undefined;
}

/**
 * Posts events, one after the other, and resolves to the answers; damaged events have none. The signal ends it after the attempt
 * that is under way.
 *
 * @param namespace - that of the service, for SOAP calls.
 * @throws {TypeError} the address or the signature is not valid.
 * @throws the target takes an event in none of the tries, or redirects.
 */
export async function postEvents(
  pages: AsyncIterable<readonly StoredEvent[]>,
  limit: number,
  url: string | URL,
  namespace: string | undefined,
  options: PostOptions,
  stop: AbortSignal,
): Promise<{ readonly sequence: string; readonly status: number }[]> {
  const wait = (_problem: string, pause: number) =>
    setTimeout(pause, undefined, { signal: stop }).catch(() => undefined);
  const form = await formOf(namespace, options);
  const target = new Target(new URL(url), form, { most: TRIES, longestPause: LONGEST_PAUSE, wait });
  const answers: { sequence: string; status: number }[] = [];
  for await (const page of pages) {
    for (const event of page) {
      const { outcome, status, text } = await target.post(event, stop);
      if (outcome === 'redirected') throw new Error(text);
      if (status !== undefined) answers.push({ sequence: sequenceOf(event.position), status });
      if (stop.aborted || answers.length === limit) return answers;
    }
  }
  return answers;
}

async function formOf(namespace: string | undefined, { asReceived = false, sign }: PostOptions): Promise<PostedForm> {
  const sender = sign && Sender.recognised.includes(sign.sender) ? Sender.named(sign.sender) : undefined;
  const signer = sender && sign && signerOf(sender, sign.secret);
  if (sign !== undefined && signer === undefined)
    throw new TypeError(`sign needs a sender, one of ${Sender.recognised.join(', ')}, and a secret of that sender.`);
  const signers = sender && signer && new Map([[sender, signer]]);
  if (asReceived) return { asReceived: { contract: await Contract.load(namespace), signers } };
  if (sign === undefined || sign.sender === 'standard-webhooks') return { secrets: sign && [sign.secret] };
  throw new TypeError(`sign as ${sign.sender} goes with asReceived: CloudEvents are signed as standard-webhooks.`);
}
