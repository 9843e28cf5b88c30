import type { NewEvent } from '../events/stored-event';
import type { Writer } from '../log/engine';
import type { EventLog } from '../log/event-log';
import { LARGE_MESSAGE, letOthersRun } from '../util/promises';

/** Whether others run before these events are sent to another process, and after they have come: either takes milliseconds. */
export function hasLarge(events: readonly NewEvent[]): boolean {
  return events.some(({ data = '' }) => data.length > LARGE_MESSAGE);
}

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
      if (hasLarge(events)) await letOthersRun();
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
