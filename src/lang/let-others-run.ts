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
