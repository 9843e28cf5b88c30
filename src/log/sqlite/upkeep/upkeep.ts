import { setTimeout as delay } from 'node:timers/promises';
import type { Progress } from '../../event-log';
import { sequenceNumber } from '../../page';
import type { DatabaseThread } from '../thread/database-thread';

/** Pause after each step that took the write lock, in milliseconds: a writer that waits for it looks again and again. */
const REST = 20;

/** Most events that are deleted in one step. */
const MOST_DELETED = 64;

/** How often, and after how many milliseconds, the write-ahead log is tried to be emptied while readers need it. */
const TRIES = 300;
const TRY_PAUSE = 100;

/** As `LogEngine.forget`. */
export async function forget(
  thread: DatabaseThread,
  positions: readonly bigint[],
  progress: Progress,
): Promise<bigint[]> {
  const forgotten: bigint[] = [];
  for (let done = 0; done < positions.length; done += MOST_DELETED) {
    const some = positions.slice(done, done + MOST_DELETED);
    const deleted = await thread.ask('forget', some.map(sequenceNumber));
    forgotten.push(...some.filter((position) => deleted.has(sequenceNumber(position))));
    progress(done, positions.length);
    await delay(REST);
  }
  // What is deleted is overwritten, but SQLite leaves copies of rows that it moved in the unused room of pages.
  await thread.ask('vacuum');
  progress(positions.length, positions.length);
  await emptyWal(thread);
  return forgotten;
}

/** As `LogEngine.compact`. */
export async function compact(thread: DatabaseThread, progress: Progress): Promise<number> {
  if ((await thread.ask('freeBytes')) === undefined) return rebuild(thread);
  let given = 0;
  for (let step = await thread.ask('giveBack'); step > 0; step = await thread.ask('giveBack')) {
    given += step;
    progress(given, given + ((await thread.ask('freeBytes')) ?? 0));
    await delay(REST);
  }
  await emptyWal(thread);
  return given;
}

async function rebuild(thread: DatabaseThread): Promise<number> {
  const before = (await thread.ask('stats')).bytes;
  await thread.ask('vacuum');
  await emptyWal(thread);
  return before - (await thread.ask('stats')).bytes;
}

async function emptyWal(thread: DatabaseThread): Promise<void> {
  for (let tries = 0; !(await thread.ask('emptyWal')); tries++) {
    if (tries === TRIES) {
      throw new Error(
        'another program, a backup perhaps, has been reading for too long. Run this again when it has ended',
      );
    }
    await delay(TRY_PAUSE);
  }
}
