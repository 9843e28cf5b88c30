import type { NewEvent, StoredEvent } from '../../events/stored-event';
import {
  isOfType,
  isRepetition,
  typeIn,
  type Appended,
  type Engine,
  type Recorded,
  type Retention,
  type RetentionSteps,
} from '../engine';
import { EventLog } from '../event-log';
import type { EventQuery, FoundEvent, LoggedEvent, LogStats, SearchQuery, SearchResult } from '../queries';
import { Page, sizeOf } from '../page';
import { eventMatcher } from '../search';

/** Maximum events that a step of a search looks at. */
const STEP_EVENTS = 1000;

/** The events of a log in memory, which one that is opened again still has. */
export class MemoryStore {
  /** In log order. */
  events: StoredEvent[] = [];
  /** By each of their keys. */
  readonly byKey = new Map<string, StoredEvent>();
  last = 0;
}

/** Returns an event log that lasts as long as its store. The smallest engine: a look at what one has to do. */
export function openMemoryLog(store = new MemoryStore(), retention?: Retention): EventLog {
  return new EventLog(new MemoryEngine(store), retention);
}

class MemoryEngine implements Engine {
  readonly readsAtOnce = 2;
  readonly watchPause = 20;
  readonly retention: RetentionSteps = {
    busyPause: 1,
    idlePause: 100,
    step: (retention) => Promise.resolve(this.#retain(retention)),
  };
  readonly #store: MemoryStore;

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  readonly newest: Engine['newest'] = () => Promise.resolve(this.#store.last);
  readonly check: Engine['check'] = () => Promise.resolve();
  readonly verify: Engine['verify'] = () => Promise.resolve([]);
  readonly close: Engine['close'] = () => Promise.resolve();

  append(events: readonly NewEvent[]): Promise<Recorded> {
    const appended = events.map((event) => this.#record(event));
    return Promise.resolve({ appended, newest: this.#store.last });
  }

  #record(event: NewEvent): Appended {
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
    const { id, position, type, after = 0, before = Infinity, since = -Infinity } = query;
    const isUpwards = query.after !== undefined;
    const [first, end] = position === undefined ? [0, Infinity] : [position, position + 1];
    const page = new Page(query);
    const logged: LoggedEvent[] = [];
    for (const event of this.#between(Math.max(after, first - 1), Math.min(before, end), isUpwards)) {
      if (id !== undefined && event.id !== id) continue;
      if (event.recordedAt < since || (type !== undefined && !isOfType(type, typeIn(event.attributes)))) continue;
      const taken = page.take(sizeOf(event));
      if (taken === 'full') break;
      logged.push(taken === 'whole' ? event : { ...event, data: undefined, dataOmitted: true });
    }
    return Promise.resolve(isUpwards ? logged : logged.reverse());
  }

  search(query: SearchQuery): Promise<SearchResult> {
    const { after = 0, before = Infinity, limit } = query;
    const isUpwards = query.after !== undefined;
    const matching = eventMatcher(query);
    const events: FoundEvent[] = [];
    let reached: SearchResult['reached'];
    let looked = 0;
    let more = false;
    for (const event of this.#between(after, before, isUpwards)) {
      more = looked === STEP_EVENTS || events.length === limit;
      if (more) break;
      looked++;
      const { position, recordedAt } = event;
      reached = { position, recordedAt };
      const found = matching(event);
      if (found !== undefined) events.push(found);
    }
    return Promise.resolve({ events: isUpwards ? events.reverse() : events, reached, more });
  }

  /** The events after one position and before another: from the first on, or from the last. */
  *#between(after: number, before: number, isUpwards: boolean): Generator<StoredEvent> {
    const { events } = this.#store;
    const first = this.#indexFrom(after + 1);
    const end = this.#indexFrom(before);
    for (let i = first; i < end; i++) yield events[isUpwards ? i : end - 1 - (i - first)] as StoredEvent;
  }

  /** The index of the first event at a position or after it. */
  #indexFrom(position: number): number {
    const { events } = this.#store;
    let [low, high] = [0, events.length];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((events[middle]?.position ?? Infinity) < position) low = middle + 1;
      else high = middle;
    }
    return low;
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

  forget(positions: readonly number[]): Promise<number[]> {
    const held = new Set(this.#store.events.map(({ position }) => position));
    const forgotten = positions.filter((position) => held.has(position));
    const gone = new Set(forgotten);
    this.#keep(({ position }) => !gone.has(position));
    return Promise.resolve(forgotten);
  }

  #retain({ maxEvents = Infinity, maxAge = Infinity }: Retention): boolean {
    const horizon = Date.now() - maxAge;
    const surplus = this.#store.events.length - maxEvents;
    this.#keep(({ recordedAt }, i) => i >= surplus && recordedAt >= horizon);
    return false;
  }

  #keep(isKept: (event: StoredEvent, index: number) => boolean): void {
    const { events, byKey } = this.#store;
    const kept = events.filter((event, i) => {
      if (isKept(event, i)) return true;
      for (const key of keysOf(event)) byKey.delete(key);
      return false;
    });
    if (kept.length < events.length) this.#store.events = kept;
  }
}

function keysOf({ id, source, idempotencyKey, webhookId }: NewEvent): string[] {
  const keys = [['id', source, id]];
  if (idempotencyKey !== undefined) keys.push(['idempotency-key', idempotencyKey]);
  if (webhookId !== undefined) keys.push(['webhook-id', webhookId]);
  return keys.map((key) => JSON.stringify(key));
}
