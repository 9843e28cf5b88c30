import type { NewEvent, StoredEvent } from '../events/stored-event';
import { shortened } from '../util/text';

/** The result of {@link EventLog.append}. */
export interface Appended {
  /** The event's id; for a repetition, the id of the first. */
  readonly id: string;
  /** False for a repetition: nothing was recorded. */
  readonly recorded: boolean;
  /** Set where the one with this id has the event's `idempotencyKey`, but another type or other data. */
  readonly conflict?: true | undefined;
}

/** An event as readers of the log get it. */
export interface LoggedEvent extends Pick<StoredEvent, 'id' | 'position' | 'attributes' | 'data'> {
  /** True where `data` is left out because the event alone has more than `maxBytes`. */
  readonly dataOmitted: boolean;
}

/** Which events a log forgets. A limit that is undefined does not apply. */
export interface Retention {
  /** Maximum number of events; those with the lowest positions are forgotten first. */
  readonly maxEvents: number | undefined;
  /** How long an event is kept after it was recorded, in milliseconds. */
  readonly maxAge: number | undefined;
}

/** Which events {@link EventLog.read} returns. */
export interface EventQuery {
  /** Only events with this id; the first of them whole, whatever its size. */
  readonly id: string | undefined;
  /** Only the event at this position, whole, whatever its size. */
  readonly position: number | undefined;
  /** Only events after this position, oldest first; without it, the newest. */
  readonly after: number | undefined;
  /** Only events before this position. */
  readonly before?: number | undefined;
  /** Maximum number of events; at least 1. */
  readonly limit: number;
  /** No event is added once all have more bytes than this, in UTF-8: of attributes and data. */
  readonly maxBytes: number;
}

/** Thrown when the log cannot do what was asked. The message is fit for a caller and names no file; the `cause` says why. */
export class EventLogError extends Error {
  override readonly name = 'EventLogError';
  readonly code = 'ERR_WEBHOOK_EVENT_LOG';
}

/** Thrown for an event that has more bytes than the log takes. Nothing was recorded; the message is fit for a caller. */
export class EventTooLargeError extends EventLogError {
  /** Both sizes are those of the event as the log keeps it, in bytes. */
  constructor(id: string, bytes: number, maxBytes: number) {
    super(
      `The event ${shortened(id)} has ${String(bytes)} bytes as it is kept, and the event log takes ${String(maxBytes)} at most.`,
    );
  }
}

/** The size of a log. */
export interface LogStats {
  readonly events: number;
  /** Bytes of storage. */
  readonly bytes: number;
  /** The last position that was given; its event may be forgotten, or found to be a repetition. 0 at first. */
  readonly last: number;
}

/** A commit: how many events it was given, how many of them were new, and how long it took. */
export interface Commit {
  readonly events: number;
  readonly recorded: number;
  readonly milliseconds: number;
}

/** Called when something happens to a log besides its calls. */
export interface LogObserver {
  /** Events were committed by this process. */
  committed?(commit: Commit): void;
  /** Nothing is left that is past retention; or, with an error, a step failed and will be tried again. */
  retained?(error?: unknown): void;
  /** A file of the log was moved, removed or replaced. The problem names the file with the events that it held. */
  lost?(problem: string): void;
  /** Suggests a change to the operator. Not deduplicated; the same suggestion has the same key. */
  hint?(key: string, message: string): void;
}

/** Which events {@link EventLog.scan} returns. */
export interface ScanQuery {
  /** Only events after this position. */
  readonly after: number;
  /** Maximum number of events; at least 1. */
  readonly limit: number;
  /** Only events recorded at this time or later, in milliseconds since 1970-01-01T00:00Z. */
  readonly since?: number | undefined;
}

/** Longest text that can be searched for, in characters. */
export const MAX_SEARCH_TEXT = 200;

/** Maximum characters of an event's data that a search returns. */
export const DATA_START = 120;

