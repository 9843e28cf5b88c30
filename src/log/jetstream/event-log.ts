import type { NewEvent, StoredEvent } from '../../events/stored-event';
import {
  EventLogError,
  type Appended,
  type Commit,
  type EventLog,
  type EventQuery,
  type LoggedEvent,
  type LogStats,
  type Progress,
  type Rate,
  type RatesQuery,
  type Retention,
  type ScanQuery,
  type SearchQuery,
  type SearchResult,
} from '../event-log';
import type { JetStreamLocation } from '../../config/event-log-location';
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
import { Page, SCAN_BYTES, sizeOf } from '../page';
import { paddedSequence, sequenceNumber } from '../position';
import { requireSearchable } from '../search/search-event';

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
export class JetStreamEventLog implements EventLog {
  readonly #connection: JetStreamConnection;
  readonly #names: StreamNames;
  readonly #store: JetStreamStore;
  readonly #recorder: JetStreamRecorder;
  readonly #reader: JetStreamReader;
  readonly #search: JetStreamSearch;
  readonly #rates: JetStreamRates;
  readonly #probe: JetStreamProbe;
  readonly #forgetting: JetStreamForgetting;
  readonly #retention: JetStreamRetention | undefined;
  readonly #calls = new Set<Promise<unknown>>();
  readonly #watches = new Set<JetStreamWatch>();
  #recordings = 0;
  #committed: (commit: Commit) => void = () => undefined;
  #closing: Promise<void> | undefined;

