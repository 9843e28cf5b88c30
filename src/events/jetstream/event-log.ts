import {
  EventLogError,
  type Appended,
  type Commit,
  type EventLog,
  type EventQuery,
  type LoggedEvent,
  type NewEvent,
  type Retention,
  type StoredEvent,
} from './event-log';
import { JetStreamConnection, type NatsAddress } from './jetstream-connection';
import { JetStreamReader, type PlacedEvent } from './jetstream-reader';
import { JetStreamRecorder } from './jetstream-recorder';
import { JetStreamSources } from './jetstream-sources';
import { provideStreams, requireStreams, streamNames, type StreamNames } from './jetstream-streams';
import { JetStreamWriter } from './jetstream-writer';
import { Page, SCAN_BYTES, sizeOf } from './page';
import { paddedSequence, sequenceNumber } from './position';

/** Which event log of a NATS cluster is opened, and how. */
export interface JetStreamOptions extends NatsAddress {
  /** Name of the stream; a second one, for the keys of senders, has `_KEYS` behind it. */
  readonly stream: string;
  /** On how many servers the log is kept. */
  readonly replicas: number;
  /** The longest that a call waits, in milliseconds. */
  readonly timeout: number;
  readonly retention: Retention;
  /** The source of the service's own events: they are found by their id without being listed under it. */
  readonly source: string;
  /** Whether the streams are made where they are missing; otherwise they must be there, and may have any settings. */
  readonly create: boolean;
}

/** A replica that has not been heard for longer, in milliseconds, is not counted on. */
const SILENCE = 3000;
const NANOSECONDS = 1_000_000;

/**
 * The event log in a NATS JetStream: one stream for the events, one for the keys of senders, each replicated. Durable means
 * acknowledged by the stream, that is, kept by a majority of its replicas.
 */
export class JetStreamEventLog implements EventLog {
  readonly #connection: JetStreamConnection;
  readonly #names: StreamNames;
  readonly #recorder: JetStreamRecorder;
  readonly #reader: JetStreamReader;
  readonly #calls = new Set<Promise<unknown>>();
  #committed: (commit: Commit) => void = () => undefined;
  #closing: Promise<void> | undefined;

  private constructor(connection: JetStreamConnection, names: StreamNames, sources: JetStreamSources) {
    this.#connection = connection;
    this.#names = names;
    const writer = new JetStreamWriter(connection);
    this.#recorder = new JetStreamRecorder(connection, names, writer, sources);
    this.#reader = new JetStreamReader(connection, names, writer, sources);
  }

  /**
   * Connects and makes sure of the streams.
   *
   * @throws {EventLogError} no server answers in time, the user is refused, or a stream has other settings. This message,
   * unlike those of the other methods, names the servers.
   */
  static async open(options: JetStreamOptions): Promise<JetStreamEventLog> {
    const names = streamNames(options.stream);
    let connection: JetStreamConnection | undefined;
    try {
      const deadline = Date.now() + options.timeout;
      connection = await JetStreamConnection.open(options, options.timeout);
      if (options.create) await provideStreams(connection, names, options, deadline);
      else await requireStreams(connection, names, deadline);
      const sources = new JetStreamSources(names.keys, new JetStreamWriter(connection));
      await sources.settle(options.create ? options.source : undefined, deadline);
      return new JetStreamEventLog(connection, names, sources);
    } catch (cause) {
      await connection?.close();
      const where = `${options.stream} on ${options.servers.join(',')}`;
      throw new EventLogError(`The event log ${where} cannot be opened.`, { cause });
    }
  }

  async append(event: NewEvent): Promise<Appended> {
    const started = performance.now();
    const appended = await this.#call('The event could not be recorded.', () => this.#recorder.record(event));
    this.#tell([appended], started);
    return appended;
  }

  async appendAll(events: readonly NewEvent[]): Promise<Appended[]> {
    const started = performance.now();
    const appended = await this.#call('The events could not be recorded.', () => this.#recorder.recordAll(events));
    this.#tell(appended, started);
    return appended;
  }

