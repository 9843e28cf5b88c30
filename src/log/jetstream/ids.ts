import type { StoredMsg } from '@nats-io/jetstream';
import type { NewEvent } from '../../events/stored-event';
import type { StreamNames } from './schema';
import type { JetStreamStore } from './store';
import { keySubject, slotSubject } from './subjects';

/** An entry on the subject of an id: one source has an event with it. */
interface Entry {
  /** The subject of the event. */
  readonly slot: string;
  /** The position of an entry at or before the first one; undefined: this is the first. */
  readonly first?: number;
}

/** Most requests that look for the entries of one id at the same time. */
const SEARCHES = 16;

/**
 * Finds the events with an id, whatever their source. An event of another source than the service's own gets an entry in
 * the stream of keys, all entries of an id on one subject.
 *
 * A filter of the stream's subjects would need no entries. But nats-server 2.9 compares all subjects with a filter that has
 * a wildcard and stores nothing meanwhile: 70 ms with 300,000 events, over a second with a million (2.9.10, two busy cores).
 */
export class JetStreamIds {
  readonly #names: StreamNames;
  readonly #store: JetStreamStore;
  readonly #ownSources: readonly string[];

  /** @param ownSources - the sources of the service's own events, now and before. */
  constructor(names: StreamNames, store: JetStreamStore, ownSources: readonly string[]) {
    this.#names = names;
    this.#store = store;
    this.#ownSources = ownSources;
  }

  /** Enters an event if its id has no entry yet. False: it has one, and the event needs another if it is new. */
  async start(event: NewEvent, deadline: number): Promise<boolean> {
    if (this.#ownSources.includes(event.source)) return true;
    const entry = encode({ slot: slotSubject(this.#names.events, event) });
    return (await this.#store.putFirst(this.#subjectOf(event.id), entry, deadline)) !== undefined;
  }

  /** Enters a new event whose id has an entry. */
  async add(event: NewEvent, deadline: number): Promise<void> {
    const last = await this.#last(event.id, deadline);
    if (last === undefined) {
      if (!(await this.start(event, deadline))) await this.add(event, deadline);
      return;
    }
    const slot = slotSubject(this.#names.events, event);
    const first = decode(last)?.first ?? last.seq;
    await this.#store.put(this.#subjectOf(event.id), encode({ slot, first }), deadline);
  }

  /** Enters an event that may be new or not, unless it is entered. */
  async ensure(event: NewEvent, deadline: number): Promise<void> {
    const slot = slotSubject(this.#names.events, event);
    const last = await this.#last(event.id, deadline);
    if (last !== undefined && decode(last)?.slot === slot) return;
    if (!(await this.slotsOf(event.id, deadline)).includes(slot)) await this.add(event, deadline);
  }

  /** Removes the entries of an event. */
  async erase(event: NewEvent): Promise<void> {
    const { events, keys } = this.#names;
    const slot = slotSubject(events, event);
    await this.#store.eraseAll(keys, this.#subjectOf(event.id), (message) => decode(message)?.slot === slot);
  }

  /** The subjects on which events with an id may be. */
  async slotsOf(id: string, deadline: number): Promise<string[]> {
    const own = this.#ownSources.map((source) => slotSubject(this.#names.events, { id, source }));
    const last = await this.#last(id, deadline);
    if (last === undefined) return own;
    const entries = [decode(last), ...(await this.#entriesBefore(last, id, deadline))];
    return [...new Set([...own, ...entries.flatMap((entry) => entry?.slot ?? [])])];
  }

  async #entriesBefore(last: StoredMsg, id: string, deadline: number): Promise<(Entry | undefined)[]> {
    const first = decode(last)?.first ?? last.seq;
    const step = Math.ceil((last.seq - first) / SEARCHES);
    const starts = Array.from({ length: SEARCHES }, (_, i) => first + i * step).filter((start) => start < last.seq);
    const found = await Promise.all(
      starts.map((start) => this.#entriesBetween(start, Math.min(start + step, last.seq), id, deadline)),
    );
    return found.flat();
  }

  async #entriesBetween(start: number, end: number, id: string, deadline: number): Promise<(Entry | undefined)[]> {
    const entries: (Entry | undefined)[] = [];
    for (let position = start; position < end;) {
      const message = await this.#store.next(this.#names.keys, position, deadline, this.#subjectOf(id));
      if (message === undefined || message.seq >= end) break;
      entries.push(decode(message));
      position = message.seq + 1;
    }
    return entries;
  }

  #last(id: string, deadline: number): Promise<StoredMsg | undefined> {
    return this.#store.last(this.#names.keys, this.#subjectOf(id), deadline);
  }

  #subjectOf(id: string): string {
    return keySubject(this.#names.keys, ['id', id]);
  }
}

function encode(entry: Entry): Buffer {
  return Buffer.from(JSON.stringify(entry));
}

/** Reads what {@link encode} writes. Undefined: another program wrote it. */
function decode({ data }: StoredMsg): Entry | undefined {
  try {
    const entry = JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString()) as Entry;
    return typeof entry.slot === 'string' ? entry : undefined;
  } catch {
    return undefined;
  }
}
