import type { StoredMsg } from '@nats-io/jetstream';
import type { JetStreamConnection } from './jetstream-connection';
import { decodeEvent } from './jetstream-message';
import type { JetStreamSources } from './jetstream-sources';
import type { StreamNames } from './jetstream-streams';
import { slotOf } from './jetstream-subjects';
import type { JetStreamWriter } from './jetstream-writer';
import type { NewEvent } from './event-log';

/** An event and its position. */
export interface PlacedEvent {
  readonly sequence: number;
  readonly event: NewEvent;
  /** Bytes of its message. */
  readonly bytes: number;
}

/** What a stream holds. */
export interface Extent {
  /** The first position that retention has not passed, and the last one; where there is no event, the one before. */
  readonly first: number;
  readonly last: number;
  readonly events: number;
  readonly bytes: number;
}

/** Most messages, and about how many bytes of them, that are asked for at a time. */
const WINDOW_MESSAGES = 256;
const WINDOW_BYTES = 8 * 1024 * 1024;

/**
 * Reads events of the stream, each by a request of its own, many of which are under way at a time. All go to the stream's
 * leader: another replica may be behind, and one that was cut off may number events differently (nats-server 2.9.10).
 */
export class JetStreamReader {
  readonly #connection: JetStreamConnection;
  readonly #names: StreamNames;
  readonly #writer: JetStreamWriter;
  readonly #sources: JetStreamSources;

  constructor(connection: JetStreamConnection, names: StreamNames, writer: JetStreamWriter, sources: JetStreamSources) {
    this.#connection = connection;
    this.#names = names;
    this.#writer = writer;
    this.#sources = sources;
  }

  /** What the stream holds, as its leader has it. */
  async extent(deadline: number): Promise<Extent> {
    const { manager } = this.#connection;
    const { state } = await this.#connection.persist(deadline, () => manager.streams.info(this.#names.events));
    return { first: Math.max(1, state.first_seq), last: state.last_seq, events: state.messages, bytes: state.bytes };
  }

  /** The events from a position on, oldest first; as many as the caller takes. */
  async *upwards(after: number, most: number, deadline: number): AsyncGenerator<PlacedEvent> {
    const extent = await this.extent(deadline);
    yield* this.#walk({ ...extent, first: Math.max(after + 1, extent.first) }, 'up', most, deadline);
  }

  /** The newest events, newest first; as many as the caller takes. */
  async *downwards(most: number, deadline: number): AsyncGenerator<PlacedEvent> {
    yield* this.#walk(await this.extent(deadline), 'down', most, deadline);
  }

  async *#walk(
    { first, last, events, bytes: total }: Extent,
    direction: 'up' | 'down',
    most: number,
    deadline: number,
  ) {
    let weight = Math.max(1, total / Math.max(1, events));
    let left = most;
    const length = last - first + 1;
    for (let done = 0; done < length && left > 0;) {
      const room = Math.max(1, Math.floor(WINDOW_BYTES / weight));
      const size = Math.min(WINDOW_MESSAGES, room, left, length - done);
      const positions = Array.from({ length: size }, (_, i) =>
        direction === 'up' ? first + done + i : last - done - i,
      );
      const window = await Promise.all(positions.map((position) => this.at(position, deadline)));
      const found = window.filter((event) => event !== undefined);
      // Events come in kinds: after a large one others are taken for as large.
      weight = Math.max(1, ...found.map(({ bytes }) => bytes));
      yield* found;
      left -= found.length;
      done += size;
    }
  }

  /** The event at a position; undefined: there is none any more. */
  async at(sequence: number, deadline: number): Promise<PlacedEvent | undefined> {
    const message = await this.#writer.at(this.#names.events, sequence, deadline);
    return message === undefined ? undefined : placed(message);
  }

  /** The events with an id, newest first. */
  async withId(id: string, deadline: number): Promise<PlacedEvent[]> {
    const { events } = this.#names;
    const sources = await this.#sources.of(id, deadline);
    const messages = await Promise.all(
      sources.map((source) => this.#writer.last(events, slotOf(events, source, id), deadline)),
    );
    const found = messages.filter((message) => message !== undefined).map(placed);
    return found.sort((a, b) => b.sequence - a.sequence);
  }
}

function placed({ seq, data }: StoredMsg): PlacedEvent {
  return { sequence: seq, event: decodeEvent(data).event, bytes: data.length };
}
