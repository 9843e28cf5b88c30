import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Endpoint } from '../../call/incoming-call';
import { ArchiveLine } from '../../events/archive-line';
import { StoredEvent } from '../../events/stored-event';
import { HTTP_ERRORS } from '../../http/errors';
import type { HttpResponse } from '../../http/response';
import type { EventLog } from '../../log/event-log';
import { Semaphore } from '../../util/promises';
import { shortened } from '../../util/text';
import { CHUNK, EMPTY_LINE, EventFeed, piecesOf, type Reserve } from './event-feed';
import { downloadHeaders } from './event-view';
import { isNarrowed, listQuery } from './list-query';

/** Events change all the time and are private. */
export const NO_STORE = { 'Cache-Control': 'no-store' };

/** One event, of which only the position is used. */
export const ONE = { limit: 1, maxBytes: 1 };

/** Most downloads of what a search finds at a time: each of them searches all the time. */
const MAX_SEARCHES = 2;

/** Most events with one id, of different sources, that an export has. */
const MAX_NAMED = 10;

/** The longest that a caller can wait for more events, in seconds; then it asks again. */
const MAX_WAIT = 600;

const PARAMETERS = 'events id after before from to type binding sender fromsender text limit wait'.split(' ');

type DownloadQuery = ReturnType<typeof downloadQuery>;

/** Reads the query of `?events=export`. */
function downloadQuery(parameters: URLSearchParams) {
  const { problem: unreadable, filter, place } = listQuery(parameters);
  if (unreadable !== undefined) throw HTTP_ERRORS.invalidInput(unreadable);
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined)
    throw HTTP_ERRORS.invalidInput(`There is no parameter ${shortened(unknown)}, only ${PARAMETERS.join(', ')}.`);
  const limit = wholeNumber(parameters, 'limit', Number.MAX_SAFE_INTEGER) ?? Infinity;
  const seconds = wholeNumber(parameters, 'wait', MAX_WAIT);
  const id = parameters.get('id') || undefined;
  const isSearch = isNarrowed({ ...filter, from: undefined }) || place.before !== undefined;
  const isSelected = isSearch || filter.from !== undefined;
  if (seconds !== undefined && (isSelected || id !== undefined || limit !== Infinity))
    throw HTTP_ERRORS.invalidInput('wait goes with after alone: a search and a limit end by themselves.');
  if (id !== undefined && isSelected) throw HTTP_ERRORS.invalidInput('id goes with after and limit alone.');
  // Events are sent as they are recorded for `wait` ms.
  return { filter, place, id, limit, wait: seconds && seconds * 1000, isSearch };
}

function wholeNumber(parameters: URLSearchParams, name: string, most: number): number | undefined {
  const text = parameters.get(name) ?? '';
  if (text === '') return undefined;
  if (/^\d+$/.test(text) && Number(text) <= most) return Number(text);
  throw HTTP_ERRORS.invalidInput(`${name} must be a whole number up to ${String(most)}.`);
}

/**
 * Sends events as an export has them: NDJSON, oldest first, a line for each. The header field `X-Events-Last` has the last position
 * that the log has given. Damaged events are left out. Callers may take long: they hold no slot meanwhile.
 */
export class Downloads {
  readonly #feed: EventFeed;
  readonly #turns = new Semaphore(16);
  #searches = 0;

  constructor(private readonly log: EventLog) {
    this.#feed = new EventFeed(log);
  }

  /**
   * @param check - throws if the caller may not have events any more; the answer then ends as if the connection did.
   * @throws {RequestError} 400: the query makes no sense; 503: too many searches are under way.
   */
  async send(
    response: HttpResponse,
    parameters: URLSearchParams,
    ticket: ReturnType<Endpoint['admission']['ticket']>,
    check: () => void,
  ): Promise<void> {
    const query = downloadQuery(parameters);
    const { place, wait, isSearch } = query;
    if (isSearch && this.#searches >= MAX_SEARCHES) throw HTTP_ERRORS.downloads(MAX_SEARCHES);
    this.#searches += Number(isSearch);
    try {
      const newest = await this.log.newest();
      // Proxies that follow nginx pass on each part at once then.
      const sent = { 'X-Events-Last': String(newest), 'X-Accel-Buffering': 'no' };
      const headers = { ...NO_STORE, ...downloadHeaders('events.ndjson'), ...sent };
      await ticket.whileIdle((stop) => {
        const reserve: Reserve = (bytes) => {
          stop.throwIfAborted();
          response.reserve(bytes);
        };
        const lines =
          wait === undefined
            ? this.#found(query, newest, reserve, stop)
            : this.#feed.follow(place.after ?? 0, performance.now() + wait, reserve, stop);
        return response.replyInParts('application/x-ndjson', this.#inTurns(lines, check), headers, stop);
      });
    } finally {
      this.#searches -= Number(isSearch);
    }
  }

  /** @param newest - Upper bound; otherwise a busy log would never end. */
  async *#found(query: DownloadQuery, newest: number, reserve: Reserve, stop: AbortSignal): AsyncGenerator<Buffer> {
    const { filter, place, id, limit, isSearch } = query;
    if (id !== undefined) yield* this.#named(id, place.after ?? 0, Math.min(limit, MAX_NAMED), reserve);
    else if (isSearch) yield* this.#searched(query, reserve, stop);
    else yield* this.#feed.between(place.after ?? 0, newest, reserve, { since: filter.from, limit });
    // Programs know by it that the answer was not cut off.
    yield EMPTY_LINE;
  }

  /** Holds nothing of an event but its position while its lines are sent. */
  async *#named(id: string, start: number, limit: number, reserve: Reserve): AsyncGenerator<Buffer> {
    for (let [after, left] = [start, limit]; left > 0; left--) {
      const position = (await this.log.read({ id, after, ...ONE }))[0]?.position;
      if (position === undefined) return;
      yield* this.#feed.between(position - 1, position, reserve);
      after = position;
    }
  }

  async *#searched({ filter, place, limit }: DownloadQuery, reserve: Reserve, stop: AbortSignal) {
    let text = '';
    let left = limit;
    for await (const event of this.log.find({ ...filter, ...place }, stop)) {
      if (left === 0) break;
      if (StoredEvent.problemOf(event) !== undefined) continue;
      left--;
      text += `${ArchiveLine.of(event)}\n`;
      if (text.length < CHUNK) continue;
      const pieces = piecesOf(text, reserve);
      text = '';
      for (let piece; (piece = pieces.shift()) !== undefined;) yield piece;
    }
    yield* piecesOf(text, reserve);
  }

  /** Few are given a piece in one turn of the event loop: a system may take megabytes of each at once. */
  async *#inTurns(pieces: AsyncIterable<Buffer>, check: () => void): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      await this.#turns.run(() => nextTurn());
      check();
      yield piece;
    }
  }
}
