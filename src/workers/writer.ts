import type { NewEvent } from '../events/stored-event';
import type { EventLog } from '../log/event-log';
import { letOthersRun } from '../util/promises';
import type { SentEvent, SupervisorFunctions } from './protocol';

/**
 * Returns what a log does for a worker that records through it.
 *
 * @param gone - resolves when the worker has gone. What it asked before is done all the same.
 */
export function writerFor(
  log: Pick<EventLog, 'appendAll' | 'check' | 'watch'>,
  gone: Promise<void>,
): Pick<SupervisorFunctions, 'dataPart' | 'appendAll' | 'check' | 'newestOtherThan'> {
  let endWatch: () => void = () => undefined;
  void gone.then(() => {
    endWatch();
  });
  const received = new Map<number, string[]>();
  const withData = ({ dataParts, ...event }: SentEvent): NewEvent => {
    if (dataParts === undefined) return event;
    const data = received.get(dataParts)?.join('');
    received.delete(dataParts);
    return { ...event, data };
  };
  return {
    dataPart({ of, text }) {
      const texts = received.get(of);
      if (texts === undefined) received.set(of, [text]);
      else texts.push(text);
    },
    async appendAll(sent) {
      const events = sent.some(({ dataParts }) => dataParts !== undefined) ? sent.map(withData) : sent;
      if (events !== sent) await letOthersRun();
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
