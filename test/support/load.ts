import { BINDINGS, callOperation, eventsOf, type CloudEvent } from './bindings';

/**
 * Records events from several callers at once, each over all four bindings in turn, until `stop` says so or the service
 * is gone. Resolves to the ids that were answered.
 */
export async function recordFrom(callers: number, url: string, stop: () => boolean): Promise<string[]> {
  const answered: string[] = [];
  const caller = async (_value: unknown, first: number): Promise<void> => {
    for (let i = first; !stop(); i++) {
      try {
        answered.push(await callOperation(url, BINDINGS[i % BINDINGS.length] ?? 'soap11', 'RecordEvent'));
      } catch {
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return answered;
}

/** Reads the whole log over HTTP, page by page. */
export async function everyEvent(url: string): Promise<CloudEvent[]> {
  const events: CloudEvent[] = [];
  for (;;) {
    const after = events.at(-1)?.sequence ?? '0';
    const page = eventsOf(await callOperation(url, 'httpget', `GetEvents?after=${after}&`));
    if (page.length === 0) return events;
    events.push(...page);
  }
}
