import { isRepetition, type NewEvent, type StoredEvent } from '../../events/stored-event';
import type { Engine, Recorded, RetentionSteps } from '../engine';
import { logOn } from '../engine-log';
import type {
  Appended,
  EventLog,
  EventQuery,
  FoundEvent,
  LoggedEvent,
  LogStats,
  Progress,
  Retention,
  ScanQuery,
  SearchQuery,
  SearchResult,
} from '../event-log';
import { Page, SCAN_BYTES, sizeOf } from '../page';
import { dataMemberOf, eventMatcher, foundEvent } from '../search';

/** Maximum events that a step of a search looks at. */
const STEP_EVENTS = 1000;

/** The events of a log in memory, which one that is opened again still has. */
export class MemoryStore {
  /** In log order. */
  events: StoredEvent[] = [];
  /** By each of their keys. */
  byKey = new Map<string, StoredEvent>();
  last = 0;
}

/** Returns an event log that lasts as long as its store: for tests, and for a look at what an engine has to do. */
export function openMemoryLog(store = new MemoryStore(), retention?: Retention): EventLog {
  return logOn(new MemoryEngine(store, retention));
}

class MemoryEngine implements Engine {
  readonly readsAtOnce = 2;
  readonly searchPause = 0;
  readonly watchPause = 20;
  readonly retention: RetentionSteps | undefined;
  readonly #store: MemoryStore;

  constructor(store: MemoryStore, retention: Retention | undefined) {
    this.#store = store;
    if (retention === undefined) return;
    this.retention = { busyPause: 1, idlePause: 20, step: () => Promise.resolve(this.#retain(retention)) };
  }

  appendAll(events: readonly NewEvent[]): Promise<Recorded> {
    const appended = events.map((event) => this.#append(event));
    return Promise.resolve({ appended, newest: this.#store.last });
  }

  #append(event: NewEvent): Appended {
    const { events, byKey } = this.#store;
    const keys = keysOf(event);
    const sameKey = byKey.get(JSON.stringify(['idempotency-key', event.idempotencyKey]));
    if (sameKey !== undefined && !isRepetition(event, sameKey))
      return { id: sameKey.id, recorded: false, conflict: true };
    const first = keys.map((key) => byKey.get(key)).find((found) => found !== undefined);
    if (first !== undefined) return { id: first.id, recorded: false };
    const own = { ...event, position: ++this.#store.last };
    events.push(own);
    for (const key of keys) byKey.set(key, own);
    return { id: event.id, recorded: true };
  }

  read(query: EventQuery): Promise<LoggedEvent[]> {
    const { id, position, after, before = Infinity } = query;
    const matching = this.#store.events.filter(
      (event) =>
        event.position > (after ?? 0) &&
        event.position < before &&
        (id === undefined || event.id === id) &&
        (position === undefined || event.position === position),
    );
    const page = new Page(query);
    const logged: LoggedEvent[] = [];
    for (const { position, ...event } of after === undefined ? matching.reverse() : matching) {
      const taken = page.take(sizeOf(event));
      if (taken === 'full') break;
      const dataOmitted = taken === 'without data';
      const { attributes } = event;
      const data = dataOmitted ? undefined : event.data;
      logged.push({ id: event.id, position, attributes, data, dataOmitted });
    }
    return Promise.resolve(after === undefined ? logged.reverse() : logged);
  }

  scan({ after, limit, since = -Infinity }: ScanQuery): Promise<StoredEvent[]> {
    const matching = this.#store.events.filter(({ position, recordedAt }) => position > after && recordedAt >= since);
    let bytes = 0;
    const end = matching.findIndex((event, i) => {
      const { attributesBytes, dataBytes } = sizeOf(event);
      bytes += attributesBytes + dataBytes;
      return i === limit || (i > 0 && bytes > SCAN_BYTES);
    });
    const stored = matching.slice(0, end === -1 ? matching.length : end);
    return Promise.resolve(stored);
  }

  search(query: SearchQuery): Promise<SearchResult> {
    const { after, before = Infinity, limit } = query;
    const candidates = this.#store.events.filter(({ position }) => position > (after ?? 0) && position < before);
    if (after === undefined) candidates.reverse();
    const matches = eventMatcher(query);
    const events: FoundEvent[] = [];
    let looked = 0;
    for (const { position, data, ...event } of candidates) {
      if (looked === STEP_EVENTS || events.length === limit) break;
      looked++;
      const matched = matches({ ...event, data });
      if (matched === undefined) continue;
      const listed = { ...event, position, data: data === undefined ? undefined : dataMemberOf(data) };
      events.push(foundEvent(listed, matched));
    }
    const last = candidates[looked - 1];
    return Promise.resolve({
      events: after === undefined ? events : events.reverse(),
      reached: last && { position: last.position, recordedAt: last.recordedAt },
      more: looked < candidates.length,
    });
  }

  counts(times: readonly number[]): Promise<number[]> {
    const { events } = this.#store;
    const since = times.map((time) => events.filter(({ recordedAt }) => recordedAt >= time).length);
    return Promise.resolve(since.slice(1).map((later, i) => (since[i] ?? 0) - later));
  }

  stats(): Promise<LogStats> {
    const { events } = this.#store;
    const bytes = events.reduce((sum, { attributes, data = '' }) => sum + attributes.length + data.length, 0);
    return Promise.resolve({ events: events.length, bytes, last: this.#store.last });
  }

  check(): Promise<void> {
    return Promise.resolve();
  }

  newest(): Promise<number> {
    return Promise.resolve(this.#store.last);
  }

  forget(positions: readonly number[], progress: Progress): Promise<number[]> {
    const held = new Set(this.#store.events.map(({ position }) => position));
    const forgotten = positions.filter((position) => held.has(position));
    const gone = new Set(forgotten);
    this.#keep(({ position }) => !gone.has(position));
    progress(positions.length, positions.length);
    return Promise.resolve(forgotten);
  }

  #retain({ maxEvents = Infinity, maxAge = Infinity }: Retention): boolean {
    const horizon = Date.now() - maxAge;
    const surplus = this.#store.events.length - maxEvents;
    this.#keep(({ recordedAt }, i) => i >= surplus && recordedAt >= horizon);
    return false;
  }

  #keep(isKept: (event: StoredEvent, index: number) => boolean): void {
    const { events } = this.#store;
    const kept = events.filter(isKept);
    if (kept.length === events.length) return;
    this.#store.events = kept;
    this.#store.byKey = new Map(kept.flatMap((event) => keysOf(event).map((key) => [key, event])));
  }

  verify(): Promise<string[]> {
    return Promise.resolve([]);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function keysOf({ id, source, idempotencyKey, webhookId }: NewEvent): string[] {
  const keys = [['id', source, id]];
  if (idempotencyKey !== undefined) keys.push(['idempotency-key', idempotencyKey]);
  if (webhookId !== undefined) keys.push(['webhook-id', webhookId]);
  return keys.map((key) => JSON.stringify(key));
}