/** Which events {@link EventLog.search} looks for, and where. */
export interface SearchQuery {
  /** Only events before this position. */
  readonly before?: number | undefined;
  /** Only events after this position, from there to newer ones; without it the search goes from the newest to older ones. */
  readonly after?: number | undefined;
  /** Maximum number of events; at least 1. */
  readonly limit: number;
  /**
   * Only events with this text, at most {@link MAX_SEARCH_TEXT}, in the JSON text of their attributes, data or arrival, names of
   * members included. ASCII letters match in either case. The text also matches where JSON writes it with escapes: as
   * `JSON.stringify` does, with `\u` for all that is not ASCII, and with `\/` for slashes. `data_base64` is not searched.
   */
  readonly text?: string | undefined;
  /** Only events whose `binding` and `type` are exactly these. */
  readonly binding?: string | undefined;
  readonly type?: string | undefined;
  /** Only events whose sender had exactly this address. */
  readonly sender?: string | undefined;
  /** Only events recorded at this time or later, in milliseconds since 1970-01-01T00:00Z. */
  readonly from?: number | undefined;
  /** Only events recorded before this time, likewise. */
  readonly to?: number | undefined;
}

/** An event in a list. A text with more than some 200 characters is cut and ends with `…`. */
export interface FoundEvent extends Pick<StoredEvent, 'id' | 'position' | 'recordedAt'> {
  readonly binding: string | undefined;
  readonly type: string | undefined;
  /** The sender's address, unless the event was imported without one. */
  readonly remoteAddress: string | undefined;
  readonly data: DataSummary | undefined;
  /** Where the text that was searched for stands, if one was. */
  readonly match?: Match | undefined;
}

/** The first place with a text that was searched for: in the data, else the attributes, else the arrival. */
export interface Match {
  readonly in: 'data' | 'attributes' | 'arrival';
  /** Some 24 characters before the text, after `…` if there are more. Data that is a string is shown as that string. */
  readonly before: string;
  /** The text as it stands there. */
  readonly text: string;
  /** Some 96 characters after the text, and `…` if there are more. */
  readonly after: string;
}

/** An event's data in a list. */
export interface DataSummary {
  /** `text`: a string; `bytes`: kept as base64; `json`: any other JSON value. */
  readonly kind: 'json' | 'text' | 'bytes';
  /** Size in bytes. A string counts as JSON writes it in UTF-8, without its quotes. */
  readonly bytes: number;
  /** The first {@link DATA_START} characters: of the string, of the JSON text, or of the base64. */
  readonly start: string;
  /** Whether there is more data than `start`. */
  readonly cut: boolean;
}

/** The result of {@link EventLog.search}. */
export interface SearchResult {
  /** Those with the highest positions first, whichever way the search went. */
  readonly events: readonly FoundEvent[];
  /** The last event that was looked at, if any. */
  readonly reached: { readonly position: number; readonly recordedAt: number } | undefined;
  /** Whether events are left to look at, `before` (or `after`) the position reached. */
  readonly more: boolean;
}

/** Consecutive spans of time. */
export interface RatesQuery {
  /** Where the last span ends, in milliseconds since 1970-01-01T00:00Z. */
  readonly until: number;
  /** Length of each span, in milliseconds. */
  readonly span: number;
  /** Number of spans; at most 100. */
  readonly spans: number;
}

/** The number of events in a span of time. */
export interface Rate {
  /** Where the span begins, in milliseconds since 1970-01-01T00:00Z. */
  readonly from: number;
  readonly events: number;
}

/** Called during a long task. `total` may change while others write. */
export type Progress = (done: number, total: number) => void;

/**
 * An append-only log of events in one order, which several processes may use at the same time. No event becomes visible at a
 * position below one that is already visible, so a reader that goes on after the last position it has seen misses none. Promises
 * reject with an {@link EventLogError}. The suite in `test/log/event-log-suite.ts` is what all engines promise.
 */
