import type { NewEvent } from '../events/stored-event';
import type { Writer } from '../log/engine';
import type { EventLog } from '../log/event-log';
import { letOthersRun } from '../util/promises';
import type { Remote } from '../util/remote';
import type { DividedEvent, SupervisorFunctions } from './protocol';

/** Data longer than this are sent in parts of this length. */
const PART_CHARACTERS = 256 * 1024;

/** Returns the log that the supervisor has open. */
export function writerOf(supervisor: Remote<SupervisorFunctions>): Writer {
  let divided = 0;
  const sendParts = async ({ data = '', ...event }: NewEvent): Promise<DividedEvent> => {
    const dataParts = divided++;
    for (let start = 0; start < data.length; start += PART_CHARACTERS) {
      await letOthersRun();
      supervisor.tell('dataPart', { of: dataParts, text: data.slice(start, start + PART_CHARACTERS) });
    }
    return { ...event, data: undefined, dataParts };
  };
  return {
    async appendAll(events) {
      const sent: DividedEvent[] = [];
      for (const event of events)
        sent.push((event.data?.length ?? 0) > PART_CHARACTERS ? await sendParts(event) : event);
      return supervisor.ask('appendAll', sent);
    },
    check: () => supervisor.ask('check'),
    newestOtherThan: (position) => supervisor.ask('newestOtherThan', position),
  };
}

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
  const withData = ({ dataParts, ...event }: DividedEvent): NewEvent => {
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
