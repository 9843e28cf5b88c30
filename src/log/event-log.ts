import { type NewEvent, StoredEvent } from '../events/stored-event';
import { Deferred, LARGE_MESSAGE, letOthersRun, Semaphore } from '../util/promises';
import { forgetDue, LogWatch, watchFiles } from './background';
import { EventLogError, type Appended, type Engine, type LocalSettings, type Retention, type Upkeep } from './engine';
import { GroupCommit } from './group-commit';
import type { EventQuery, LogStats, SearchQuery, SearchResult } from './queries';
import { LocalLog } from './readable-log';
import { searched } from './search';

/** Counted for each event besides its texts when calls share a commit, in characters. */
const EVENT_CHARACTERS = 2048;

/** Called when something happens to a log besides its calls. */
interface LogObserver {
  /** This process committed `events`, of which `recorded` were new. */
  committed?(commit: { readonly events: number; readonly recorded: number; readonly milliseconds: number }): void;
  /** Nothing is left that is past retention, or a step failed with an error and will be tried again. */
  retained?(error?: unknown): void;
  /** A file of the log was moved, removed or replaced, as the problem says; without a problem all are back. */
  lost?(problem?: string): void;
  /** Tells the operator what to change. Not deduplicated; the same suggestion has the same key. */
  hint?(key: string, message: string): void;
}

/**
 * An append-only log of events in one order, which several processes may use at the same time. No event becomes visible at a position
 * below a visible one, so a reader that goes on after the last position it has seen misses none. Promises reject with an
 * {@link EventLogError}. The suite in `test/log/event-log-suite.ts` is what all engines promise.
 */
export class EventLog extends LocalLog {
  /** Missing if the log is not in a file of this machine. */
  readonly upkeep: Upkeep | undefined;
  /** Maximum bytes of an event as the log keeps it, if there is a limit. */
  readonly maxEventBytes: number | undefined;
  readonly #group: GroupCommit<NewEvent, Appended> | undefined;
  #retention: Retention;
  readonly #ended = new AbortController();
  readonly #watch: LogWatch;
  readonly #reads: Semaphore;
  #calls = 0;
  /** Called once no call is in progress. */
  #idle: (() => void) | undefined;
  #closing: Promise<void> | undefined;
  #observer: LogObserver = {};
  /** The events of the last commit, if it failed. */
  #failed: readonly NewEvent[] = [];
  readonly #searches = new Semaphore(1);
  /** Set until {@link newestFromNow} has answered, which promises its reader every later event: appends wait for it. */
  #pendingNewest: Promise<unknown> | undefined;
  /** Limits answers with a whole event to one at a time: each takes several times the event's bytes. */
  readonly wholeEventReads = new Semaphore(1);

  constructor(
    private readonly engine: Engine,
    { retention = {}, isShared = false, forgets = true }: LocalSettings = {},
  ) {
    super();
    const { upkeep } = engine;
    this.upkeep = upkeep && {
      backup: (file) => this.#whileOpen('The event log could not be copied.', () => upkeep.backup(file)),
      rewrite: () => this.#whileOpen('The log could not be rewritten.', () => upkeep.rewrite()),
      compact: () => this.#whileOpen('The log could not be compacted.', () => upkeep.compact()),
    };
    this.maxEventBytes = engine.maxEventBytes;
    this.#reads = new Semaphore(engine.readsAtOnce);
    this.#watch = new LogWatch(engine);
    if (engine.commitSize !== undefined)
      this.#group = new GroupCommit(engine.commitSize, isShared, (events, waited) => this.#commit(events, waited));
    const { signal } = this.#ended;
    if (engine.verifyFiles) void watchFiles(engine.verifyFiles, (problem) => this.#observer.lost?.(problem), signal);
    this.#retention = retention;
    const notify = (error?: unknown) => this.#observer.retained?.(error);
    if (forgets && engine.retention) void forgetDue(engine.retention, () => this.#retention, notify, signal);
  }

  /**
   * Records events, in their order, and resolves once they survive a loss of power. An event that shares its `source` and
   * `id`, its `idempotencyKey` or its `webhookId` with one in the log, or one before it, is not recorded again. SQLite and PostgreSQL
   * record all of them or none; after a failure of JetStream, sending all of them again records the rest.
   *
   * @throws {EventLogError} at least one of the events was not recorded; none if one is too large ({@link EventTooLargeError}).
   */
  append<Events extends readonly NewEvent[]>(...events: Events): Promise<{ [Place in keyof Events]: Appended }>;
  append(...events: readonly NewEvent[]): Promise<Appended[]> {
    const failure = events.length === 1 ? 'The event could not be recorded.' : 'The events could not be recorded.';
    const commit = () => (this.#group ? this.#group.add(events, sizeOf(events)) : this.#commit(events, 0));
    return this.#whileOpen(failure, () => {
      if (events.length === 0) return Promise.resolve([]);
      return this.#pendingNewest === undefined ? commit() : this.#pendingNewest.then(commit);
    });
  }

  async #commit(events: readonly NewEvent[], waited: number): Promise<Appended[]> {
    const started = performance.now();
    try {
      const outcomes = await this.engine.append(events, waited);
      this.#failed = [];
      this.#watch.wake();
      const recorded = outcomes.filter((outcome) => outcome.recorded).length;
      this.#observer.committed?.({ events: events.length, recorded, milliseconds: performance.now() - started });
      return outcomes;
    } catch (error) {
      this.#failed = events;
      throw error;
    }
  }

