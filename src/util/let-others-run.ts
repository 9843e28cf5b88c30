import { setImmediate, setTimeout } from 'node:timers/promises';

/** A message with more bytes or characters than this is worked on in parts, between which other calls run. */
export const LARGE_MESSAGE = 256 * 1024;

/** What a small call needs from its header to its commit and its reply, in milliseconds. */
const PAUSE = 5;

/** Pauses, so that all calls that have arrived so far run from their headers to their replies. */
export async function letOthersRun(): Promise<void> {
  await setImmediate();
  await setTimeout(PAUSE);
}

/** How many characters of a large text are worked on at a time: at most 20 ms of work, whatever they are (measured). */
const PART_LENGTH = 64 * 1024;

/** Hands over a large text in parts, in order, between which other calls run. */
export async function inParts(text: string, work: (part: string) => void): Promise<void> {
  for (let start = 0; start < text.length; start += PART_LENGTH) {
    work(text.slice(start, start + PART_LENGTH));
    await letOthersRun();
  }
}
