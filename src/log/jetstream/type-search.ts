import { EventLogError, isOfType, typeIn } from '../engine';
import type { Stream } from './stream';
import { StreamWalk, type Part, type PlacedEvent } from './walk';

/** How long a read looks for the first event of a type, in milliseconds. */
const SEARCH_TIME = 2000;

/** Maximum messages that are asked for at a time: reading them takes this thread two milliseconds. */
export const SEARCH_WINDOW = 32;

/** How many searches without a result are remembered. */
const MAX_REMEMBERED = 64;

/** Finds events of a type by looking at each event: servers have no index of types. */
export class TypeSearch {
  /**
   * Up to which position no event of a type was found after another position: whoever asks for news of a rare type asks for the same
   * again and again.
   */
  readonly #reached = new Map<string, number>();

  /**
   * Yields the events of a type in a part of a log.
   *
   * @throws {EventLogError} none was found in time, and there are more to look at. Asked again, a search for the oldest goes on.
   */
  async *find(events: Stream, type: string, part: Part): AsyncGenerator<PlacedEvent> {
    const deadline = performance.now() + SEARCH_TIME;
    const search = `${String(part.after)} ${type}`;
    const remembered = part.first === 'oldest' ? this.#reached.get(search) : undefined;
    // A stream that ends earlier has replaced the one that was searched.
    let reached = remembered !== undefined && remembered <= (await events.state()).last ? remembered : part.after;
    let isFound = false;
    try {
      for await (const placed of new StreamWalk(events, SEARCH_WINDOW).events({ ...part, after: reached })) {
        if (isOfType(type, typeIn(placed.event.attributes))) {
          isFound = true;
          yield placed;
        }
        if (!isFound) reached = placed.sequence;
        if (performance.now() < deadline) continue;
        if (isFound) return;
        throw new EventLogError(
          'No event of this type was found yet, and there are more to look at. Ask again; with after the search goes on.',
        );
      }
    } finally {
      if (part.first === 'oldest') this.#remember(search, reached);
    }
  }

  #remember(search: string, reached: number): void {
    this.#reached.delete(search);
    this.#reached.set(search, reached);
    const [oldest] = this.#reached.keys();
    if (this.#reached.size > MAX_REMEMBERED && oldest !== undefined) this.#reached.delete(oldest);
  }
}
