import { setTimeout } from 'node:timers/promises';
import { Contract } from '../contract/contract';
import { sequenceOf } from '../events/position';
import type { StoredEvent } from '../events/stored-event';
import type { PostedForm } from './message';
import { SIGNING, signerOf } from './signing';
import { Target } from './target';

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
      if (outcome === 'redirected' || outcome === 'failed') throw new Error(text);
      if (status !== undefined) answers.push({ sequence: sequenceOf(event.position), status });
      if (stop.aborted || answers.length === limit) return answers;
    }
  }
  return answers;
}

async function formOf(namespace: string | undefined, { asReceived = false, sign }: PostOptions): Promise<PostedForm> {
  const sender = sign && SIGNING.get(sign.sender);
  const signer = sender && signerOf(sender, sign.secret);
  if (sign !== undefined && signer === undefined)
    throw new TypeError(`sign needs a sender, one of ${[...SIGNING.keys()].join(', ')}, and a secret of that sender.`);
  if (asReceived) return { asReceived: { contract: await Contract.load(namespace), sign: signer } };
  if (sign === undefined || sign.sender === 'standard-webhooks') return { secrets: sign && [sign.secret] };
  throw new TypeError(`sign as ${sign.sender} goes with asReceived: CloudEvents are signed as standard-webhooks.`);
}
