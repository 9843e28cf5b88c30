import { setTimeout as delay } from 'node:timers/promises';
import type { Endpoint } from '../../call/incoming-call';
import { ArchiveLine } from '../../events/archive-line';
import { StoredEvent } from '../../events/stored-event';
import { HTTP_ERRORS } from '../../http/errors';
import type { HttpResponse } from '../../http/response';
import type { EventLog } from '../../log/event-log';
import { EventWaiters } from '../../service/event-reader';
import { letOthersRun } from '../../util/promises';
import { shortened } from '../../util/text';
import { downloadHeaders } from './event-view';
import { isNarrowed, listQuery } from './list-query';

export type PageTicket = ReturnType<Endpoint['admission']['ticket']>;

/** Events change all the time and are private. */
export const NO_STORE = { 'Cache-Control': 'no-store' };

/** Most downloads of what a search finds at a time: each of them searches all the time. */
const MAX_SEARCHES = 2;

/** How many characters of lines are put together, at least, before they are sent. */
const CHUNK = 64 * 1024;

/** How long events gather before those who wait for them get them, in milliseconds: one write for many. */
const GATHERING = 200;

/** After this time without an event an empty line shows that the connection lives, in milliseconds. */
const SILENCE = 2000;

/** The longest that a caller can wait for more events, in seconds; then it asks again. */
const MAX_WAIT = 600;

const EMPTY_LINE = '\n';

const PARAMETERS = 'events id after before from to type binding sender fromsender text limit wait'.split(' ');

type DownloadQuery = ReturnType<typeof downloadQuery>;

/** Reads the query of `?events=download`, for people, which has all that the list finds, or of `?events=export`, for programs. */
function downloadQuery(parameters: URLSearchParams) {
  const { problem: unreadable, filter, place } = listQuery(parameters);
  if (unreadable !== undefined) throw HTTP_ERRORS.invalidInput(unreadable);
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined)
    throw HTTP_ERRORS.invalidInput(
      `There is no parameter ${shortened(unknown)}. The parameters are ${PARAMETERS.join(', ')}.`,
    );
  if (parameters.get('events') === 'download')
    return { filter, place: {}, id: undefined, limit: Infinity, wait: undefined, isSearch: true, end: '' };
  const limit = wholeNumber(parameters, 'limit', Number.MAX_SAFE_INTEGER) ?? Infinity;
  const seconds = wholeNumber(parameters, 'wait', MAX_WAIT);
  const id = parameters.get('id') || undefined;
  const isSearch = isNarrowed({ ...filter, from: undefined }) || place.before !== undefined;
  if (seconds !== undefined && (isSearch || filter.from !== undefined || id !== undefined || limit !== Infinity))
    throw HTTP_ERRORS.invalidInput('wait goes with after alone: a search and a limit end by themselves.');
  // Events are sent as they are recorded for `wait` ms. By an empty line programs know that the answer was not cut off.
  return { filter, place, id, limit, wait: seconds && seconds * 1000, isSearch, end: EMPTY_LINE };
}

function wholeNumber(parameters: URLSearchParams, name: string, most: number): number | undefined {
  const text = parameters.get(name) || undefined;
  const value = Number(text);
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text) && value <= most) return value;
  throw HTTP_ERRORS.invalidInput(`${name} must be a whole number up to ${String(most)}.`);
}

/**
 * Sends events as an export has them: NDJSON, oldest first, a line for each. The header field `X-Events-Last` has the last position
 * that the log has given. Damaged events are left out. Callers may take long: they hold no slot meanwhile.
 */
export class Downloads {
  readonly #log: EventLog;
  readonly #waiters: EventWaiters;
  #searches = 0;

  constructor({ log }: Endpoint) {
    this.#log = log;
    this.#waiters = new EventWaiters(log);
  }

