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

/**
 * As {@link recordFrom}, but sends each event twice at the same moment, over two bindings under one `Idempotency-Key`. Adds
 * the ids that were answered to those of the key, which says when and where it was sent.
 */
export async function recordTwice(
  callers: number,
  url: string,
  answers: Map<string, Set<string>>,
  stop: () => boolean,
): Promise<void> {
  const caller = async (_value: unknown, first: number): Promise<void> => {
    for (let i = 0; !stop(); i++) {
      const key = `${new Date().toISOString()} ${url} ${String(first)}-${String(i)}`;
      const ids = new Set<string>();
      answers.set(key, ids);
      const copies = [i, i + 1].map(async (n) => {
        const binding = BINDINGS[n % BINDINGS.length] ?? 'soap11';
        ids.add(await callOperation(url, binding, 'RecordEvent', '', { 'Idempotency-Key': key }));
      });
      const sent = await Promise.allSettled(copies);
      if (sent.some(({ status }) => status === 'rejected')) return;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
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
