import type { JetStreamLocation } from '../../config/event-log-location';
import type { NewEvent, StoredEvent } from '../../events/stored-event';
import type { LogEngine, Recorded } from '../engine';
import { EngineLog } from '../engine-log';
import {
  EventLogError,
  type EventQuery,
  type LoggedEvent,
  type LogStats,
  type Progress,
  type Retention,
  type ScanQuery,
  type SearchQuery,
  type SearchResult,
} from '../event-log';
import { Page, SCAN_BYTES, paddedSequence, sequenceNumber, sizeOf } from '../page';
import { JetStreamConnection } from './connection';
import { JetStreamForgetting } from './forgetting';
import { JetStreamIds } from './ids';
import { JetStreamProbe } from './probe';
import { JetStreamRates } from './rates';
import { JetStreamReader, type PlacedEvent } from './reader';
import { JetStreamRecorder } from './recorder';
import { JetStreamRetention } from './retention';
import {
  infoOf,
  KEYS_EXTRA_AGE,
  keysMissing,
  noteOwnSource,
  provideStreams,
  requireEvents,
  streamNames,
  type StreamNames,
} from './schema';
import { JetStreamSearch } from './search';
import { JetStreamStore } from './store';
import { JetStreamWatch } from './watch';

/** Which event log of a NATS cluster is opened, and how. */
export interface JetStreamOptions extends JetStreamLocation {
  /** The longest that a call waits, in milliseconds. */
  readonly timeout: number;
  readonly retention: Retention;
  /** The source of the service's own events. */
  readonly source: string;
  /** Whether missing streams are made; otherwise they have to exist, with any settings. */
  readonly create: boolean;
  /** How long a key is kept after its event was forgotten, at least, in milliseconds; ten minutes by default. */
  readonly keysExtraAge?: number;
}

/** How far the clocks of an instance and a server may differ, in milliseconds. */
const CLOCK_TOLERANCE = 600_000;

/**
 * The event log on NATS JetStream: one stream for the events, one for the keys of senders, both replicated. Durable means
 * acknowledged by the stream, that is, kept by a majority of its replicas.
 */
export class JetStreamEventLog extends EngineLog {
  /**
   * Connects, and makes or checks the streams.
   *
   * @throws {EventLogError} no server answers in time, the user is refused, or a stream has other settings. Unlike the
   * messages of the other methods, this one names the servers.
   */
  static async open(options: JetStreamOptions): Promise<JetStreamEventLog> {
    const names = streamNames(options.stream);
    let connection: JetStreamConnection | undefined;
    try {
      const deadline = Date.now() + options.timeout;
      connection = await JetStreamConnection.open(options, options.timeout);
      if (options.create) await provideStreams(connection, names, options, deadline);
      else await requireEvents(connection, names, deadline);
      const { create, source } = options;
      const sources = create ? await noteOwnSource(connection, names, source, deadline) : [source];
      return new JetStreamEventLog(new JetStreamEngine(connection, names, options, sources));
    } catch (cause) {
      await connection?.close();
      const where = `${options.stream} on ${options.servers.join(',')}`;
      throw new EventLogError(`The event log ${where} cannot be opened.`, { cause });
    }
  }
}

class JetStreamEngine implements LogEngine {
  readonly searchPause = 10;
  /** How often the leader is asked although no consumer shows anything: one was once silent for two seconds. */
  readonly watchPause = 500;
  readonly retention: JetStreamRetention | undefined;
  readonly #connection: JetStreamConnection;
  readonly #names: StreamNames;
  readonly #store: JetStreamStore;
  readonly #recorder: JetStreamRecorder;
  readonly #reader: JetStreamReader;
  readonly #search: JetStreamSearch;
  readonly #rates: JetStreamRates;
  readonly #probe: JetStreamProbe;
  readonly #forgetting: JetStreamForgetting;

