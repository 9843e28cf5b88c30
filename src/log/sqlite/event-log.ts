import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { writeNewFile } from '../../util/files';
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
  type ScanQuery,
  type SearchQuery,
  type SearchResult,
} from '../event-log';
import type { Channel } from '../channel';
import type { SqliteOptions } from './connection/connection';
import { requireSearchable } from '../search/search-event';
import { MAX_PACKED_EVENTS, packEvents } from './batch';
import { DatabaseThread } from './database-thread';
import { RemoteWriter } from './shared/remote-writer';
import { SlicedQueries } from './sliced-queries';
import { SqliteUpkeep } from './upkeep/upkeep';
import { SqliteWatch } from './watch';
import { localWriter, type Writer } from './writer';

/** Most characters of events that share one commit: no caller waits for more than that. */
const BATCH_MAX_CHARACTERS = 1024 * 1024;

/**
 * How long events that keep coming are gathered for one commit, in milliseconds. On one processor a commit runs instead of the
 * calls that would bring further events; beside others it is better to begin it at once.
 */
const GATHER_TIME = availableParallelism() === 1 ? 1 : 0;

/** How long after a commit the next one is expected, in milliseconds. */
const COMMITS_APART = 50;

/** An event that waits for its commit. */
interface Waiting {
  readonly event: NewEvent;
  resolve(this: void, appended: Appended): void;
  reject(this: void, error: EventLogError): void;
}

/**
 * The event log in a SQLite file: WAL with `synchronous=FULL`, so that durable means on disk. Events that arrive while a
 * commit is under way wait for it and then share the next one.
 */
export class SqliteEventLog implements EventLog {
  readonly #thread: DatabaseThread;
  readonly #writer: Writer;
  readonly #sliced: SlicedQueries;
  readonly #upkeep: SqliteUpkeep;
  #waiting: Waiting[] = [];
  #committing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  readonly #watches = new Set<SqliteWatch>();
  #lastCommit = -Infinity;
  #committed: (commit: Commit) => void = () => undefined;

  private constructor(thread: DatabaseThread, writer: Writer) {
    this.#thread = thread;
    this.#writer = writer;
    this.#upkeep = new SqliteUpkeep(thread);
    this.#sliced = new SlicedQueries(this.#thread, () => this.#isRecording());
  }

  /**
   * Opens the log and creates it, folders included, where it is missing.
   *
   * @throws {EventLogError} the file cannot be created or opened, or is not an event log. This message, unlike those of the
   * other methods, names the file.
   */
  static async open(options: Pick<SqliteOptions, 'file'> & Partial<SqliteOptions>): Promise<SqliteEventLog> {
    const thread = new DatabaseThread(options);
    await thread.start();
    return new SqliteEventLog(thread, localWriter(thread));
  }

  /**
   * Makes the log of one process of several, which reads the file itself, opening it for the first reader, and has its events
   * written by a `SharedWriter` at the other end of a channel.
   */
  static withWriter(channel: Channel, options: Pick<SqliteOptions, 'file'>): SqliteEventLog {
    return new SqliteEventLog(new DatabaseThread(options), new RemoteWriter(channel));
  }

