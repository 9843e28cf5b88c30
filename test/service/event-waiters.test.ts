import { EventWaiters } from '../../src/service/event-reader';

/** A log whose watches a test tells what it likes. */
function fakeLog() {
  const listeners = new Set<(newest: number) => void>();
  let begun = 0;
  return {
    watch(listener: (newest: number) => void) {
      begun++;
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    tell(newest: number) {
      for (const listener of listeners) listener(newest);
    },
    /** How many watches have begun so far. */
    begun: () => begun,
    /** How many watches there are. */
    watches: () => listeners.size,
  };
}

/** A signal that does not fire. */
const never = () => new AbortController().signal;
const MINUTE = 60_000;

describe('those who wait for events', () => {
  let log: ReturnType<typeof fakeLog>;
  let waiters: EventWaiters;
  beforeEach(() => {
    jest.useFakeTimers();
    log = fakeLog();
    waiters = new EventWaiters(log);
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** The outcome of a wait so far. */
  const outcome = async (waiting: Promise<number | undefined>) => {
    await jest.advanceTimersByTimeAsync(0);
    return Promise.race([waiting, Promise.resolve('waits')]);
  };

  it('wake a call that began to wait for an earlier position than the others', async () => {
    const late = waiters.wait(100, MINUTE, never());
    log.tell(50);
    // The log had 60 events, and was then replaced by one that has fewer.
    log.tell(1);
    const early = waiters.wait(1, MINUTE, never());
    const between = waiters.wait(70, MINUTE, never());
    log.tell(2);
    expect(await outcome(early)).toBe(2);
    log.tell(71);
    expect(await outcome(between)).toBe(71);
    expect(await outcome(late)).toBe('waits');
    log.tell(101);
    expect(await outcome(late)).toBe(101);
  });

  it('share one watch, which ends with the last of them', async () => {
    const controllers = Array.from({ length: 100 }, () => new AbortController());
    const all = controllers.map(({ signal }) => waiters.wait(0, MINUTE, signal));
    for (const controller of controllers.slice(1)) controller.abort();
    await Promise.all(all.slice(1));
    expect([log.begun(), log.watches()]).toEqual([1, 1]);
    controllers[0]?.abort();
    await all[0];
    expect(log.watches()).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('begin a new watch after that, and do not trust what the one before has told', async () => {
    void waiters.wait(9, 1, never());
    log.tell(9);
    await jest.advanceTimersByTimeAsync(1);
    expect(log.watches()).toBe(0);
    const waiting = waiters.wait(5, MINUTE, never());
    expect(await outcome(waiting)).toBe('waits');
    expect([log.begun(), log.watches()]).toEqual([2, 1]);
    log.tell(6);
    expect(await outcome(waiting)).toBe(6);
  });
});
