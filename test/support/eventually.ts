import { setTimeout } from 'node:timers/promises';

/** Asks until the answer is yes; throws after 25 seconds. */
export async function eventually(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 25_000;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`it did not happen within 25 seconds: ${what}`);
    await setTimeout(5);
  }
}

/** Resolves to whether a promise is fulfilled. */
export function succeeds(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}