  #tell(appended: readonly Appended[], started: number): void {
    const recorded = appended.filter((event) => event.recorded).length;
    this.#committed({ events: appended.length, recorded, milliseconds: performance.now() - started });
  }

  onCommit(listener: (commit: Commit) => void): void {
    this.#committed = listener;
  }

  read(query: EventQuery): Promise<LoggedEvent[]> {
    return this.#reading(async (deadline) => {
      const page = new Page(query);
      const logged: LoggedEvent[] = [];
      for await (const placed of this.#chosen(query, deadline)) {
        const taken = page.take(sizeOf(placed.event));
        if (taken === 'full') break;
        logged.push(loggedEvent(placed, taken === 'without data'));
      }
      return logged.sort((a, b) => (a.sequence < b.sequence ? -1 : 1));
    });
  }

  /** The events that a query is about, in the order in which it takes them. */
  async *#chosen({ id, after, limit }: EventQuery, deadline: number): AsyncGenerator<PlacedEvent> {
    const position = after === undefined ? undefined : sequenceNumber(after);
    if (id === undefined) {
      if (position === undefined) yield* this.#reader.downwards(limit, deadline);
      else yield* this.#reader.upwards(position, limit, deadline);
    } else if (position === undefined) {
      yield* await this.#reader.withId(id, deadline);
    } else {
      yield* await this.#firstWithId(id, position, limit, deadline);
    }
  }

  async #firstWithId(id: string, after: number, limit: number, deadline: number): Promise<PlacedEvent[]> {
    // The reference to an event without its data leads here.
    const next = limit === 1 ? await this.#reader.at(after + 1, deadline) : undefined;
    if (next?.event.id === id) return [next];
    const all = await this.#reader.withId(id, deadline);
    return all
      .reverse()
      .filter(({ sequence }) => sequence > after)
      .slice(0, limit);
  }

  scan(after: bigint, limit: number): Promise<StoredEvent[]> {
    return this.#reading(async (deadline) => {
      const stored: StoredEvent[] = [];
      let bytes = 0;
      for await (const { sequence, event, bytes: size } of this.#reader.upwards(
        sequenceNumber(after),
        limit,
        deadline,
      )) {
        bytes += size;
        if (stored.length > 0 && bytes > SCAN_BYTES) break;
        stored.push({ ...event, sequence: paddedSequence(sequence) });
      }
      return stored;
    });
  }

  positionBefore(time: number): Promise<bigint> {
    return this.#reading(async (deadline) => {
      const { first, last } = await this.#reader.extent(deadline);
      // Every event up to `from` is older, every one behind `to` is not: times grow with positions.
      let from = first - 1;
      let to = last;
      while (from < to) {
        const middle = Math.floor((from + to) / 2) + 1;
        const placed = await this.#reader.at(middle, deadline);
        if (placed !== undefined && placed.event.recordedAt < time) from = middle;
        else to = middle - 1;
      }
      return BigInt(from);
    });
  }

  count(): Promise<number> {
    return this.#reading(async (deadline) => (await this.#reader.extent(deadline)).events);
  }

  bytes(): Promise<number> {
    return this.#reading(async (deadline) => {
      const { manager } = this.#connection;
      const streams = [this.#names.events, this.#names.keys].map((name) =>
        this.#connection.persist(deadline, () => manager.streams.info(name)),
      );
      return (await Promise.all(streams)).reduce((sum, { state }) => sum + state.bytes, 0);
    });
  }

  /** Asks the leader of each stream whether a majority of its replicas is at hand. */
  check(): Promise<void> {
    return this.#call('The event log cannot take events.', async () => {
      const deadline = this.#connection.deadline();
      for (const name of [this.#names.events, this.#names.keys]) {
        const { manager } = this.#connection;
        const { cluster, config } = await this.#connection.persist(deadline, () => manager.streams.info(name));
        const others = cluster?.replicas ?? [];
        const heard = others.filter(({ offline, active }) => !offline && active < SILENCE * NANOSECONDS).length;
        if ((heard + 1) * 2 <= config.num_replicas) {
          throw new Error(`of ${String(config.num_replicas)} replicas ${String(heard + 1)} answer`);
        }
      }
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#calls);
    await this.#recorder.settled();
    await this.#connection.close();
  }

  #reading<T>(read: (deadline: number) => Promise<T>): Promise<T> {
    return this.#call('The events could not be read.', () => read(this.#connection.deadline()));
  }

  async #call<T>(failure: string, action: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw new EventLogError('The event log is closed.');
    const call = action();
    this.#calls.add(call);
    try {
      return await call;
    } catch (cause) {
      throw new EventLogError(failure, { cause });
    } finally {
      this.#calls.delete(call);
    }
  }
}

function loggedEvent({ sequence, event: { id, attributes, data } }: PlacedEvent, dataOmitted: boolean): LoggedEvent {
  return { id, sequence: paddedSequence(sequence), attributes, data: dataOmitted ? undefined : data, dataOmitted };
}
