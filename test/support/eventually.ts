import { setTimeout } from 'node:timers/promises';

/** How long the pause after a check is at least and at most, in milliseconds. */
const PAUSE = { least: 5, most: 50 };

/** Asks until the answer is yes; throws once `within` milliseconds are over. Asks less often the longer it takes, since a question takes time from what it waits for. */
export async function eventually(
  what: string,
  check: () => boolean | Promise<boolean>,
  within = 25_000,
): Promise<void> {
  const began = performance.now();
  while (!(await check())) {
    const waited = performance.now() - began;
    if (waited > within) throw new Error(`it did not happen within ${String(within / 1000)} seconds: ${what}`);
    await setTimeout(Math.min(Math.max(waited / 20, PAUSE.least), PAUSE.most));
  }
}

/** Resolves to whether a promise is fulfilled. */
export function succeeds(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}
