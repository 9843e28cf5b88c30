import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SqliteEventLog } from '../../../src/log/sqlite/event-log';
import { SqliteWatch } from '../../../src/log/sqlite/watch';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { watching } from '../../support/watching';
import { newEvent } from '../event-log-suite';

describe('a watch of a SQLite event log', () => {
  const folder = useTemporaryFolder();
  let file: string;
  let log: SqliteEventLog;
  beforeEach(async () => {
    file = join(folder.path, 'events.db');
    log = await SqliteEventLog.open({ file });
  });
  afterEach(() => log.close());

  it('is told of an event of its own process before the call that recorded it is answered', async () => {
    const watch = watching(log);
    await watch.reaches(0n);
    for (let i = 1n; i <= 10n; i++) {
      await log.append(newEvent());
      expect(watch.told.at(-1)).toBe(i);
    }
    await log.appendAll([newEvent(), newEvent()]);
    expect(watch.told.at(-1)).toBe(12n);
    watch.end();
  });

  it('goes on with the file that is found under the name when the one that was open is gone', async () => {
    await log.append(newEvent());
    const watch = watching(log);
    await watch.reaches(1n);
    for (const ending of ['', '-wal', '-shm']) await rm(file + ending);
    while (watch.told.at(-1) !== 0n) await watch.next();
    const other = await SqliteEventLog.open({ file });
    await other.append(newEvent());
    await watch.reaches(1n);
    expect(watch.told).toEqual([1n, 0n, 1n]);
    watch.end();
    await other.close();
  });
});

describe('the looks of a watch', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('follow each other until it ends, also after one that failed', async () => {
    const answers = [1, 1, new Error('locked'), 3];
    const told: bigint[] = [];
    const look = jest.fn(() => {
      const answer = answers.shift() ?? 4;
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    });
    const watch = new SqliteWatch(look, (newest) => told.push(newest));
    await jest.advanceTimersByTimeAsync(1000);
    expect(told).toEqual([1n, 3n, 4n]);
    watch.end();
    const looks = look.mock.calls.length;
    expect(looks).toBeGreaterThan(10);
    await jest.advanceTimersByTimeAsync(1000);
    expect(look).toHaveBeenCalledTimes(looks);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('do not pile up while the database takes its time, and say nothing once it has ended', async () => {
    const told: bigint[] = [];
    let answer: (newest: number) => void = () => undefined;
    const look = jest.fn(() => new Promise<number>((resolve) => (answer = resolve)));
    const watch = new SqliteWatch(look, (newest) => told.push(newest));
    await jest.advanceTimersByTimeAsync(1000);
    expect(look).toHaveBeenCalledTimes(1);
    watch.end();
    answer(1);
    await jest.advanceTimersByTimeAsync(1000);
    expect(look).toHaveBeenCalledTimes(1);
    expect(told).toEqual([]);
  });
});
