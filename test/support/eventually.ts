import { setTimeout } from 'node:timers/promises';

/**
 * Asks until the answer is yes; throws once `within` milliseconds are over. Asks less often the longer it takes, each 5 to 50 ms,
 * since a question takes time from what it waits for.
 */
export async function eventually(
  what: string,
  check: () => boolean | Promise<boolean>,
  within = 25_000,
): Promise<void> {
  const began = performance.now();
  while (!(await check())) {
    const waited = performance.now() - began;
    if (waited > within) throw new Error(`it did not happen within ${String(within / 1000)} seconds: ${what}`);
    await setTimeout(Math.min(Math.max(waited / 20, 5), 50));
  }
}

/** Resolves to whether a promise is fulfilled. */
export function succeeds(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}
