import { KeyConflict } from '../../events/key-conflict';
import { type NewEvent, StoredEvent } from '../../events/stored-event';
import type { Appended, Engine, Retention } from '../engine';
import { EventLog } from '../event-log';
import { pageFrom, type EventQuery } from '../queries';
import { isOfType, searchStep } from '../search';

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
export function openMemoryLog(retention?: Retention, store = new MemoryStore()): EventLog {
  return new EventLog(engineOn(store), { retention });
}

function engineOn(store: MemoryStore): Engine {
  const record = (event: NewEvent): Appended => {
    const { events, byKey } = store;
    const keys = keysOf(event);
    for (const key of ['idempotencyKey', 'webhookId'] as const) {
      const first = event[key] === undefined ? undefined : byKey.get(JSON.stringify([key, event[key]]));
      if (first) return { id: first.id, recorded: false, conflict: KeyConflict.between(key, event, first) };
    }
    if (keys.some((key) => byKey.has(key))) return { id: event.id, recorded: false };
    const own = { ...event, position: ++store.last };
    events.push(own);
    for (const key of keys) byKey.set(key, own);
    return { id: event.id, recorded: true };
  };

  const remove = (isGone: (event: StoredEvent, index: number) => boolean): number[] => {
    const gone = store.events.filter(isGone);
    for (const key of gone.flatMap(keysOf)) store.byKey.delete(key);
    if (gone.length > 0) store.events = store.events.filter((event, i) => !isGone(event, i));
    return gone.map(({ position }) => position);
  };

  return {
    readsAtOnce: 2,
    watchPause: 20,
    retention: {
      busyPause: 1,
      idlePause: 100,
      step({ maxEvents = Infinity, maxAge = Infinity }) {
        const horizon = Date.now() - maxAge;
        const surplus = store.events.length - maxEvents;
        remove(({ recordedAt }, i) => i < surplus || recordedAt < horizon);
        return Promise.resolve(false);
      },
    },
    append: (events) => Promise.resolve(events.map(record)),
    check: () => Promise.resolve(),
    newest: () => Promise.resolve(store.last),
    verify: () => Promise.resolve([]),
    close: () => Promise.resolve(),

    read(query) {
      const { id, type } = query;
      const isAsked = (event: StoredEvent): boolean =>
        (id === undefined || event.id === id) && (type === undefined || isOfType(type, StoredEvent.typeOf(event)));
      return pageFrom(between(store.events, query, isAsked), query);
    },

    search(query) {
      let events = 0;
      return searchStep(between(store.events, query), query, () => ++events === STEP_EVENTS);
    },

    counts(times) {
      const since = times.map((time) => store.events.filter(({ recordedAt }) => recordedAt >= time).length);
      return Promise.resolve(since.slice(1).map((later, i) => (since[i] ?? 0) - later));
    },

    stats() {
      const { events } = store;
      const bytes = events.reduce((sum, { attributes, data = '' }) => sum + attributes.length + data.length, 0);
      return Promise.resolve({ events: events.length, bytes });
    },

    forget(positions) {
      const given = new Set(positions);
      return Promise.resolve(remove(({ position }) => given.has(position)));
    },
  };
}

/** The events between the positions of a query, from the end at which it begins. */
function* between(
  events: readonly StoredEvent[],
  { after, before = Infinity }: Pick<EventQuery, 'after' | 'before'>,
  isAsked: (event: StoredEvent) => boolean = () => true,
): Generator<StoredEvent> {
  // Most readers ask for the newest.
  const countTo = (last: number) => events.findLastIndex(({ position }) => position <= last) + 1;
  const [first, end] = [after === undefined ? 0 : countTo(after), countTo(before - 1)];
  for (let i = first; i < end; i++) {
    const event = events[after === undefined ? end - 1 - i : i] as StoredEvent;
    if (isAsked(event)) yield event;
  }
}

function keysOf({ id, source, idempotencyKey, webhookId }: NewEvent): string[] {
  const keys = [['id', source, id]];
  if (idempotencyKey !== undefined) keys.push(['idempotencyKey', idempotencyKey]);
  if (webhookId !== undefined) keys.push(['webhookId', webhookId]);
  return keys.map((key) => JSON.stringify(key));
}
