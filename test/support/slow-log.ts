import type { EventLog } from '../../src/log/event-log';
import { deferred } from '../../src/util/promises';

/** Makes a log that answers when it is told to, and counts the events that it was given. */
export function slowLog() {
  const answer = deferred();
  let events = 0;
  const append = async () => {
    events++;
    await answer.promise;
    return { id: 'the-id', recorded: true };
  };
  const log = { append, onCommit: () => undefined, close: () => Promise.resolve() } as Partial<EventLog> as EventLog;
  return { log, answer: answer.resolve, events: () => events };
}
