import { setTimeout as delay } from 'node:timers/promises';
import { isReadable, type NewEvent } from '../events/stored-event';
import { Deferred, LARGE_MESSAGE, letOthersRun, Semaphore } from '../util/promises';
import { LogWatch, RetentionLoop } from './background';
import type { Engine, FileEngine } from './engine';
import {
  EventLogError,
  type Appended,
  type EventLog,
  type FileLog,
  type LogObserver,
  type Rate,
  type RatesQuery,
  type Retention,
} from './event-log';
import { GroupCommit } from './group-commit';
import {
  LogReader,
  type EventQuery,
  type FoundEvent,
  type LoggedEvent,
  type LogStats,
  type SearchQuery,
  type SearchResult,
} from './log-reader';
import { requireSearchable } from './search';

/** How long a search goes on, in milliseconds. */
const SEARCH_TIME = 500;

/** How long after a commit the next one is expected, in milliseconds. */
const COMMITS_APART = 50;

/** Added for each event to the length of its texts when calls share a commit (`Engine.commitSize`), in characters. */
const EVENT_CHARACTERS = 2048;

/** Returns the event log that an engine keeps. */
export function logOn(engine: Engine, retention: Retention = {}): EventLog {
  return new EngineLog(engine, retention);
}

/** As {@link logOn}, for an engine that keeps its events in a file. */
export function fileLogOn(engine: FileEngine, retention: Retention = {}): FileLog {
  return new EngineFileLog(engine, retention);
}

/** Refuses calls after `close`, wraps errors, waits for calls in progress, groups commits, and drives searches, watches and retention. */
class EngineLog extends LogReader implements EventLog {
  readonly #engine: Engine;
  readonly #group: GroupCommit<readonly NewEvent[], Appended[]> | undefined;
  readonly #retention: RetentionLoop | undefined;
  readonly #watches = new Set<LogWatch>();
  readonly #reads: Semaphore;
  /** Calls in progress; `close` sets what is called when the last of them has ended. */
  #calls = 0;
  #idle: (() => void) | undefined;
  #closing: Promise<void> | undefined;
  #commits = 0;
  #lastCommit = -Infinity;
  #observer: LogObserver = {};
  /** Resolves when the next step of a search may begin. */
  #searchTurn: Promise<unknown> = Promise.resolve();

