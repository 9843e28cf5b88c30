import type { StoredMsg } from '@nats-io/jetstream';
import type { NewEvent } from '../../events/stored-event';
import { decodeEvent } from './message';
import type { Stream } from './stream';

/** An event and its position. */
export interface PlacedEvent {
  readonly sequence: number;
  readonly event: NewEvent;
  /** Bytes of its message. */
  readonly bytes: number;
}

/** Maximum messages that are asked for at a time, unless the caller says fewer, and about how many bytes. */
const WINDOW_MESSAGES = 256;
const WINDOW_BYTES = 8 * 1024 * 1024;
/** Messages that are asked for at first while nothing is known of their size. */
const UNKNOWN_MESSAGES = 16;

/**
 * Reads events from the stream, each with a request of its own, many at a time. All requests go to the stream's leader:
 * another replica may lag behind, and one that was cut off may number events differently (nats-server 2.9.10). Messages
 * that another program stored in the stream are passed over.
 */
export class EventWalk {
  readonly #stream: Stream;
  readonly #windowMessages: number;
  /** What the next messages are expected to have. Events come in kinds: after a large one, others as large. */
  #bytesEach = WINDOW_BYTES / UNKNOWN_MESSAGES;

  /** @param windowMessages - maximum messages that are asked for at a time. */
  constructor(events: Stream, windowMessages = WINDOW_MESSAGES) {
    this.#stream = events;
    this.#windowMessages = windowMessages;
  }

  /** The event at a position, unless it was forgotten, is yet to come, or the message is not an event. */
  async at(sequence: number): Promise<PlacedEvent | undefined> {
    return placed(await this.#stream.at(sequence));
  }

  /** The events after a position, oldest first, up to `most`. */
  upwards(after: number, most: number): AsyncGenerator<PlacedEvent> {
    return this.#walk(after + 1, 1, most);
  }

  /** The newest events before a position, newest first, up to `most`. */
  downwards(before: number, most: number): AsyncGenerator<PlacedEvent> {
    return this.#walk(before - 1, -1, most);
  }

  async *#walk(start: number, direction: 1 | -1, most: number): AsyncGenerator<PlacedEvent> {
    const isUpwards = direction === 1;
    const { first, last, messages, bytes } = await this.#stream.state();
    this.#bytesEach = Math.max(1, bytes / Math.max(1, messages));
    let left = most;
    for (let next = isUpwards ? Math.max(start, first) : Math.min(start, last); next >= first && next <= last;) {
      const from = next;
      const size = this.#windowSize(Math.min(left, isUpwards ? last - from + 1 : from - first + 1));
      const positions = Array.from({ length: size }, (_, i) => from + i * direction);
      const found = await this.#fetch(positions, (position) => this.at(position));
      yield* found;
      left -= found.length;
      if (left <= 0) return;
      next += size * direction;
      if (found.length === 0) next = await (isUpwards ? this.#firstFrom(next, last) : this.#lastUpTo(next, first));
    }
  }

  /** The events on some subjects: with `after` those after that position, oldest first; otherwise newest first. */
  async *onSubjects(subjects: readonly string[], after: number | undefined, most: number): AsyncGenerator<PlacedEvent> {
    const found = this.#inWindows(subjects, async (subject) => placed(await this.#stream.last(subject)));
    // Their order is not known yet, and together they may be large: only the positions of several are kept.
    const positions: number[] = [];
    for await (const event of found) {
      if (event.sequence <= (after ?? 0)) continue;
      if (subjects.length === 1) yield event;
      else positions.push(event.sequence);
    }
    positions.sort((a, b) => (after === undefined ? b - a : a - b));
    yield* this.#inWindows(positions.slice(0, most), (position) => this.at(position));
  }

  async *#inWindows<T>(items: readonly T[], get: Get<T>): AsyncGenerator<PlacedEvent> {
    for (let done = 0; done < items.length;) {
      const some = items.slice(done, done + this.#windowSize(items.length - done));
      yield* await this.#fetch(some, get);
      done += some.length;
    }
  }

  #windowSize(most: number): number {
    return Math.min(this.#windowMessages, most, Math.max(1, Math.floor(WINDOW_BYTES / this.#bytesEach)));
  }

  async #fetch<T>(items: readonly T[], get: Get<T>): Promise<PlacedEvent[]> {
    const found = (await Promise.all(items.map(get))).filter((event) => event !== undefined);
    if (found.length > 0) this.#bytesEach = Math.max(1, ...found.map(({ bytes }) => bytes));
    return found;
  }

  /** The first position from one on that holds a message; one after the last where there is no more. */
  async #firstFrom(position: number, last: number): Promise<number> {
    if (position > last) return position;
    return (await this.#stream.next(position))?.seq ?? last + 1;
  }

  /** The last position up to one that holds a message; one before the first where there is no more. */
  async #lastUpTo(position: number, first: number): Promise<number> {
    let found = first - 1;
    for (let beyond = position + 1; found + 1 < beyond;) {
      const middle = Math.floor((found + beyond) / 2);
      const next = await this.#stream.next(middle);
      if (next === undefined || next.seq > position) beyond = middle;
      else found = next.seq;
    }
    return found;
  }
}

type Get<T> = (item: T) => Promise<PlacedEvent | undefined>;

function placed(message: StoredMsg | undefined): PlacedEvent | undefined {
  const decoded = message && decodeEvent(message.data);
  return decoded && { sequence: message.seq, event: decoded.event, bytes: message.data.length };
}
