import { setTimeout } from 'node:timers/promises';

/** Asks until the answer is yes; fails after ten seconds. */
export async function eventually(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`it did not happen in ten seconds: ${what}`);
    await setTimeout(5);
  }
}
