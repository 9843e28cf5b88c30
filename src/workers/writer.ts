import type { Writer } from '../log/engine';
import type { EventLog } from '../log/event-log';
import { LARGE_MESSAGE, letOthersRun } from '../util/promises';

/**
 * Returns what a log does for a worker that records through it.
 *
 * @param gone - resolves when the worker has gone. What it asked before is done all the same.
 */
export function writerFor(log: Pick<EventLog, 'appendAll' | 'check' | 'watch'>, gone: Promise<void>): Writer {
  let endWatch: () => void = () => undefined;
  void gone.then(() => {
    endWatch();
  });
  return {
    async appendAll(events) {
      // To receive a large event takes as long as to record it: other workers come between.
      if (events.some(({ data = '' }) => data.length > LARGE_MESSAGE)) await letOthersRun();
      const appended = await log.appendAll(events);
      // Nearly always none: ids that the worker has need not travel.
      return new Map([...appended.entries()].filter(([, { recorded }]) => !recorded));
    },
    check: () => log.check(),
    // A worker that hangs asks no more, so no positions pile up for it.
    newestOtherThan: (position) =>
      new Promise((resolve) => {
        endWatch = log.watch((newest) => {
          if (newest === position) return;
          endWatch();
          resolve(newest);
        });
      }),
  };
}
