import type { NewEvent } from '../../events/stored-event';
import type { EventQuery } from '../log-reader';
import { decodeEvent } from './message';
import type { Message, Stream } from './stream';

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
 * Reads events, each with a request of its own, many at a time. All requests go to the stream's leader: another replica may lag behind,
 * and one that was cut off may number events differently (nats-server 2.9.10). When the leader changes, those under way may be answered
 * by two servers, one of which does not have the last messages yet. So a position without a message is believed only of a server that
 * has a later one: a reader who goes on after the last event has missed none.
 *
 * Messages that another program stored are passed over.
 */
export class StreamWalk {
  readonly #stream: Stream;
  readonly #windowMessages: number;
  /** The expected size of the next messages. Events come in kinds: after a large one, others as large. */
  #bytesEach = WINDOW_BYTES / UNKNOWN_MESSAGES;

  /** @param windowMessages - maximum messages that are asked for at a time. */
  constructor(stream: Stream, windowMessages = WINDOW_MESSAGES) {
    this.#stream = stream;
    this.#windowMessages = windowMessages;
  }

  /** The event at a position, unless it was forgotten, is yet to come, or the message is not an event. */
  async at(sequence: number): Promise<PlacedEvent | undefined> {
    const message = await this.#stream.at(sequence);
    return message && placed(message);
  }

  /** The events after a position, oldest first, up to `most`. */
  upwards(after: number, most: number): AsyncGenerator<PlacedEvent> {
    return events(this.#messages(after + 1, 1, most), most);
  }

  /** The newest events before a position, newest first, up to `most`. */
  downwards(before: number, most: number): AsyncGenerator<PlacedEvent> {
    return events(this.#messages(before - 1, -1, most), most);
  }

  /** The messages from a position on. */
  async *#messages(start: number, direction: 1 | -1, most: number): AsyncGenerator<Message> {
    const isUpwards = direction === 1;
    const { first, last, messages, bytes } = await this.#stream.state();
    this.#bytesEach = Math.max(1, bytes / Math.max(1, messages));
    let next = isUpwards ? Math.max(start, first) : Math.min(start, last);
    let passed = isUpwards ? next - 1 : undefined;
    while (next >= first && next <= last) {
      const size = this.#windowSize(Math.min(most, isUpwards ? last - next + 1 : next - first + 1));
      const positions = Array.from({ length: size }, (_, i) => next + i * direction);
      for (const message of await this.#fetch(positions, (position) => this.#stream.at(position))) {
        if (passed !== undefined) yield* await this.#between(passed, message.seq);
        yield message;
        passed = message.seq;
      }
      next += size * direction;
    }
  }

  /** The messages between a position that was passed and the next one that was found: those that a server did not have yet. */
  async #between(passed: number, found: number): Promise<Message[]> {
    const between: Message[] = [];
    const end = Math.max(passed, found);
    for (let position = Math.min(passed, found) + 1; position < end; position++) {
      const message = await this.#stream.firstAfter(position - 1);
      if (message.seq < end) between.push(message);
      position = message.seq;
    }
    return passed < found ? between : between.reverse();
  }

  /** The events on some subjects between two positions: with `after` oldest first, otherwise newest first. */
  async *onSubjects(
    subjects: readonly string[],
    { after, before = Infinity }: Pick<EventQuery, 'after' | 'before'>,
    most: number,
  ): AsyncGenerator<PlacedEvent> {
    // Their order is not known yet, and together they may be large: only the positions of several are kept.
    const positions: number[] = [];
    for await (const event of this.#eachOf(subjects, (subject) => this.#stream.last(subject))) {
      if (event.sequence <= (after ?? 0) || event.sequence >= before) continue;
      if (subjects.length === 1) yield event;
      else positions.push(event.sequence);
    }
    positions.sort((a, b) => (after === undefined ? b - a : a - b));
    yield* this.#eachOf(positions.slice(0, most), (position) => this.#stream.at(position));
  }

  async *#eachOf<T>(items: readonly T[], get: Get<T>): AsyncGenerator<PlacedEvent> {
    for (let done = 0; done < items.length;) {
      const some = items.slice(done, done + this.#windowSize(items.length - done));
      for (const message of await this.#fetch(some, get)) {
        const event = placed(message);
        if (event !== undefined) yield event;
      }
      done += some.length;
    }
  }

  #windowSize(most: number): number {
    return Math.min(this.#windowMessages, most, Math.max(1, Math.floor(WINDOW_BYTES / this.#bytesEach)));
  }

  async #fetch<T>(items: readonly T[], get: Get<T>): Promise<Message[]> {
    const found = (await Promise.all(items.map(get))).filter((message) => message !== undefined);
    if (found.length > 0) this.#bytesEach = Math.max(1, ...found.map(({ data }) => data.length));
    return found;
  }
}

/** The events of a walk up to the first that is not between two positions. */
export async function* within(
  placed: AsyncGenerator<PlacedEvent>,
  after: number,
  before: number,
): AsyncGenerator<PlacedEvent> {
  for await (const one of placed) {
    if (one.sequence <= after || one.sequence >= before) return;
    yield one;
  }
}

type Get<T> = (item: T) => Promise<Message | undefined>;

async function* events(messages: AsyncGenerator<Message>, most: number): AsyncGenerator<PlacedEvent> {
  let left = most;
  for await (const message of messages) {
    const event = placed(message);
    if (event === undefined) continue;
    yield event;
    left--;
    if (left === 0) return;
  }
}

function placed(message: Message): PlacedEvent | undefined {
  const decoded = decodeEvent(message.data);
  return decoded && { sequence: message.seq, event: decoded.event, bytes: message.data.length };
}
