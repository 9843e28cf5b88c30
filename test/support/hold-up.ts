import { existsSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

/** On Linux, what the kernel says of the thread that reads it; its first figure is its processor time in nanoseconds. */
const SCHEDSTAT = '/proc/thread-self/schedstat';

/** The processor time of this thread in milliseconds, or of this process where the system does not tell that of a thread. */
const processorTime = existsSync(SCHEDSTAT)
  ? () => Number.parseInt(readFileSync(SCHEDSTAT, 'utf8'), 10) / 1e6
  : () => process.cpuUsage().user / 1000;

const SAMPLE = JSON.stringify(Array.from({ length: 12_000 }, (_, i) => ({ name: `<b>${String(i)}</b>`, list: [i] })));
/** What work on the sample takes on an idle machine of 2020s speed, in milliseconds of processor time. */
const SAMPLE_TIME = 20;
const TRIES = 5;

/**
 * The longest time for which an action holds up everything else in this process, in milliseconds of processor time on an idle machine: what
 * other programs do meanwhile does not count, nor that they take caches and half of a core. Of several tries the best, since compiling
 * and collecting garbage come at any time.
 *
 * @param enough - after a try that held up others for less than this, there is no further one.
 */
export async function holdUp(action: () => Promise<unknown>, enough: number): Promise<number> {
  let best = Infinity;
  for (let i = 0; i < TRIES && best >= enough; i++) {
    const longest = await longestTurn(action);
    best = Math.min(best, longest < enough ? longest : longest / slowness());
  }
  return best;
}

async function longestTurn(action: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = processorTime();
  const look = (): void => {
    const now = processorTime();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 1);
  await setTimeout(1);
  longest = 0;
  try {
    await action();
    look();
    return longest;
  } finally {
    clearInterval(timer);
  }
}

/** How many times as long as on an idle machine the same work takes now; at least 1. */
function slowness(): number {
  const times = Array.from({ length: 5 }, () => {
    const began = processorTime();
    JSON.stringify(JSON.parse(SAMPLE)).replace(/[<>]/g, (character) => `&#${String(character.charCodeAt(0))};`);
    return processorTime() - began;
  });
  return Math.max(1, Math.min(...times) / SAMPLE_TIME);
}
