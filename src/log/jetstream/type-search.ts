import type { StoredEvent } from '../../events/stored-event';
import { EventLogError, isOfType, typeIn } from '../engine';
import type { Stream } from './stream';
import { StreamWalk, type Part } from './walk';

/** How long a read looks for the first event of a type, in milliseconds. */
const SEARCH_TIME = 2000;

/** Maximum messages that are asked for at a time: they hold this thread up for two milliseconds. */
export const SEARCH_WINDOW = 32;

/** How many searches without a result are remembered. */
const MAX_REMEMBERED = 64;

/** Finds events of a type by looking at each event: servers have no index of types. */
export class TypeSearch {
  /** Positions up to which there is no event of a type after another position: readers of a rare type repeat their search. */
  readonly #reached = new Map<string, number>();

  /** @throws {EventLogError} none was found in time. Asked again, a search for the oldest goes on. */
  async *find(events: Stream, type: string, part: Part): AsyncGenerator<StoredEvent> {
    const deadline = performance.now() + SEARCH_TIME;
    const search = `${String(part.after)} ${type}`;
    const remembered = part.first === 'oldest' ? this.#reached.get(search) : undefined;
    // A stream that ends earlier has replaced the one that was searched.
    let reached = remembered !== undefined && remembered <= (await events.state()).last_seq ? remembered : part.after;
    let isFound = false;
    try {
      for await (const event of new StreamWalk(events, SEARCH_WINDOW).events({ ...part, after: reached })) {
        if (isOfType(type, typeIn(event.attributes))) {
          isFound = true;
          yield event;
        }
        if (!isFound) reached = event.position;
        if (performance.now() < deadline) continue;
        if (isFound) return;
        throw new EventLogError(
          'No event of this type was found yet, and there are more to look at. Ask again; with after the search goes on.',
        );
      }
    } finally {
      if (this.#reached.size === MAX_REMEMBERED) this.#reached.clear();
      if (part.first === 'oldest') this.#reached.set(search, reached);
    }
  }
}