  constructor(connection: JetStreamConnection, names: StreamNames, options: JetStreamOptions, sources: string[]) {
    this.#connection = connection;
    this.#names = names;
    this.#store = new JetStreamStore(connection);
    const ids = new JetStreamIds(names, this.#store, sources);
    this.#recorder = new JetStreamRecorder(connection, names, this.#store, ids);
    this.#reader = new JetStreamReader(names, this.#store, ids);
    this.#search = new JetStreamSearch(this.#reader);
    this.#rates = new JetStreamRates(connection, names);
    this.#forgetting = new JetStreamForgetting(connection, names, this.#store, this.#reader, ids);
    this.#probe = new JetStreamProbe(connection, names, this.#store);
    const { create, retention, keysExtraAge = KEYS_EXTRA_AGE } = options;
    if (create && (retention.maxEvents !== undefined || retention.maxAge !== undefined)) {
      const { maxAge } = retention;
      this.retention = new JetStreamRetention(connection, names, this.#store, this.#reader, maxAge, keysExtraAge);
    }
  }

  async appendAll(events: readonly NewEvent[]): Promise<Recorded> {
    try {
      return { appended: await this.#recorder.record(events) };
    } catch (error) {
      this.#probe.distrust();
      throw error;
    }
  }

  async newest(): Promise<number> {
    return (await this.#reader.state(this.#connection.deadline())).last;
  }

  follow(tell: (newest: number) => void): () => Promise<void> {
    const watch = new JetStreamWatch(this.#connection, this.#names, () => this.newest(), tell);
    return () => watch.end();
  }

  async read(query: EventQuery): Promise<LoggedEvent[]> {
    const page = new Page(query);
    const logged: LoggedEvent[] = [];
    for await (const placed of this.#matching(query, this.#connection.deadline())) {
      const taken = page.take(sizeOf(placed.event));
      if (taken === 'full') break;
      logged.push(loggedEvent(placed, taken === 'without data'));
    }
    return logged.sort((a, b) => (a.sequence < b.sequence ? -1 : 1));
  }

  /** The events that a query asks for, in the order in which the page is filled. */
  async *#matching(query: EventQuery, deadline: number): AsyncGenerator<PlacedEvent> {
    const { id, sequence, limit } = query;
    const after = query.after === undefined ? undefined : sequenceNumber(query.after);
    if (sequence !== undefined) {
      const placed = await this.#reader.at(sequenceNumber(sequence), deadline);
      if (placed === undefined || (id !== undefined && placed.event.id !== id)) return;
      if (after === undefined || placed.sequence > after) yield placed;
    } else if (id === undefined) {
      if (after === undefined) yield* this.#reader.downwards(Infinity, limit, deadline);
      else yield* this.#reader.upwards(after, limit, deadline);
    } else {
      yield* this.#reader.withId(id, after, limit, deadline);
    }
  }

  async scan({ after, limit, since = -Infinity }: ScanQuery): Promise<StoredEvent[]> {
    const deadline = this.#connection.deadline();
    const stored: StoredEvent[] = [];
    let bytes = 0;
    const most = since === -Infinity ? limit : Infinity;
    const start = Math.max(sequenceNumber(after), await this.#startOf(since, deadline));
    for await (const { sequence, event, bytes: size } of this.#reader.upwards(start, most, deadline)) {
      if (event.recordedAt < since) continue;
      bytes += size;
      if (stored.length > 0 && bytes > SCAN_BYTES) break;
      stored.push({ ...event, sequence: paddedSequence(sequence) });
      if (stored.length === limit) break;
    }
    return stored;
  }

  /** A position before every event that was recorded at a time or later: an event is stored after it was recorded. */
  async #startOf(time: number, deadline: number): Promise<number> {
    if (time === -Infinity) return 0;
    return (await this.#store.firstStoredSince(this.#names.events, time - CLOCK_TOLERANCE, deadline)) - 1;
  }

  async search(query: SearchQuery): Promise<SearchResult> {
    const deadline = this.#connection.deadline();
    return this.#search.search(query, await this.#startOf(query.from ?? -Infinity, deadline), deadline);
  }

  counts(times: readonly number[]): Promise<number[]> {
    return this.#rates.counts(times, this.#connection.deadline());
  }

  async stats(): Promise<LogStats> {
    const deadline = this.#connection.deadline();
    const { events, keys } = this.#names;
    const [ofEvents, ofKeys] = await Promise.all([
      this.#store.state(events, deadline),
      this.#store.state(keys, deadline),
    ]);
    return { events: ofEvents.messages, bytes: ofEvents.bytes + ofKeys.bytes, last: BigInt(ofEvents.last) };
  }

  /** Asks the leader of each stream whether a majority of its replicas is connected, and stores a probe. */
  check(): Promise<void> {
    return this.#probe.check(this.#recorder.eventBytes, this.#connection.deadline());
  }

  forget(positions: readonly bigint[], progress: Progress): Promise<bigint[]> {
    return this.#forgetting.forget(positions, progress);
  }

  /** The servers check their files themselves, with a checksum for each message. What is left is that the keys are there. */
  async verify(): Promise<string[]> {
    const deadline = this.#connection.deadline();
    const { messages } = await this.#reader.state(deadline);
    const keys = await infoOf(this.#connection, this.#names.keys, deadline);
    return messages > 0 && keys === undefined ? [keysMissing(this.#names)] : [];
  }

  async close(): Promise<void> {
    await this.#recorder.settled();
    await this.#connection.close();
  }
}

function loggedEvent({ sequence, event: { id, attributes, data } }: PlacedEvent, dataOmitted: boolean): LoggedEvent {
  return { id, sequence: paddedSequence(sequence), attributes, data: dataOmitted ? undefined : data, dataOmitted };
}
