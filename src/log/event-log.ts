import type { NewEvent } from '../events/stored-event';
import { shortened } from '../util/text';
import type { LogReader } from './log-reader';

/** The result of {@link EventLog.append}. */
export interface Appended {
  /** The event's id; for a repetition, the id of the first. */
  readonly id: string;
  /** False for a repetition: nothing was recorded. */
  readonly recorded: boolean;
  /** Set where the one with this id has the event's `idempotencyKey`, but another type or other data. */
  readonly conflict?: true | undefined;
}

/** Which events a log forgets. A limit that is undefined does not apply. */
export interface Retention {
  /** Maximum number of events; those with the lowest positions are forgotten first. */
  readonly maxEvents?: number | undefined;
  /** How long an event is kept after it was recorded, in milliseconds. */
  readonly maxAge?: number | undefined;
}

/** Settings of an event log besides its location. */
export interface EventLogSettings {
  /** The longest that a call waits for a server, in milliseconds. */
  readonly timeout: number;
  readonly retention: Retention;
  /** Whether a missing log is created; true by default. */
  readonly create?: boolean;
  /** Whether this process forgets what is past retention; by default a process that may create the log does. */
  readonly forgets?: boolean;
  /** For the server, if it asks for one and its address has none. Secret. */
  readonly password?: string | undefined;
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

/** A commit: how many events it was given, how many of them were new, and how long it took. */
interface Commit {
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

/**
 * An append-only log of events in one order, which several processes may use at the same time. No event becomes visible at a
 * position below one that is already visible, so a reader that goes on after the last position it has seen misses none. Promises
 * reject with an {@link EventLogError}. The suite in `test/log/event-log-suite.ts` is what all engines promise.
 */
export interface EventLog extends LogReader {
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
   * Forgets what is past another retention afterwards.
   *
   * @returns whether it does: the streams of NATS keep the settings with which they were made.
   */
  retain(retention: Retention): boolean;

  /** The most bytes that an event may have as the log keeps it, now. Logs without such a limit lack it. */
  readonly maxEventBytes?: number | undefined;

  /** Sets the one observer. */
  observe(observer: LogObserver): void;

  /** Resolves if the log could take an event now, judged without recording one; otherwise the error's cause says why. */
  check(): Promise<void>;

  /** The position of the newest event. In a log without events it is 0, or that of the last one that was forgotten. */
  newest(): Promise<number>;

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
  forget(positions: readonly number[]): Promise<number[]>;

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

  /** Writes the file anew, without remains of forgotten events in its free space. Calls that record wait meanwhile. */
  rewrite(): Promise<void>;

  /** Gives the space of forgotten events back to the file system, while others go on writing, and resolves to its bytes. */
  compact(): Promise<number>;
}

/** Whether a log is kept in a file of this machine. */
export function isFileLog(log: EventLog): log is FileLog {
  return 'compact' in log;
}
