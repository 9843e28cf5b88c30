import { StoredEvent } from '../../events/stored-event';
import { EventLogError } from '../engine';
import { isOfType } from '../search';
import { decodeEvent } from './message';
import type { Message, Stream } from './stream';

/** The positions between which events are read, and in which order. No more than `most` are asked for at a time. */
export interface Part {
  readonly after: number;
  readonly before: number;
  readonly isUpwards: boolean;
  readonly most: number;
}

/** Maximum messages of a window, which are asked for at a time, and about how many bytes. */
const WINDOW_MESSAGES = 256;
const WINDOW_BYTES = 8 * 1024 * 1024;

/** How long a read looks for the first event of a type, in milliseconds. */
const SEARCH_TIME = 2000;

/** A smaller window for searches: each holds this thread up for two milliseconds. */
export const SEARCH_WINDOW = 32;

/** How many searches without a result are remembered. */
const MAX_REMEMBERED = 64;

/**
 * Reads events, each with a request of its own, many at a time. All requests go to the stream's leader, the server that puts its messages
 * in order: another may lag behind, and one that was cut off may number events differently (nats-server 2.9.10). When the leader changes,
 * the requests of one window may be answered by two servers, one of which does not have the last messages yet. So a position without a
 * message is a hole only if a server says so that has a later message: a reader who goes on after the last event has missed none.
 *
 * Messages that another program stored are passed over.
 */
export class StreamWalk {
  constructor(
    private readonly stream: Stream,
    private readonly windowMessages = WINDOW_MESSAGES,
  ) {}

  /** The event at a position, unless it was forgotten, is yet to come, or the message is not an event. */
  async at(position: number): Promise<StoredEvent | undefined> {
    const message = await this.stream.at(position);
    return message && storedEvent(message);
  }

  async *events(part: Part): AsyncGenerator<StoredEvent> {
    for await (const message of this.#messages(part)) {
      const event = storedEvent(message);
      if (event !== undefined) yield event;
    }
  }

  async *#messages({ after, before, isUpwards, most }: Part): AsyncGenerator<Message> {
    const state = await this.stream.state();
    let bytesEach = state.bytes / Math.max(1, state.messages);
    const from = Math.max(after + 1, state.first_seq);
    const to = Math.min(before - 1, state.last_seq);
    const count = to - from + 1;
    // Downwards it begins with the first message that is found.
    let passed = isUpwards ? from - 1 : undefined;
    for (let done = 0; done < count;) {
      const fitting = Math.max(1, Math.floor(WINDOW_BYTES / bytesEach));
      const size = Math.min(this.windowMessages, fitting, most, count - done);
      const window = Array.from({ length: size }, (_, i) => (isUpwards ? from + done + i : to - done - i));
      const fetched = await Promise.all(window.map((position) => this.stream.at(position)));
      const messages = fetched.filter((message) => message !== undefined);
      // After a large message, others as large are expected.
      if (messages.length > 0) bytesEach = Math.max(...messages.map(({ data }) => data.length));
      for (const message of messages) {
        if (passed !== undefined) yield* await this.#between(passed, message.seq);
        yield message;
        passed = message.seq;
      }
      done += size;
    }
  }

  /** The messages between a position that was passed and the next one that was found: a server that lags behind may not have had them. */
  async #between(passed: number, found: number): Promise<Message[]> {
    const end = Math.max(passed, found);
    let position = Math.min(passed, found);
    const between: Message[] = [];
    while (position < end - 1) {
      const next = await this.stream.firstAfter(position);
      if (next.seq < end) between.push(next);
      position = next.seq;
    }
    return passed < found ? between : between.reverse();
  }

  /** The events on some subjects, one on each, in a part of the log. */
  async *onSubjects(subjects: readonly string[], { after, before, isUpwards }: Part): AsyncGenerator<StoredEvent> {
    // Together they may be large: only their positions are kept until their order is known.
    const positions: number[] = [];
    for (const subject of subjects) {
      const last = await this.stream.last(subject);
      if (last !== undefined && last.seq > after && last.seq < before) positions.push(last.seq);
    }
    positions.sort((a, b) => (isUpwards ? a - b : b - a));
    for (const position of positions) {
      const event = await this.at(position);
      if (event !== undefined) yield event;
    }
  }
}

function storedEvent({ seq, data }: Message): StoredEvent | undefined {
  const decoded = decodeEvent(data);
  return decoded && { ...decoded.event, position: seq };
}

/** Finds events of a type by looking at each event: servers have no index of types. */
export class TypeSearch {
  /** Positions up to which there is no event of a type after another position: readers of a rare type repeat their search. */
  readonly #reached = new Map<string, number>();

  /** @throws {EventLogError} none was found in time. Asked again, a search upwards goes on. */
  async *find(events: Stream, type: string, part: Part): AsyncGenerator<StoredEvent> {
    const deadline = performance.now() + SEARCH_TIME;
    const search = `${String(part.after)} ${type}`;
    const remembered = part.isUpwards ? this.#reached.get(search) : undefined;
    // A stream that ends earlier has replaced the one that was searched.
    let reached = remembered !== undefined && remembered <= (await events.state()).last_seq ? remembered : part.after;
    let isFound = false;
    try {
      for await (const event of new StreamWalk(events, SEARCH_WINDOW).events({ ...part, after: reached })) {
        if (isOfType(type, StoredEvent.typeOf(event))) {
          isFound = true;
          yield event;
        }
        if (!isFound) reached = event.position;
        if (performance.now() < deadline) continue;
        if (isFound) return;
        throw new EventLogError(
          'No event of this type was found yet, and there are more to look at. Ask again; with after the search goes on.',
        );
      }
    } finally {
      if (this.#reached.size === MAX_REMEMBERED) this.#reached.clear();
      if (part.isUpwards) this.#reached.set(search, reached);
    }
  }
}
