import { openMemoryLog } from '../../src/log/memory/event-log';
import { Deferred } from '../../src/util/promises';

/** Makes a log that answers on demand, and counts the events that it was given. */
export function slowLog() {
  const answer = new Deferred();
  let events = 0;
  const append = async () => {
    events++;
    await answer.promise;
    return [{ id: 'the-id', recorded: true }];
  };
  return { log: Object.assign(openMemoryLog(), { append }), answer: answer.resolve, events: () => events };
}