export interface EventLog {
  /**
   * Records an event and resolves once it is durable: it survives the death of the process and a loss of power. An event
   * that shares its `source` and `id`, its `idempotencyKey` or its `webhookId` with one in the log is not recorded again; nor is one
   * with the `idempotencyKey` of an event that has another type or other data.
   */
  append(event: NewEvent): Promise<Appended>;

  /**
   * Records up to 1,000 events as {@link append} does, in the order given; an event may repeat one before it. SQLite records
   * all of them or none. JetStream records one after the other; after a failure, sending all of them again records the rest.
   *
   * @throws {EventLogError} at least one of the events was not recorded; none where one is too large ({@link EventTooLargeError}).
   */
  appendAll(events: readonly NewEvent[]): Promise<Appended[]>;

  /**
   * Reads events, in log order: the first ones after a position, or the newest, as many as `limit` and
   * `maxBytes` say, at least one if there is one. The cost does not depend on the size of the log.
   */
  read(query: EventQuery): Promise<LoggedEvent[]>;

  /**
   * Calls a listener with the position of the newest event: soon after the watch begins, and soon after commits in any process.
   * A read that begins after the call finds the events up to that position. For a log without events the position is 0, or that
   * of the last one that was forgotten. While the log cannot be read the listener is not called.
   *
   * @returns ends the watch, as closing the log does; the listener is not called afterwards.
   */
  watch(listener: (newest: number) => void): () => void;

  /** The most bytes that an event may have as the log keeps it, now. Logs without such a limit lack it. */
  readonly maxEventBytes?: number | undefined;

  /** Sets the one observer. */
  observe(observer: LogObserver): void;

  /** Resolves if the log could take an event now, judged without recording one; otherwise the error's cause says why. */
  check(): Promise<void>;

  stats(): Promise<LogStats>;

  /** The position of the newest event. In a log without events it is 0, or that of the last one that was forgotten. */
  newest(): Promise<number>;

  /**
   * Reads events with everything that the log keeps of them, in log order: the first ones after a position, fewer than `limit`
   * if they are large, at least one if there is one. Imported events may have times that do not grow with positions.
   */
  scan(query: ScanQuery): Promise<StoredEvent[]>;

  /**
   * Searches for events in the order of their positions, and returns what a list shows of them. Each call works for half a second
   * or little more and says how far it came, so it may find nothing and still leave `more`. Recording an event waits for a few
   * milliseconds of it at most, or for as long as one large event takes.
   *
   * @throws {EventLogError} also where the text is longer than {@link MAX_SEARCH_TEXT}.
   */
  search(query: SearchQuery): Promise<SearchResult>;

  /**
   * Counts the events that were recorded in spans of time and that the log still holds, oldest span first. Recording an event
   * does not wait for it.
   *
   * JetStream counts an imported event when it was imported, and may subtract those that are stored during the count, which takes
   * milliseconds, from an earlier span.
   */
  rates(query: RatesQuery): Promise<Rate[]>;

  /**
   * Removes the events at some positions, with their keys, so that nothing where the log is kept holds them any more. Their
   * positions are not used again; an event that is sent again is recorded anew. Others can go on reading and writing.
   *
   * @returns the positions of those that the log held.
   */
  forget(positions: readonly number[], progress?: Progress): Promise<number[]>;

  /** Looks for damage in how the log is kept, and changes nothing. Resolves to its findings, a line each. */
  verify(): Promise<string[]>;

  /** Finishes the calls in progress and releases the log. Later calls are refused. */
  close(): Promise<void>;
}

/** An event log in a file of this machine. */
export interface FileLog extends EventLog {
  /**
   * Copies the log, as it is at one moment, to a new file, while others go on writing.
   *
   * @throws {EventLogError} the file exists already, or cannot be written.
   */
  backup(file: string): Promise<void>;

  /** Gives the space of forgotten events back to the file system, while others go on writing, and resolves to its bytes. */
  compact(progress?: Progress): Promise<number>;
}

/** Whether a log is kept in a file of this machine. */
export function isFileLog(log: EventLog): log is FileLog {
  return 'compact' in log;
}