  /** Reads events as {@link scan} does, without damaged ones. */
  async read(query: EventQuery): Promise<StoredEvent[]> {
    const { after } = query;
    const page = await this.scan(query);
    const events = page.filter((event) => {
      if (StoredEvent.problemOf(event) === undefined) return true;
      const message = `Event ${String(event.position)} cannot be read and is left out. Look for damage with the tool: verify.`;
      this.#observer.hint?.('damaged event', message);
      return false;
    });
    const last = after === undefined ? page[0] : page.at(-1);
    // A reader that got none would take this for the end of the log.
    if (events.length > 0 || last === undefined) return events;
    return this.read({ ...query, [after === undefined ? 'before' : 'after']: last.position });
  }

  scan(asked: EventQuery): Promise<StoredEvent[]> {
    const query = asked.position === undefined ? asked : betweenNeighbours(asked);
    const answer = new Deferred<StoredEvent[]>();
    const read = async () => {
      const events = await this.engine.read(query);
      answer.resolve(events);
      // Otherwise all waiting answers are made in one turn, while the next events are already read.
      if (events.reduce((sum, { data = '' }) => sum + data.length, 0) > LARGE_MESSAGE) await letOthersRun();
    };
    return this.#reading(() => {
      this.#reads.run(read).catch(answer.reject);
      return answer.promise;
    });
  }

  /**
   * Searches for events in the order of their positions, and returns what a list shows of them. Each call works for about half a
   * second and says how far it came, so it may find nothing and still leave `more`. It hardly delays recording.
   */
  search(query: SearchQuery): Promise<SearchResult> {
    const step = (next: SearchQuery) => this.#searches.run(() => this.engine.search(next));
    return this.#reading(() => searched(query, step));
  }

  /**
   * Counts the events in the log that were recorded from each of some rising times until the next, in milliseconds since
   * 1970-01-01T00:00Z. JetStream counts an imported event when it was imported.
   */
  counts(times: readonly number[]): Promise<number[]> {
    return this.#reading(() => this.engine.counts(times));
  }

  newest(): Promise<number> {
    return this.#reading(() => this.engine.newest());
  }

  /** As {@link newest}; every later {@link append} of this process gets a higher position, and waits until this one is known. */
  newestFromNow(): Promise<number> {
    const newest = this.newest();
    const pending = Promise.allSettled([newest, this.#pendingNewest]).then(() => {
      if (this.#pendingNewest === pending) this.#pendingNewest = undefined;
    });
    this.#pendingNewest = pending;
    return newest;
  }

  stats(): Promise<LogStats> {
    return this.#reading(() => this.engine.stats());
  }

  /**
   * Calls a listener with the newest position: soon after the watch begins, and soon after commits in any process, which in SQLite and
   * PostgreSQL may be those of repetitions. A read that begins afterwards finds the events up to that position.
   *
   * @returns ends the watch, as closing the log does.
   */
  watch(listener: (newest: number) => void): () => void {
    return this.#closing === undefined ? this.#watch.add(listener) : () => undefined;
  }

  /** Sets the one observer. */
  observe(observer: LogObserver): void {
    this.#observer = observer;
  }

  /** Resolves if the log could take an event now; records none. Otherwise the error's cause says why. */
  check(): Promise<void> {
    return this.#whileOpen('The event log cannot take events.', async () => {
      const failed = this.#failed;
      await this.engine.check(failed);
      if (this.#failed === failed) this.#failed = [];
    });
  }

  /**
   * Removes events with their keys, so that nothing where the log is kept holds them any more. Others can go on reading and writing.
   *
   * @returns the positions of those that were there, in any order.
   */
  forget(positions: readonly number[]): Promise<number[]> {
    return this.#whileOpen('The events could not be removed completely.', () => this.engine.forget(positions));
  }

  /** Looks for damage in how the log is kept, and changes nothing. Resolves to its findings, a line each. */
  verify(): Promise<string[]> {
    return this.#reading(() => this.engine.verify());
  }

  /** Applies another retention. Returns false if that takes a restart: the streams of NATS keep the settings they were made with. */
  retain(retention: Retention): boolean {
    const { retention: steps } = this.engine;
    if (steps === undefined || steps.isFixed) return false;
    this.#retention = retention;
    return true;
  }

  /** Finishes the calls in progress and releases the log. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#ended.abort();
    this.#watch.end();
    if (this.#calls > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    await this.engine.close();
  }

  #reading<T>(read: () => Promise<T>): Promise<T> {
    return this.#whileOpen('The events could not be read.', read);
  }

  async #whileOpen<T>(failure: string, action: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw new EventLogError('The event log is closed.');
    this.#calls++;
    try {
      return await action();
    } catch (cause) {
      throw cause instanceof EventLogError ? cause : new EventLogError(failure, { cause });
    } finally {
      this.#calls--;
      if (this.#calls === 0) this.#idle?.();
    }
  }
}

/** Asks for the event at a position as that between its neighbours. */
function betweenNeighbours({ position = 0, after = 0, before = Infinity, ...query }: EventQuery): EventQuery {
  return { ...query, after: Math.max(after, position - 1), before: Math.min(before, position + 1) };
}

function sizeOf(events: readonly NewEvent[]): number {
  let size = events.length * EVENT_CHARACTERS;
  for (const { attributes, arrival, data = '' } of events) size += attributes.length + arrival.length + data.length;
  return size;
}