  constructor(engine: Engine, retention: Retention) {
    super();
    this.#engine = engine;
    this.#reads = new Semaphore(engine.readsAtOnce);
    if (engine.commitSize !== undefined)
      this.#group = new GroupCommit(engine.commitSize, (requests) => this.#commit(requests));
    engine.onLost?.((problem) => this.#observer.lost?.(problem));
    engine.onHint?.((key, message) => this.#observer.hint?.(key, message));
    if (engine.retention)
      this.#retention = new RetentionLoop(engine.retention, retention, (error) => this.#observer.retained?.(error));
  }

  get maxEventBytes(): number | undefined {
    return this.#engine.maxEventBytes;
  }

  append(event: NewEvent): Promise<Appended> {
    return this.call('The event could not be recorded.', () => this.#record([event])).then(
      ([appended]) => appended as Appended,
    );
  }

  appendAll(events: readonly NewEvent[]): Promise<Appended[]> {
    return this.call('The events could not be recorded.', async () =>
      events.length === 0 ? [] : this.#record(events),
    );
  }

  #record(events: readonly NewEvent[]): Promise<Appended[]> {
    return this.#group?.add(events, sizeOf(events)) ?? this.#commit([events]).then(([appended = []]) => appended);
  }

  async #commit(requests: readonly (readonly NewEvent[])[]): Promise<Appended[][]> {
    const started = performance.now();
    const events = requests.length === 1 ? (requests[0] ?? []) : requests.flat();
    this.#commits++;
    const { appended, newest } = await this.#engine.appendAll(events).finally(() => this.#commits--);
    if (newest !== undefined) for (const watch of this.#watches) watch.tell(newest);
    this.#lastCommit = performance.now();
    const recorded = appended.reduce((sum, one) => sum + Number(one.recorded), 0);
    this.#observer.committed?.({ events: events.length, recorded, milliseconds: this.#lastCommit - started });
    let place = 0;
    return requests.map(({ length }) => appended.slice(place, (place += length)));
  }

  async read(query: EventQuery): Promise<LoggedEvent[]> {
    const { id, position, after } = query;
    const page = await this.scan(query);
    if (id !== undefined || position !== undefined) return page;
    const events = page.filter((event) => isReadable(event) || this.#passOver(event));
    const last = after === undefined ? page[0] : page.at(-1);
    // A reader that got none would take this for the end of the log.
    if (events.length > 0 || last === undefined) return events;
    return this.read({ ...query, [after === undefined ? 'before' : 'after']: last.position });
  }

  #passOver({ position }: LoggedEvent): false {
    const message = `Event ${String(position)} cannot be read and is left out. Look for damage with the tool: verify.`;
    this.#observer.hint?.('damaged event', message);
    return false;
  }

  scan(query: EventQuery): Promise<LoggedEvent[]> {
    return this.#reading(() => this.#inTurn(query));
  }

  /** Reads when there is a turn. After many bytes other calls run first, or one answer would be made after the other. */
  #inTurn(query: EventQuery): Promise<LoggedEvent[]> {
    const answer = new Deferred<LoggedEvent[]>();
    void this.#reads.run(async () => {
      try {
        const events = await this.#engine.read(query);
        answer.resolve(events);
        if (events.reduce((sum, { data = '' }) => sum + data.length, 0) > LARGE_MESSAGE) await letOthersRun();
      } catch (error) {
        answer.reject(error);
      }
    });
    return answer.promise;
  }

  async search(query: SearchQuery): Promise<SearchResult> {
    requireSearchable(query);
    return this.#reading(async () => {
      const deadline = performance.now() + SEARCH_TIME;
      const isUpwards = query.after !== undefined;
      let events: readonly FoundEvent[] = [];
      let reached: SearchResult['reached'];
      for (;;) {
        const place = reached && (isUpwards ? { after: reached.position } : { before: reached.position });
        const step = await this.#searchStep({ ...query, ...place, limit: query.limit - events.length });
        events = isUpwards ? [...step.events, ...events] : [...events, ...step.events];
        reached = step.reached ?? reached;
        const { more } = step;
        if (!more || events.length === query.limit || performance.now() >= deadline) return { events, reached, more };
      }
    });
  }

  #searchStep(query: SearchQuery): Promise<SearchResult> {
    const step = this.#searchTurn.then(() => this.#engine.search(query));
    const pause = () => (this.#isRecording() ? delay(this.#engine.searchPause) : undefined);
    this.#searchTurn = step.then(pause, () => undefined);
    return step;
  }

  #isRecording(): boolean {
    return this.#commits > 0 || performance.now() - this.#lastCommit < COMMITS_APART;
  }

  rates({ until, span, spans }: RatesQuery): Promise<Rate[]> {
    const times = Array.from({ length: spans + 1 }, (_, i) => until - (spans - i) * span);
    return this.#reading(async () => {
      const counts = await this.#engine.counts(times);
      return counts.map((events, i) => ({ from: times[i] ?? 0, events }));
    });
  }

  newest(): Promise<number> {
    return this.#reading(() => this.#engine.newest());
  }

  stats(): Promise<LogStats> {
    return this.#reading(() => this.#engine.stats());
  }

  watch(listener: (newest: number) => void): () => void {
    if (this.#closing !== undefined) return () => undefined;
    const watch = new LogWatch(this.#engine, listener);
    this.#watches.add(watch);
    return () => void watch.end().then(() => this.#watches.delete(watch));
  }

  observe(observer: LogObserver): void {
    this.#observer = observer;
  }

  check(): Promise<void> {
    return this.call('The event log cannot take events.', () => this.#engine.check());
  }

  forget(positions: readonly number[]): Promise<number[]> {
    return this.call('The events could not be removed completely.', () => this.#engine.forget(positions));
  }

  verify(): Promise<string[]> {
    return this.#reading(() => this.#engine.verify());
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  retain(retention: Retention): boolean {
    if (this.#retention === undefined || this.#engine.retention?.isFixed) return false;
    this.#retention.retention = retention;
    return true;
  }

  async #close(): Promise<void> {
    const ended = [...this.#watches].map((watch) => watch.end());
    const stopped = this.#retention?.stop();
    if (this.#calls > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    await this.#engine.close();
    await Promise.all([...ended, stopped]);
  }

  #reading<T>(read: () => Promise<T>): Promise<T> {
    return this.call('The events could not be read.', read);
  }

  protected async call<T>(failure: string, action: () => Promise<T>): Promise<T> {
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

class EngineFileLog extends EngineLog implements FileLog {
  readonly #engine: FileEngine;

  constructor(engine: FileEngine, retention: Retention) {
    super(engine, retention);
    this.#engine = engine;
  }

  backup(file: string): Promise<void> {
    return this.call('The event log could not be copied.', () => this.#engine.backup(file));
  }

  rewrite(): Promise<void> {
    return this.call('The log could not be rewritten.', () => this.#engine.rewrite());
  }

  compact(): Promise<number> {
    return this.call('The log could not be compacted.', () => this.#engine.compact());
  }
}

function sizeOf(events: readonly NewEvent[]): number {
  return events.reduce(
    (sum, { attributes, arrival, data }) =>
      sum + EVENT_CHARACTERS + attributes.length + arrival.length + (data?.length ?? 0),
    0,
  );
}
