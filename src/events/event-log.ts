/** An event on its way into the log. The log adds the `sequence`. */
export interface NewEvent {
  /** CloudEvents `id`; with `source` it names the event. */
  readonly id: string;
  /** CloudEvents `source`. */
  readonly source: string;
  /** The CloudEvents context attributes as the text of a JSON object, without `sequence` and without data. */
  readonly attributes: string;
  /** The payload as the text of one JSON member, `"data":…` or `"data_base64":…`; undefined: no payload. */
  readonly data: string | undefined;
  /** How the event arrived, as the text of a JSON object. For the operator's tools; no reader of events sees it. */
  readonly arrival: string;
  /** When it was recorded, in milliseconds since 1970-01-01T00:00Z. */
  readonly recordedAt: number;
  /** The sender's `Idempotency-Key`, where it sent one. */
  readonly idempotencyKey: string | undefined;
  /** The sender's `webhook-id` (Standard Webhooks), where it sent one. */
  readonly webhookId: string | undefined;
}

/** What {@link EventLog.append} answers. */
export interface Appended {
  /** The id under which the event is in the log: of an event that was there before, the first id. */
  readonly id: string;
  /** False when the event was in the log before, so that nothing was recorded. */
  readonly recorded: boolean;
}

/** An event as it was read from the log. */
export interface LoggedEvent {
  readonly id: string;
  /** Position in the log, 20 decimal digits, so that text order is log order. Grows and is never used twice. */
  readonly sequence: string;
  /** As in {@link NewEvent.attributes}. */
  readonly attributes: string;
  /** As in {@link NewEvent.data}; undefined also when it was left out. */
  readonly data: string | undefined;
  /** True when the event has a payload that was left out because it does not fit in `maxBytes`. */
  readonly dataOmitted: boolean;
}

/** An event with everything that the log keeps of it. */
export interface StoredEvent extends NewEvent {
  /** As in {@link LoggedEvent.sequence}. */
  readonly sequence: string;
}

/** Which events a log forgets, the oldest first. A limit that is undefined is none. */
export interface Retention {
  /** Most events that the log holds. */
  readonly maxEvents: number | undefined;
  /** How long an event is kept, in milliseconds. */
  readonly maxAge: number | undefined;
}

/** Which events {@link EventLog.read} returns. */
export interface EventQuery {
  /** Only events with this id. The first of them is returned whole, whatever its size. */
  readonly id: string | undefined;
  /** Only events behind this position, from there on; undefined: the newest. */
  readonly after: bigint | undefined;
  /** Most events to return; at least 1. */
  readonly limit: number;
  /** Most bytes that the events may take together, each followed by a comma, in the measure of `wireBytes`. */
  readonly maxBytes: number;
  /** Bytes that a reference takes which stands in for omitted data, beside the percent-encoded id in it. */
  readonly referenceBytes: number;
}

/**
 * Thrown when the log cannot do what was asked: the disk is full, the database is locked, the file is no database.
 * The message is fit for a caller: it names no file. The `cause` says why.
 */
export class EventLogError extends Error {
  override readonly name = 'EventLogError';
}

/** Events that became durable together. */
export interface Commit {
  /** How many events were to be recorded. */
  readonly events: number;
  /** How many of them were not in the log before. */
  readonly recorded: number;
  /** How long it took, in milliseconds. */
  readonly milliseconds: number;
}

/** An append-only log of events in one order. Several processes may use one log at the same time. */
export interface EventLog {
  /**
   * Records an event and resolves when it is durable, that is, when it survives the loss of the process and of power.
   * An event with the `source` and `id`, the `idempotencyKey` or the `webhookId` of one in the log is not recorded again.
   *
   * @throws {EventLogError} the event was not recorded.
   */
  append(event: NewEvent): Promise<Appended>;

  /**
   * Records events as {@link append} does, in the order in which they are given.
   *
   * @throws {EventLogError} some of the events were not recorded.
   */
  appendAll(events: readonly NewEvent[]): Promise<Appended[]>;

  /**
   * Reads events in log order: with `after` the first ones behind that position, otherwise the newest ones; as many as
   * `limit` and `maxBytes` allow. Its cost does not depend on how many events the log holds.
   *
   * @throws {EventLogError}
   */
  read(query: EventQuery): Promise<LoggedEvent[]>;

  /**
   * Reads events with everything that is kept of them, in log order: the first ones behind a position, at most `limit`,
   * and of large ones fewer. For the operator's tools.
   *
   * @throws {EventLogError}
   */
  scan(after: bigint, limit: number): Promise<StoredEvent[]>;

  /**
   * The position behind which the events are that were recorded at a time (in milliseconds since 1970) or later.
   *
   * @throws {EventLogError}
   */
  positionBefore(time: number): Promise<bigint>;

  /**
   * How many events the log holds.
   *
   * @throws {EventLogError}
   */
  count(): Promise<number>;

  /**
   * How many bytes the log takes where it is kept.
   *
   * @throws {EventLogError}
   */
  bytes(): Promise<number>;

  /** From now on tells a listener, the only one, of every commit that went well. */
  onCommit(listener: (commit: Commit) => void): void;

  /**
   * Resolves when the log could take a write now, as far as that can be known without one.
   *
   * @throws {EventLogError} it could not; the cause says why.
   */
  check(): Promise<void>;

  /** Finishes what was asked before and releases the log. Calls after it are refused. */
  close(): Promise<void>;
}
