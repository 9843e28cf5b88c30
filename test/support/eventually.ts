import { setTimeout } from 'node:timers/promises';

/** Asks until the answer is yes; throws after 20 seconds. */
export async function eventually(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`it did not happen within 20 seconds: ${what}`);
    await setTimeout(5);
  }
}
