import type { StoredMsg } from '@nats-io/jetstream';
import type { NewEvent } from '../../events/stored-event';
import type { JetStreamIds } from './ids';
import { decodeEvent } from './message';
import type { StreamNames } from './schema';
import type { JetStreamStore, StreamState } from './store';

/** An event and its position. */
export interface PlacedEvent {
  readonly sequence: number;
  readonly event: NewEvent;
  /** Bytes of its message. */
  readonly bytes: number;
}

/** Most messages that are asked for at a time, unless the caller says fewer, and about how many bytes. */
const WINDOW_MESSAGES = 256;
const WINDOW_BYTES = 8 * 1024 * 1024;
/** As many are asked for at first while nothing is known of their size. */
const UNKNOWN_MESSAGES = 16;

/**
 * Reads events from the stream, each with a request of its own, many at a time. All requests go to the stream's leader:
 * another replica may lag behind, and one that was cut off may number events differently (nats-server 2.9.10). Messages
 * that another program stored in the stream are passed over.
 */
export class JetStreamReader {
  readonly #names: StreamNames;
  readonly #store: JetStreamStore;
  readonly #ids: JetStreamIds;

  constructor(names: StreamNames, store: JetStreamStore, ids: JetStreamIds) {
    this.#names = names;
    this.#store = store;
    this.#ids = ids;
  }

  /** What the stream of events holds. */
  state(deadline: number): Promise<StreamState> {
    return this.#store.state(this.#names.events, deadline);
  }

  /** The events after a position, oldest first, as many as the caller takes. */
  async *upwards(
    after: number,
    most: number,
    deadline: number,
    windowMessages = WINDOW_MESSAGES,
  ): AsyncGenerator<PlacedEvent> {
    const { first, last, messages, bytes } = await this.state(deadline);
    const window = new Window(bytes / Math.max(1, messages), windowMessages);
    let left = most;
    for (let position = Math.max(after + 1, first); position <= last && left > 0;) {
      const start = position;
      const size = window.size(Math.min(left, last - start + 1));
      const found = await this.#fetch(size, (i) => this.at(start + i, deadline), window);
      yield* found;
      left -= found.length;
      position += size;
      if (found.length === 0) position = await this.#firstFrom(position, last, deadline);
    }
  }

  /** The newest events before a position, newest first, as many as the caller takes. */
  async *downwards(
    before: number,
    most: number,
    deadline: number,
    windowMessages = WINDOW_MESSAGES,
  ): AsyncGenerator<PlacedEvent> {
    const { first, last, messages, bytes } = await this.state(deadline);
    const window = new Window(bytes / Math.max(1, messages), windowMessages);
    let left = most;
    for (let position = Math.min(last, before - 1); position >= first && left > 0;) {
      const end = position;
      const size = window.size(Math.min(left, end - first + 1));
      const found = await this.#fetch(size, (i) => this.at(end - i, deadline), window);
      yield* found;
      left -= found.length;
      position -= size;
      if (found.length === 0) position = await this.#lastUpTo(position, first, deadline);
    }
  }

  /** The events with an id: with `after` those after that position, oldest first; otherwise newest first. */
  async *withId(id: string, after: number | undefined, most: number, deadline: number): AsyncGenerator<PlacedEvent> {
    const { events } = this.#names;
    const subjects = await this.#ids.slotsOf(id, deadline);
    const last = async (i: number) => placed(await this.#store.last(events, subjects[i] ?? '', deadline));
    const positions: number[] = [];
    const window = new Window(WINDOW_BYTES / UNKNOWN_MESSAGES);
    for (let done = 0; done < subjects.length;) {
      const start = done;
      const size = window.size(subjects.length - start);
      const found = await this.#fetch(size, (i) => last(start + i), window);
      if (subjects.length === 1) {
        yield* found.filter(({ sequence }) => sequence > (after ?? 0));
        return;
      }
      // Their order is not known yet, and together they may be large: only the positions are kept.
      positions.push(...found.map(({ sequence }) => sequence));
      done += size;
    }
    positions.sort((a, b) => (after === undefined ? b - a : a - b));
    const wanted = after === undefined ? positions : positions.filter((position) => position > after);
    yield* this.#atAll(wanted.slice(0, most), window, deadline);
  }

  async *#atAll(positions: readonly number[], window: Window, deadline: number): AsyncGenerator<PlacedEvent> {
    for (let done = 0; done < positions.length;) {
      const start = done;
      const size = window.size(positions.length - start);
      yield* await this.#fetch(size, (i) => this.at(positions[start + i] ?? 0, deadline), window);
      done += size;
    }
  }

  /** The event at a position. Undefined: it was forgotten, is yet to come, or the message is not an event. */
  async at(sequence: number, deadline: number): Promise<PlacedEvent | undefined> {
    return placed(await this.#store.at(this.#names.events, sequence, deadline));
  }

  async #fetch(
    size: number,
    fetch: (i: number) => Promise<PlacedEvent | undefined>,
    window: Window,
  ): Promise<PlacedEvent[]> {
    const fetched = await Promise.all(Array.from({ length: size }, (_, i) => fetch(i)));
    const found = fetched.filter((event) => event !== undefined);
    window.expect(found);
    return found;
  }

  /** The first position from one on that holds a message; where there is no more, one after the last. */
  async #firstFrom(position: number, last: number, deadline: number): Promise<number> {
    if (position > last) return position;
    return (await this.#store.next(this.#names.events, position, deadline))?.seq ?? last + 1;
  }

  /** The last position up to one that holds a message; where there is no more, one before the first. */
  async #lastUpTo(position: number, first: number, deadline: number): Promise<number> {
    if (position < first) return position;
    const firstFrom = async (from: number) => {
      const next = await this.#store.next(this.#names.events, from, deadline);
      return next !== undefined && next.seq <= position ? next.seq : undefined;
    };
    let found: number | undefined;
    let from = position;
    for (let step = 1; found === undefined; step *= 2) {
      if (from === first) return first - 1;
      from = Math.max(first, position - step);
      found = await firstFrom(from);
    }
    for (let beyond = position + 1; found + 1 < beyond;) {
      const middle = Math.floor((found + beyond) / 2);
      const next = await firstFrom(middle);
      if (next === undefined) beyond = middle;
      else found = next;
    }
    return found;
  }
}

/** Chooses how many messages to ask for at a time. */
class Window {
  #bytesEach: number;
  readonly #messages: number;

  constructor(bytesEach: number, messages = WINDOW_MESSAGES) {
    this.#bytesEach = Math.max(1, bytesEach);
    this.#messages = messages;
  }

  size(most: number): number {
    return Math.min(this.#messages, most, Math.max(1, Math.floor(WINDOW_BYTES / this.#bytesEach)));
  }

  /** Events come in kinds: after a large one, expect others as large. */
  expect(events: readonly PlacedEvent[]): void {
    if (events.length > 0) this.#bytesEach = Math.max(1, ...events.map(({ bytes }) => bytes));
  }
}

function placed(message: StoredMsg | undefined): PlacedEvent | undefined {
  const decoded = message && decodeEvent(message.data);
  return decoded && { sequence: message.seq, event: decoded.event, bytes: message.data.length };
}
