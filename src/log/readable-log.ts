import type { StoredEvent } from '../events/stored-event';
import type { EventQuery, LoggedEvent, ScanQuery, SearchQuery, Start } from './queries';

/** How a log differs from the one in which a position was seen: it was restored or replaced. */
export type LogChange = 'ends before' | 'another event';

/** The event that was seen at a position, by which a reader finds out that it has another log. */
export type SeenEvent = Pick<StoredEvent, 'id' | 'recordedAt'> | undefined;

/** Where {@link ReadableLog.follow} begins. */
export interface FollowStart {
  readonly after: number;
  /** The event that was seen at that position. */
  readonly event?: SeenEvent;
}

/** Called if a log that is followed is another one; returns the position after which to go on. */
export type OnLogChange = (change: LogChange, position: number, newest: number) => number;

/** Whether an event is the one that was seen at its position. */
export function isSame(event: StoredEvent, seen: SeenEvent): boolean {
  return seen === undefined || (event.id === seen.id && event.recordedAt === seen.recordedAt);
}

/** A log whose events can be read in their order: that of this service, or of a service elsewhere. */
export abstract class ReadableLog {
  /**
   * Reads events, in log order: the first ones after a position, or the newest, as many as `limit` and
   * `maxBytes` say, at least one if there is one. The cost does not depend on the size of the log, except for a type in JetStream, which
   * has no index of types. Leaves out events that are damaged, unless they are asked for by `id` or `position`.
   */
  abstract read(query: EventQuery): Promise<LoggedEvent[]>;

  /**
   * Reads events with everything that the log keeps of them, in log order: the first ones after a position, fewer than `limit`
   * if they are large, at least one if there is one. Imported events may have times that do not grow with positions.
   */
  abstract scan(query: ScanQuery): Promise<StoredEvent[]>;

  /** Resolves to the last position that was given (its event may be forgotten, or found to be a repetition; 0 at first), and sizes. */
  abstract stats(): Promise<{ readonly last: number; readonly events: number; readonly bytes: number }>;

  /** Reads all events from a start on, in pages that are never empty. */
  abstract pages(start: Start): AsyncIterable<readonly StoredEvent[]>;

  /**
   * Reads the events after a position as {@link pages} does, and then events as they are recorded, until the signal. Before each look
   * it compares the event at the position, and whether the log still reaches it.
   */
  abstract follow(start: FollowStart, stop: AbortSignal, changed: OnLogChange): AsyncIterable<readonly StoredEvent[]>;

  /**
   * Reads all events that a search finds, in log order, each once. Ends with the event that was the newest when it began, so that it
   * does not find what is recorded because its events are sent.
   *
   * @param stop - ends it after the step that is under way.
   * @param gone - called with the position of each event that was removed meanwhile.
   */
  abstract find(
    search: Omit<SearchQuery, 'limit'>,
    stop: AbortSignal,
    gone: (position: number) => void,
  ): AsyncIterable<StoredEvent>;

  /** How the log differs from the one in which an event was seen at a position. Resolves to undefined if it may be the same. */
  async changeAt(position: number, event: SeenEvent): Promise<LogChange | undefined> {
    const found = await this.firstFrom(position);
    if (found === undefined) return (await this.stats()).last < position ? 'ends before' : undefined;
    return found.position !== position || isSame(found, event) ? undefined : 'another event';
  }

  /** The first event from a position on, with everything that the log keeps of it. */
  async firstFrom(position: number): Promise<StoredEvent | undefined> {
    const [event] = await this.scan({ after: position > 0 ? position - 1 : 0, limit: 1 });
    return event;
  }

  /** The event at a position, if the log has it. */
  async at(position: number): Promise<StoredEvent | undefined> {
    const found = await this.firstFrom(position);
    return found !== undefined && found.position === position ? found : undefined;
  }
}