  append(event: NewEvent): Promise<Appended> {
    if (this.#closing !== undefined) return Promise.reject(new EventLogError('The event log is closed.'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ event, resolve, reject });
      this.#committing ??= this.#commitWaiting();
    });
  }

  async appendAll(events: readonly NewEvent[]): Promise<Appended[]> {
    if (events.length === 0) return [];
    return this.#call('The events could not be recorded.', () => this.#commit(events));
  }

  async #commitWaiting(): Promise<void> {
    // Not at once: requests that arrived in the same turn of the event loop share the commit.
    await setImmediate();
    while (this.#waiting.length > 0) {
      await this.#gather();
      const batch = this.#takeBatch();
      try {
        const appended = await this.#commit(batch.map(({ event }) => event));
        appended.forEach((one, i) => batch[i]?.resolve(one));
      } catch (cause) {
        const error = new EventLogError('The event could not be recorded.', { cause });
        for (const { reject } of batch) reject(error);
      }
    }
    this.#committing = undefined;
  }

  /** Waits for up to `GATHER_TIME` while each turn of the event loop brings further events. */
  async #gather(): Promise<void> {
    const deadline = performance.now() + GATHER_TIME;
    for (let before = 0; this.#waiting.length > before && performance.now() < deadline;) {
      before = this.#waiting.length;
      await setImmediate();
    }
  }

  async #commit(events: readonly NewEvent[]): Promise<Appended[]> {
    const started = performance.now();
    const results = await this.#writer.append(inBatches(events).map(packEvents));
    const newest = results.findLast((result) => result.newest !== undefined)?.newest;
    if (newest !== undefined) for (const watch of this.#watches) watch.tell(newest);
    this.#lastCommit = performance.now();
    const recorded = results.reduce((sum, { firstIds }) => sum - firstIds.size, events.length);
    this.#committed({ events: events.length, recorded, milliseconds: performance.now() - started });
    return events.map(({ id }, i) => {
      const firstId = results[Math.floor(i / MAX_PACKED_EVENTS)]?.firstIds.get(i % MAX_PACKED_EVENTS);
      return { id: firstId ?? id, recorded: firstId === undefined };
    });
  }

  #isRecording(): boolean {
    return this.#committing !== undefined || performance.now() - this.#lastCommit < COMMITS_APART;
  }

  #takeBatch(): Waiting[] {
    let characters = 0;
    const size = this.#waiting.findIndex(({ event }, i) => {
      characters += event.attributes.length + event.arrival.length + (event.data?.length ?? 0);
      return i === MAX_PACKED_EVENTS || (i > 0 && characters > BATCH_MAX_CHARACTERS);
    });
    return this.#waiting.splice(0, size === -1 ? this.#waiting.length : size);
  }

  read(query: EventQuery): Promise<LoggedEvent[]> {
    return this.#reading(() => this.#thread.ask('read', query));
  }

  scan(query: ScanQuery): Promise<StoredEvent[]> {
    return this.#reading(async () => {
      for (let { after } = query; ;) {
        const { events, next } = await this.#thread.ask('scan', { ...query, after });
        if (events.length > 0 || next === undefined) return events;
        after = next;
      }
    });
  }

  async search(query: SearchQuery): Promise<SearchResult> {
    requireSearchable(query);
    return this.#reading(() => this.#sliced.search(query));
  }

  rates(query: RatesQuery): Promise<Rate[]> {
    return this.#reading(() => this.#sliced.rates(query));
  }

  stats(): Promise<LogStats> {
    return this.#reading(() => this.#thread.ask('stats'));
  }

  watch(listener: (newest: bigint) => void): () => void {
    if (this.#closing !== undefined) return () => undefined;
    const watch = new SqliteWatch(() => this.#thread.ask('newest'), listener);
    const endNews = this.#writer.watch((newest) => {
      watch.tell(newest);
    });
    this.#watches.add(watch);
    return () => {
      endNews();
      watch.end();
      this.#watches.delete(watch);
    };
  }

  onCommit(listener: (commit: Commit) => void): void {
    this.#committed = listener;
  }

  check(): Promise<void> {
    return this.#call('The event log cannot take events.', () => this.#writer.check());
  }

  backup(file: string): Promise<void> {
    return this.#call('The event log could not be copied.', () =>
      writeNewFile(file, (temporary) => this.#thread.ask('backup', temporary)),
    );
  }

  forget(positions: readonly bigint[], progress: Progress = () => undefined): Promise<bigint[]> {
    return this.#call('The events could not be removed.', () => this.#upkeep.forget(positions, progress));
  }

  compact(progress: Progress = () => undefined): Promise<number> {
    return this.#call('The log could not be compacted.', () => this.#upkeep.compact(progress));
  }

  verify(): Promise<string[]> {
    return this.#reading(() => this.#thread.ask('verify'));
  }

  #reading<T>(read: () => Promise<T>): Promise<T> {
    return this.#call('The events could not be read.', read);
  }

  async #call<T>(failure: string, action: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw new EventLogError('The event log is closed.');
    try {
      return await action();
    } catch (cause) {
      throw new EventLogError(failure, { cause });
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#committing;
    for (const watch of this.#watches) watch.end();
    await this.#writer.close();
    await this.#sliced.settled();
    await this.#thread.end();
  }
}

function inBatches(events: readonly NewEvent[]): (readonly NewEvent[])[] {
  const batches = Math.ceil(events.length / MAX_PACKED_EVENTS);
  return Array.from({ length: batches }, (_, i) => events.slice(i * MAX_PACKED_EVENTS, (i + 1) * MAX_PACKED_EVENTS));
}
