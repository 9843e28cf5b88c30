import { KeyConflict } from '../../events/key-conflict';
import { type NewEvent, StoredEvent } from '../../events/stored-event';
import { isOfType, type Appended, type Engine, type Retention } from '../engine';
import { EventLog } from '../event-log';
import { pageFrom, type EventQuery } from '../queries';
import { searchStep } from '../search';

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
  return new EventLog(new MemoryEngine(store), retention && { retention });
}

class MemoryEngine implements Engine {
  readonly readsAtOnce = 2;
  readonly watchPause = 20;
  readonly retention: Engine['retention'] = {
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

  readonly append: Engine['append'] = (events) => Promise.resolve(events.map((event) => this.#record(event)));

  #record(event: NewEvent): Appended {
    const { events, byKey } = this.#store;
    const keys = keysOf(event);
    for (const [key, name] of [
      ['idempotencyKey', 'idempotency-key'],
      ['webhookId', 'webhook-id'],
    ] as const) {
      const sameKey = event[key] === undefined ? undefined : byKey.get(JSON.stringify([name, event[key]]));
      const conflict = sameKey && KeyConflict.between(key, event, sameKey);
      if (conflict) return { id: sameKey.id, recorded: false, conflict };
    }
    const first = keys.map((key) => byKey.get(key)).find((found) => found !== undefined);
    if (first !== undefined) return { id: first.id, recorded: false };
    const own = { ...event, position: ++this.#store.last };
    events.push(own);
    for (const key of keys) byKey.set(key, own);
    return { id: event.id, recorded: true };
  }

  readonly read: Engine['read'] = (query) => {
    const { id, type } = query;
    const isAsked = (event: StoredEvent): boolean =>
      (id === undefined || event.id === id) && (type === undefined || isOfType(type, StoredEvent.typeOf(event)));
    return pageFrom(this.#between(query, isAsked), query);
  };

  readonly search: Engine['search'] = (query) => {
    let looked = 0;
    return searchStep(this.#between(query), query, () => ++looked === STEP_EVENTS);
  };

  /** The events between the positions of a query, from the end at which it begins. */
  *#between(
    query: Omit<EventQuery, 'id' | 'type'>,
    isAsked: (event: StoredEvent) => boolean = () => true,
  ): Generator<StoredEvent> {
    const { after, before = Infinity, position } = query;
    const { events } = this.#store;
    const first = this.#indexFrom(Math.max((after ?? 0) + 1, position ?? 0));
    const end = this.#indexFrom(Math.min(before, (position ?? Infinity) + 1));
    for (let i = first; i < end; i++) {
      const event = events[after === undefined ? end - 1 - (i - first) : i] as StoredEvent;
      if (isAsked(event)) yield event;
    }
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

  readonly counts: Engine['counts'] = (times) => {
    const { events } = this.#store;
    const since = times.map((time) => events.filter(({ recordedAt }) => recordedAt >= time).length);
    return Promise.resolve(since.slice(1).map((later, i) => (since[i] ?? 0) - later));
  };

  readonly stats: Engine['stats'] = () => {
    const { events, last } = this.#store;
    const bytes = events.reduce((sum, { attributes, data = '' }) => sum + attributes.length + data.length, 0);
    return Promise.resolve({ events: events.length, bytes, last });
  };

  readonly forget: Engine['forget'] = (positions) => {
    const held = new Set(this.#store.events.map(({ position }) => position));
    const gone = new Set(positions);
    this.#keep(({ position }) => !gone.has(position));
    return Promise.resolve(positions.filter((position) => held.has(position)));
  };

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
