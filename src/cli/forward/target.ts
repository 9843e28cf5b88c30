import { setTimeout } from 'node:timers/promises';
import { Contract } from '../../contract/contract';
import { sequenceOf, StoredEvent } from '../../events/stored-event';
import { answerText, HttpClient, isTemporary, NoAnswerError, pauseAfter } from '../http-client';
import { Sender } from '../../senders/sender';
import { oneLine } from '../../util/text';
import { messageOf, signerOf, type PostingMode } from './message';

export interface Delivery {
  /** Damaged: by the disk; it was not posted. */
  readonly outcome: 'delivered' | 'refused' | 'redirected' | 'damaged' | 'stopped';
  readonly status?: number | undefined;
  readonly text: string;
}

/** Attempts per event without `--follow`. */
export const TRIES = 3;

/** The longest pause between two tries while a person or a program waits, in milliseconds. */
export const SHORT_PAUSE = 2000;

/** How often an event is posted to a target that does not take it. */
export interface Tries {
  readonly most: number;
  /** The longest pause between two, in milliseconds, unless the target asks for a longer one. */
  readonly longestPause: number;
  /** Called before each pause with the problem, one line, and the length of the pause in milliseconds. */
  readonly report?: (problem: string, pause: number) => void;
}

/** An address to which events are posted, one after the other. */
export class Target {
  readonly #client = new HttpClient();

  constructor(
    private readonly url: URL,
    private readonly mode: PostingMode,
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
    const { headers, ...message } = messageOf(event, this.url, this.mode);
    const { most, longestPause, report } = this.tries;
    for (let tries = 1; !stop.aborted; tries++) {
      const began = performance.now();
      const answer = await this.#client.send(this.url, { ...message, headers: headers() });
      const isAnswer = !(answer instanceof NoAnswerError);
      const status = isAnswer ? answer.status : undefined;
      const said = isAnswer ? answerText(answer, performance.now() - began) : oneLine(answer.message);
      if (isAnswer && !isTemporary(answer.status)) {
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
      const pause = pauseAfter(tries, longestPause, retryAfter);
      if (!stop.aborted) report?.(problem, pause);
      await setTimeout(pause, undefined, { signal: stop }).catch(() => undefined);
    }
    return { outcome: 'stopped', text: '' };
  }
}

/** The address of a redirect as a message may show it; what is relative stays on the same host. */
function placeOf(location: string | undefined): string {
  if (location === undefined) return '';
  return ` to ${URL.canParse(location) ? oneLine(new URL(location).origin) : 'another path'}`;
}

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
  const mode = await modeOf(namespace, options);
  const target = new Target(new URL(url), mode, { most: TRIES, longestPause: SHORT_PAUSE });
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

async function modeOf(namespace: string | undefined, { asReceived = false, sign }: PostOptions): Promise<PostingMode> {
  const sender = sign && Sender.recognised.includes(sign.sender) ? Sender.named(sign.sender) : undefined;
  const signer = sender && sign && signerOf(sender, sign.secret);
  if (sign !== undefined && signer === undefined)
    throw new TypeError(`sign needs a sender, one of ${Sender.recognised.join(', ')}, and a secret of that sender.`);
  const signers = sender && signer && new Map([[sender, signer]]);
  if (asReceived) return { asReceived: { contract: await Contract.load(namespace), signers } };
  if (sign === undefined || sign.sender === 'standard-webhooks') return { secrets: sign && [sign.secret] };
  throw new TypeError(`sign as ${sign.sender} goes with asReceived: CloudEvents are signed as standard-webhooks.`);
}