  private constructor(
    connection: JetStreamConnection,
    names: StreamNames,
    options: JetStreamOptions,
    sources: string[],
  ) {
    this.#connection = connection;
    this.#names = names;
    this.#store = new JetStreamStore(connection);
    const ids = new JetStreamIds(names, this.#store, sources);
    this.#recorder = new JetStreamRecorder(connection, names, this.#store, ids);
    this.#reader = new JetStreamReader(names, this.#store, ids);
    this.#search = new JetStreamSearch(this.#reader, () => this.#recordings > 0);
    this.#rates = new JetStreamRates(connection, names);
    this.#forgetting = new JetStreamForgetting(connection, names, this.#store, this.#reader, ids);
    this.#probe = new JetStreamProbe(connection, names, this.#store);
    const { create, retention, keysExtraAge = KEYS_EXTRA_AGE } = options;
    if (create && (retention.maxEvents !== undefined || retention.maxAge !== undefined)) {
      const { maxAge } = retention;
      this.#retention = new JetStreamRetention(connection, names, this.#store, this.#reader, maxAge, keysExtraAge);
      this.#retention.start();
    }
  }

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
      return new JetStreamEventLog(connection, names, options, sources);
    } catch (cause) {
      await connection?.close();
      const where = `${options.stream} on ${options.servers.join(',')}`;
      throw new EventLogError(`The event log ${where} cannot be opened.`, { cause });
    }
  }

  async append(event: NewEvent): Promise<Appended> {
    const started = performance.now();
    const appended = await this.#call('The event could not be recorded.', () =>
      this.#recording(() => this.#recorder.record(event)),
    );
    this.#report([appended], started);
    return appended;
  }

  async appendAll(events: readonly NewEvent[]): Promise<Appended[]> {
    const started = performance.now();
    const appended = await this.#call('The events could not be recorded.', () =>
      this.#recording(() => this.#recorder.recordAll(events)),
    );
    this.#report(appended, started);
    return appended;
  }

  async #recording<T>(record: () => Promise<T>): Promise<T> {
    this.#recordings++;
    try {
      return await record();
    } catch (error) {
      this.#probe.distrust();
      throw error;
    } finally {
      this.#recordings--;
    }
  }

  #report(appended: readonly Appended[], started: number): void {
    const recorded = appended.filter((event) => event.recorded).length;
    this.#committed({ events: appended.length, recorded, milliseconds: performance.now() - started });
  }

  watch(listener: (newest: bigint) => void): () => void {
    if (this.#closing !== undefined) return () => undefined;
    const watch = new JetStreamWatch(this.#connection, this.#names, this.#store, listener);
    this.#watches.add(watch);
    void watch.ended.then(() => this.#watches.delete(watch));
    return () => {
      watch.end();
    };
  }

  onCommit(listener: (commit: Commit) => void): void {
    this.#committed = listener;
  }

  read(query: EventQuery): Promise<LoggedEvent[]> {
    return this.#reading(async (deadline) => {
      const page = new Page(query);
      const logged: LoggedEvent[] = [];
      for await (const placed of this.#matching(query, deadline)) {
        const taken = page.take(sizeOf(placed.event));
        if (taken === 'full') break;
        logged.push(loggedEvent(placed, taken === 'without data'));
      }
      return logged.sort((a, b) => (a.sequence < b.sequence ? -1 : 1));
    });
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

  scan({ after, limit, since = -Infinity }: ScanQuery): Promise<StoredEvent[]> {
    return this.#reading(async (deadline) => {
      const stored: StoredEvent[] = [];
      let bytes = 0;
      const most = since === -Infinity ? limit : Infinity;
      const start = Math.max(sequenceNumber(after), await this.#startOf(since, deadline));
      for await (const placed of this.#reader.upwards(start, most, deadline)) {
        const { sequence, event, bytes: size } = placed;
        if (event.recordedAt < since) continue;
        bytes += size;
        if (stored.length > 0 && bytes > SCAN_BYTES) break;
        stored.push({ ...event, sequence: paddedSequence(sequence) });
        if (stored.length === limit) break;
      }
      return stored;
    });
  }

  /** A position before every event that was recorded at a time or later: an event is stored after it was recorded. */
  async #startOf(time: number, deadline: number): Promise<number> {
    if (time === -Infinity) return 0;
    return (await this.#store.firstStoredSince(this.#names.events, time - CLOCK_TOLERANCE, deadline)) - 1;
  }

  async search(query: SearchQuery): Promise<SearchResult> {
    requireSearchable(query);
    return this.#reading(async (deadline) => {
      const start = await this.#startOf(query.from ?? -Infinity, deadline);
      return this.#search.search(query, start, deadline);
    });
  }

  rates(query: RatesQuery): Promise<Rate[]> {
    return this.#reading((deadline) => this.#rates.rates(query, deadline));
  }

  stats(): Promise<LogStats> {
    return this.#reading(async (deadline) => {
      const { events, keys } = this.#names;
      const [ofEvents, ofKeys] = await Promise.all([events, keys].map((name) => this.#store.state(name, deadline)));
      return { events: ofEvents?.messages ?? 0, bytes: (ofEvents?.bytes ?? 0) + (ofKeys?.bytes ?? 0) };
    });
  }

  /** Asks the leader of each stream whether a majority of its replicas is connected, and stores a probe. */
  check(): Promise<void> {
    return this.#call('The event log cannot take events.', () =>
      this.#probe.check(this.#recorder.eventBytes, this.#connection.deadline()),
    );
  }

  forget(positions: readonly bigint[], progress: Progress = () => undefined): Promise<bigint[]> {
    return this.#call('The events could not be removed.', () => this.#forgetting.forget(positions, progress));
  }

  /** The servers check their files themselves, with a checksum for each message. What is left is that the keys are there. */
  verify(): Promise<string[]> {
    return this.#reading(async (deadline) => {
      const { messages } = await this.#reader.state(deadline);
      const keys = await infoOf(this.#connection, this.#names.keys, deadline);
      return messages > 0 && keys === undefined ? [keysMissing(this.#names)] : [];
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#retention?.stop();
    for (const watch of this.#watches) watch.end();
    await Promise.allSettled(this.#calls);
    await this.#recorder.settled();
    await this.#connection.close();
    await this.#retention?.settled();
    await Promise.all([...this.#watches].map(({ ended }) => ended));
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
