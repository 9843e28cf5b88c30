import { setTimeout as delay } from 'node:timers/promises';
import type { LogQueries } from '../../log/event-log';
import { isVisible } from '../curl-command';

/** Most types that are suggested, and most characters of each. */
const MAX_TYPES = 100;
const MAX_LENGTH = 100;

/** Most searches in a look: types that are not suggested are found again and again. */
const MAX_SEARCHES = 50;

/** How long a page waits for types that are not known yet, in milliseconds; the next page has them. */
const WAIT = 50;

/**
 * The types of a log's events, as far as they are known. Each event is looked at once: those that came since the last look, and as
 * many older ones as a search gets to, so that the cost of a look does not depend on the size of the log.
 */
export class KnownTypes {
  readonly #log: LogQueries;
  readonly #types = new Set<string>();
  /** The positions between which all events were looked at. Undefined if none was. */
  #looked: { first: bigint; last: bigint } | undefined;
  #isComplete = false;
  #looking: Promise<void> | undefined;

  constructor(log: LogQueries) {
    this.#log = log;
  }

  /** Looks at some events, and returns the types that are known by then, in alphabetical order. */
  async list(): Promise<readonly string[]> {
    // Why the log cannot be read is said by what reads it for the page.
    this.#looking ??= this.#look()
      .catch(() => undefined)
      .finally(() => (this.#looking = undefined));
    const waited = new AbortController();
    await Promise.race([this.#looking, delay(WAIT, undefined, { signal: waited.signal }).catch(() => undefined)]);
    waited.abort();
    return [...this.#types].sort();
  }

  async #look(): Promise<void> {
    if (this.#looked === undefined) {
      const { events } = await this.#log.search({ limit: 1 });
      const position = BigInt(events[0]?.sequence ?? 0);
      if (position === 0n) return;
      this.#add(events[0]?.type);
      this.#looked = { first: position, last: position };
    }
    const looked = this.#looked;
    await this.#each('after', looked.last, (position) => (looked.last = position));
    if (!this.#isComplete) {
      this.#isComplete = await this.#each('before', looked.first, (position) => (looked.first = position));
    }
  }

  /** Searches for types that are not known, until a search takes its time without coming to an end. Resolves to whether it did. */
  async #each(direction: 'after' | 'before', start: bigint, reach: (position: bigint) => void): Promise<boolean> {
    let place = start;
    for (let searches = 0; this.#types.size < MAX_TYPES; searches++) {
      const otherTypes = [...this.#types];
      const { events, reached, more } = await this.#log.search({ [direction]: place, otherTypes, limit: 1 });
      this.#add(events[0]?.type);
      place = reached?.position ?? place;
      reach(place);
      if (!more) return true;
      if (events.length === 0 || searches === MAX_SEARCHES) return false;
    }
    return true;
  }

  #add(type: string | undefined): void {
    if (type !== undefined && type.length <= MAX_LENGTH && isVisible(type)) this.#types.add(type);
  }
}
