import { typeIn } from '../engine';
import { EventLogError } from '../event-log';
import type { EventQuery } from '../log-reader';
import type { Stream } from './stream';
import { StreamWalk, within, type PlacedEvent } from './walk';

/** How long a read looks for the first event of a type, in milliseconds. */
const SEARCH_TIME = 2000;

/** Maximum messages that are asked for at a time: reading them takes this thread two milliseconds. */
export const SEARCH_WINDOW = 32;

/** Most types of which a part without events is remembered. */
const MAX_GAPS = 64;

/**
 * Finds events of a type by looking at each event: servers have no index of types. Events are only added at the end, so of each type the
 * part in which none was found is remembered, for callers that ask for news of a rare type again and again after the same position.
 */
export class TypeSearch {
  /** From one position, which is not in the part, to another, which is. */
  readonly #gaps = new Map<string, { readonly after: number; readonly end: number }>();

  /**
   * Yields the events of a type: with `after` oldest first, otherwise newest first.
   *
   * @throws {EventLogError} none was found in time, and there are more to look at. Asked again, the search goes on where it was.
   */
  async *find(
    events: Stream,
    type: string,
    { after, before = Infinity }: Pick<EventQuery, 'after' | 'before'>,
  ): AsyncGenerator<PlacedEvent> {
    const deadline = performance.now() + SEARCH_TIME;
    const start = after === undefined ? 0 : await this.#startOf(events, type, after);
    const walk = new StreamWalk(events, SEARCH_WINDOW);
    const placed = after === undefined ? walk.downwards(before, Infinity) : walk.upwards(start, Infinity);
    let isFound = false;
    let reached = start;
    try {
      for await (const one of within(placed, start, before)) {
        if (typeIn(one.event.attributes) === type) {
          isFound = true;
          yield one;
        }
        if (!isFound) reached = one.sequence;
        if (performance.now() < deadline) continue;
        if (isFound) return;
        throw new EventLogError(
          'No event of this type was found yet, and there are more to look at. Ask again; with after the search goes on.',
        );
      }
    } finally {
      if (after !== undefined) this.#remember(type, after, reached);
    }
  }

  /** The position after which the next event of a type may be. */
  async #startOf(events: Stream, type: string, after: number): Promise<number> {
    const gap = this.#gaps.get(type);
    if (gap === undefined || after < gap.after || after >= gap.end) return after;
    // The stream was replaced by another one.
    return (await events.state()).last < gap.end ? after : gap.end;
  }

  #remember(type: string, after: number, end: number): void {
    if (end <= after) return;
    const gap = this.#gaps.get(type);
    const isNext = gap !== undefined && gap.after <= after && after <= gap.end && gap.end <= end;
    this.#gaps.delete(type);
    this.#gaps.set(type, { after: isNext ? gap.after : after, end });
    const [oldest] = this.#gaps.keys();
    if (this.#gaps.size > MAX_GAPS && oldest !== undefined) this.#gaps.delete(oldest);
  }
}