  /**
   * @param check - throws if the caller may not have events any more; the answer then ends as if the connection did.
   * @throws {RequestError} 400: the query makes no sense; 503: too many searches are under way.
   */
  async send(
    response: HttpResponse,
    parameters: URLSearchParams,
    ticket: PageTicket,
    check: () => void,
  ): Promise<void> {
    const query = downloadQuery(parameters);
    const { wait, isSearch } = query;
    if (isSearch && this.#searches >= MAX_SEARCHES) throw HTTP_ERRORS.downloads(MAX_SEARCHES);
    this.#searches += Number(isSearch);
    try {
      const { last } = await this.#log.stats();
      // Proxies that follow nginx pass on each part at once then.
      const sent = { 'X-Events-Last': String(last), 'X-Accel-Buffering': 'no' };
      const headers = { ...NO_STORE, ...downloadHeaders('events.ndjson'), ...sent };
      await ticket.whileIdle((stop) => {
        const found = () => linesOf(this.#found(query, last, stop), query);
        const lines = wait === undefined ? found() : this.#followed(query, performance.now() + wait, stop);
        return response.replyInParts('application/x-ndjson', checked(lines, check), headers, stop);
      });
    } finally {
      this.#searches -= Number(isSearch);
    }
  }

  /** @param newest - Upper bound; otherwise a busy log would never end. */
  async *#found(query: DownloadQuery, newest: number, stop: AbortSignal): AsyncGenerator<StoredEvent> {
    const { filter, place, id, isSearch } = query;
    if (id === undefined && !isSearch) {
      yield* this.#eventsUntil(newest, query, stop);
      return;
    }
    const named = id === undefined ? undefined : await this.#log.read({ id, limit: 10 });
    for await (const event of named ?? this.#log.find({ ...filter, ...place }, stop, () => undefined))
      if (StoredEvent.problemOf(event) === undefined) yield event;
  }

  /** Reads the events from a position and a time on, the large ones one at a time. */
  async *#eventsUntil(newest: number, { filter, place, limit }: DownloadQuery, stop: AbortSignal) {
    const query = { since: filter.from, limit: Math.min(200, limit), maxBytes: 256 * 1024 };
    for (let after = place.after ?? 0; after < newest && !stop.aborted;) {
      const page = await this.#log.read({ ...query, after });
      for (const event of page) {
        if (event.position > newest) return;
        const whole = event.dataOmitted ? (await this.#log.read({ position: event.position, limit: 1 }))[0] : event;
        if (whole === event || (whole !== undefined && StoredEvent.problemOf(whole) === undefined)) yield whole;
      }
      after = page.at(-1)?.position ?? Infinity;
    }
  }

  async *#followed(query: DownloadQuery, until: number, stop: AbortSignal): AsyncGenerator<string> {
    // Lets the caller see the header.
    yield EMPTY_LINE;
    for (let after = query.place.after ?? 0; !stop.aborted;) {
      const newest = await this.#log.newest();
      yield* linesOf(this.#eventsUntil(newest, { ...query, place: { after } }, stop), { ...query, end: '' });
      after = Math.max(after, newest);
      const left = until - performance.now();
      if (left <= 0) break;
      if ((await this.#waiters.wait(after, Math.min(SILENCE, left), stop)) === undefined) yield EMPTY_LINE;
      else await delay(GATHERING);
    }
    yield EMPTY_LINE;
  }
}

async function* checked(parts: AsyncIterable<string>, check: () => void): AsyncGenerator<string> {
  for await (const part of parts) {
    check();
    yield part;
  }
}

async function* linesOf(
  events: AsyncIterable<StoredEvent>,
  { limit, end }: Pick<DownloadQuery, 'limit' | 'end'>,
): AsyncGenerator<string> {
  let text = '';
  let left = limit;
  for await (const event of limit === 0 ? [] : events) {
    text += `${ArchiveLine.of(event)}\n`;
    if (--left === 0) break;
    if (text.length < CHUNK) continue;
    yield text;
    text = '';
    await letOthersRun();
  }
  if (text + end !== '') yield text + end;
}
