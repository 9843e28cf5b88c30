import type { KeyConflict } from '../events/key-conflict';
import type { NewEvent, StoredEvent } from '../events/stored-event';
import { shortened } from '../util/text';
import type { EventQuery, LogStats, SearchQuery, SearchResult } from './queries';

/** Thrown when a log cannot do what was asked. The message is fit for callers; the `cause` says why. */
export class EventLogError extends Error {
  override readonly name = 'EventLogError';
  readonly code = 'ERR_WEBHOOK_EVENT_LOG';
}

/** Thrown for an event that has more bytes, as the log keeps it, than the log takes. Nothing was recorded. */
export class EventTooLargeError extends EventLogError {
  constructor(id: string, bytes: number, maxBytes: number) {
    super(
      `The event ${shortened(id)} has ${String(bytes)} bytes as it is kept, and the event log takes ${String(maxBytes)} at most.`,
    );
  }
}

export interface EventLogSettings {
  /** How long a call waits for a server, in milliseconds. */
  readonly timeout: number;
  readonly retention: Retention;
  /** Creates a missing log, and brings one of an older version up to date; true by default. */
  readonly create?: boolean;
  /** Whether other processes of this machine record in it as well. */
  readonly isShared?: boolean | undefined;
  /** Whether this process forgets what is past retention; true by default. */
  readonly forgets?: boolean | undefined;
  /** For the server, if it asks for one and its address has none. Secret. */
  readonly password?: string | undefined;
}

export interface LocalSettings extends Pick<EventLogSettings, 'isShared' | 'forgets'> {
  /** Without one nothing is forgotten. */
  readonly retention?: Retention | undefined;
}

/** Which events a log forgets. A limit that is undefined does not apply. */
export interface Retention {
  /** Those with the lowest positions are forgotten first. */
  readonly maxEvents?: number | undefined;
  /** In milliseconds after an event was recorded. */
  readonly maxAge?: number | undefined;
}

/** The outcome for an event that was given to the log. */
export interface Appended {
  /** The event's id; for a repetition, that of the event with its `idempotencyKey`, else its `webhookId`, else its `source` and `id`. */
  readonly id: string;
  /** False for a repetition: nothing was recorded. */
  readonly recorded: boolean;
  /** Set if the event with this id has that key, and yet is another. */
  readonly conflict?: KeyConflict | undefined;
}

/** The primitives of an `EventLog`, whose methods with the same names say what they promise. They may throw any error. */
export interface Engine {
  /** Maximum characters of the calls that share a commit; without it each call is a commit of its own. */
  readonly commitSize?: number;
  readonly maxEventBytes?: number;
  /**
   * @param waited - how long the events have waited already, in milliseconds: their callers do not wait anew for a lock or a server.
   * @throws {EventTooLargeError}
   */
  append(events: readonly NewEvent[], waited: number): Promise<Appended[]>;

  /** Each read may bring megabytes, which no limit counts until the caller has made an answer of them. */
  readonly readsAtOnce: number;
  /** As `EventLog.scan`, which asks for no `position`. Without an index of types, one for a `type` gives up after some seconds without an event. */
  read(query: EventQuery): Promise<StoredEvent[]>;

  /** One step of a search, a few milliseconds long: looks at some events and says how far it came. */
  search(query: SearchQuery): Promise<SearchResult>;
  counts(times: readonly number[]): Promise<number[]>;
  stats(): Promise<LogStats>;
  /** @param failed - the events of the last commit, if it failed: whether there is room for them, too. None is kept. */
  check(failed: readonly NewEvent[]): Promise<void>;

  /** Pause between two looks of a watch at the newest position, in milliseconds. */
  readonly watchPause: number;
  newest(): Promise<number>;

  forget(positions: readonly number[]): Promise<number[]>;
  verify(): Promise<string[]>;

  /** @throws the files of the log are not those that were opened: every question fails until they are back. */
  readonly verifyFiles?: () => Promise<void>;

  /** Forgets events past retention, step by step; missing if this process is not to. */
  readonly retention?: RetentionSteps | undefined;

  readonly upkeep?: Upkeep;

  /** A step of retention or a watch may fail afterwards. */
  close(): Promise<void>;
}

/** The care of a log in a file of this machine. */
export interface Upkeep {
  /** Copies the log to a new file, while others go on writing. @throws the file exists already, or cannot be written. */
  backup(file: string): Promise<void>;
  /** Writes the file anew, without remains of forgotten events. Calls that record wait meanwhile. */
  rewrite(): Promise<void>;
  /** Gives the space of forgotten events back, while others go on writing, and resolves to its bytes. */
  compact(): Promise<number>;
}

export interface RetentionSteps {
  /** Pauses after a step that leaves more to do, if any does, and after others, in milliseconds. */
  readonly busyPause?: number;
  readonly idlePause: number;
  /** Set if servers forget the events, by settings that the log was made with. */
  readonly isFixed?: true;
  /** Forgets some events; resolves to whether there is more to do. */
  step(retention: Retention): Promise<boolean>;
}

/** The findings of `verify` about the total of a log that keeps one. */
export const totalFindings = (found = 0, total = 0): string[] =>
  found === total ? [] : [`The log holds ${String(found)} events, and its total says ${String(total)}.`];
