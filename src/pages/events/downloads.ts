import { setTimeout as delay } from 'node:timers/promises';
import type { Ticket } from '../../call/admission';
import type { Endpoint } from '../../call/endpoint';
import { ArchiveLine } from '../../events/archive-line';
import { refusedParameter } from '../../contract/schema';
import { sequenceOf } from '../../events/position';
import { problemOf, type StoredEvent } from '../../events/stored-event';
import { HTTP_ERRORS } from '../../http/errors';
import type { HttpResponse } from '../../http/response';
import { EventLogError } from '../../log/engine';
import type { EventLog } from '../../log/event-log';

import { EventWaiters } from '../../service/event-reader';
import { OTHER_FILTERS } from '../../service/webhook-service';
import { letOthersRun } from '../../util/promises';
import { downloadHeaders } from './event-view';
import { isNarrowed, listQuery, type ListQuery } from './list-query';
import { NO_STORE } from './views';

/** Most downloads of what a search finds at a time: each of them searches all the time. */
const MAX_SEARCHES = 2;

/** How many characters of what a search finds are put together, at least, before they are sent. */
const CHUNK = 64 * 1024;

/** Most events that are read at a time, and most of one id. */
const PAGE_EVENTS = 200;
const SAME_ID = 10;

/** How many bytes are read and sent at a time, about: each caller may hold as much. */
const PAGE_BYTES = 256 * 1024;

/** How long events gather before those who wait for them get them, in milliseconds: one write for many. */
const GATHERING = 200;

/** After this time without an event an empty line shows that the connection lives, in milliseconds. */
const SILENCE = 2000;

/** The longest that a caller can wait for more events, in seconds; then it asks again. */
const MAX_WAIT = 600;

const EMPTY_LINE = Buffer.from('\n');

/** Most damaged events that are named. */
const MAX_NAMED = 10;

/** The parameters of a download, besides those that a page has. */
const PARAMETERS = [
  'id',
  'after',
  'before',
  'from',
  'to',
  'type',
  'binding',
  'sender',
  'fromsender',
  'text',
  'limit',
  'wait',
];

/** The events of a download. */
interface DownloadQuery extends Pick<ListQuery, 'filter' | 'place'> {
  /** Only events with this id. */
  readonly id?: string | undefined;
  /** Maximum number of events. */
  readonly limit: number;
  /** How long events are sent as they are recorded, in milliseconds; without it the download ends with the newest event. */
  readonly wait?: number | undefined;
  /** Whether a search finds the events; otherwise they are read from a position or a time on. */
  readonly isSearch: boolean;
  /** Follows the last event: programs know by an empty line that the answer was not cut off. */
  readonly end: '' | '\n';
}

/**
 * Reads the query of `?events=download`, for people, which has all that the list finds, or of `?events=export`, for programs.
 *
 * @throws {RequestError} 400: it makes no sense.
 */
function downloadQuery(parameters: URLSearchParams): DownloadQuery {
  const {
    problem = refusedParameter((name) => parameters.has(name), OTHER_FILTERS, PARAMETERS),
    filter,
    place,
  } = listQuery(parameters);
  if (problem !== undefined) throw HTTP_ERRORS.invalidInput(problem);
  if (parameters.get('events') === 'download') return { filter, place: {}, limit: Infinity, isSearch: true, end: '' };
  const limit = wholeNumber(parameters, 'limit', Number.MAX_SAFE_INTEGER) ?? Infinity;
  const seconds = wholeNumber(parameters, 'wait', MAX_WAIT);
  const wait = seconds === undefined ? undefined : seconds * 1000;
  const id = parameters.get('id') || undefined;
  const isSearch = isNarrowed({ ...filter, from: undefined }) || place.before !== undefined;
  if (wait !== undefined && (isSearch || [filter.from, id].some((value) => value !== undefined) || limit !== Infinity))
    throw HTTP_ERRORS.invalidInput('wait goes with after alone: a search and a limit end by themselves.');
  return { filter, place, id, limit, wait, isSearch, end: '\n' };
}

function wholeNumber(parameters: URLSearchParams, name: string, most: number): number | undefined {
  const text = parameters.get(name) || undefined;
  const value = Number(text);
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text) && value <= most) return value;
  throw HTTP_ERRORS.invalidInput(`${name} must be a whole number up to ${String(most)}.`);
}

/** Events as a caller gets them. */
interface ExportPage {
  readonly lines: Buffer;
  readonly events: number;
  /** The position of its last event; undefined if it is empty. */
  readonly last: number | undefined;
  readonly damaged: readonly number[];
}

/**
 * Sends events as an export has them: NDJSON, oldest first, a line for each. The header field `X-Events-Last` has the last position
 * that the log has given. Callers may take long: they hold no slot meanwhile.
 */
export class Downloads {
  readonly #log: EventLog;
  readonly #waiters: EventWaiters;
  /** The pages after some positions, for all who wait there. */
  readonly #pages = new Map<number, Promise<ExportPage>>();
  #searches = 0;

  constructor({ log }: Endpoint) {
    this.#log = log;
    this.#waiters = new EventWaiters(log);
  }

  /**
   * @throws {RequestError} 400: the query makes no sense; 503: too many searches are under way.
   * @throws {EventLogError} damaged events were left out of what was sent.
   */
  async send(response: HttpResponse, parameters: URLSearchParams, ticket: Ticket): Promise<void> {
    const query = downloadQuery(parameters);
    const { id, place, wait, isSearch } = query;
    if (isSearch && this.#searches >= MAX_SEARCHES) throw HTTP_ERRORS.downloads(MAX_SEARCHES);
    this.#searches += Number(isSearch);
    const damaged: number[] = [];
    try {
      const { last } = await this.#log.stats();
      // Proxies that follow nginx pass on each part at once then.
      const sent = { 'X-Events-Last': String(last), 'X-Accel-Buffering': 'no' };
      const headers = { ...NO_STORE, ...downloadHeaders('events.ndjson'), ...sent };
      await ticket.whileIdle((stop) => {
        const answer = (parts: AsyncIterable<string | Buffer>) =>
          response.replyInParts('application/x-ndjson', parts, headers, stop);
        if (isSearch || id !== undefined) return answer(linesOf(this.#found(query, stop), query, damaged));
        if (wait === undefined) return answer(this.#exported(query, last, stop, damaged));
        return answer(this.#followed(place.after ?? 0, performance.now() + wait, stop, damaged));
      });
    } finally {
      this.#searches -= Number(isSearch);
    }
    if (damaged.length > 0) throw damagedEvents(damaged);
  }

  async *#found({ filter, place, id }: DownloadQuery, stop: AbortSignal): AsyncGenerator<StoredEvent> {
    if (id === undefined) yield* this.#log.find({ ...filter, ...place }, stop, () => undefined);
    else yield* this.#named(id);
  }

  async *#named(id: string): AsyncGenerator<StoredEvent> {
    for (const { position } of await this.#log.read({ id, limit: SAME_ID })) {
      const [event] = await this.#log.read({ position, limit: 1 });
      if (event !== undefined) yield event;
    }
  }

  /** @param newest - later events are not among them: there would be no end while events are recorded. */
  async *#exported(
    { filter, place, limit: most }: DownloadQuery,
    newest: number,
    stop: AbortSignal,
    damaged: number[],
  ): AsyncGenerator<Buffer> {
    let left = most;
    for (let position = place.after ?? 0, limit = 1; left > 0 && !stop.aborted;) {
      const query = { after: position, since: filter.from, limit: Math.min(limit, left) };
      const page = await this.#log.scan(query).then((events) => pageOf(events, newest));
      if (page.last === undefined) break;
      damaged.push(...page.damaged);
      position = page.last;
      left -= page.events - page.damaged.length;
      limit = limitAfter(page);
      yield page.lines;
    }
    yield EMPTY_LINE;
  }

  async *#followed(after: number, until: number, stop: AbortSignal, damaged: number[]): AsyncGenerator<Buffer> {
    // Lets the caller see the header.
    yield EMPTY_LINE;
    // The newest position that was told of; its event may be forgotten already.
    let seen = after;
    for (let position = after, limit = 1; !stop.aborted;) {
      const page = await this.#pageAfter(position, limit);
      if (page.last !== undefined) {
        damaged.push(...page.damaged);
        position = page.last;
        limit = limitAfter(page);
        seen = Math.max(seen, position);
        yield page.lines;
      } else {
        const left = until - performance.now();
        if (left <= 0) break;
        const newest = await this.#waiters.wait(seen, Math.min(SILENCE, left), stop);
        seen = newest ?? seen;
        if (newest === undefined) yield EMPTY_LINE;
        else await delay(GATHERING);
      }
    }
    yield EMPTY_LINE;
  }

  /** Returns the same page to all who ask for it within a moment: those who follow the log do so at the same place. */
  #pageAfter(position: number, limit: number): Promise<ExportPage> {
    const known = this.#pages.get(position);
    if (known !== undefined) return known;
    const page = this.#log.scan({ after: position, limit }).then((events) => pageOf(events));
    this.#pages.set(position, page);
    const forget = (): void => {
      setTimeout(() => this.#pages.delete(position), GATHERING).unref();
    };
    page.then(forget, forget);
    return page;
  }
}

function pageOf(read: readonly StoredEvent[], newest = Infinity): ExportPage {
  const damaged: number[] = [];
  const events = read.filter(({ position }) => position <= newest);
  const lines = Buffer.from(textOf(events, damaged));
  return { lines, events: events.length, last: events.at(-1)?.position, damaged };
}

/** How many events to read next, if they are as large as those of a page. */
function limitAfter({ lines, events }: ExportPage): number {
  const bytes = Math.max(1, lines.length);
  return Math.min(PAGE_EVENTS, Math.max(1, Math.floor((events * PAGE_BYTES) / bytes)));
}

function textOf(events: readonly StoredEvent[], damaged: number[]): string {
  let text = '';
  for (const event of events) {
    if (problemOf(event) === undefined) text += `${ArchiveLine.of(event)}\n`;
    else damaged.push(event.position);
  }
  return text;
}

async function* linesOf(
  events: AsyncIterable<StoredEvent>,
  { limit, end }: DownloadQuery,
  damaged: number[],
): AsyncGenerator<string> {
  let text = '';
  let left = limit;
  for await (const event of limit === 0 ? [] : events) {
    const line = textOf([event], damaged);
    text += line;
    if (line !== '' && --left === 0) break;
    if (text.length < CHUNK) continue;
    yield text;
    text = '';
    await letOthersRun();
  }
  yield text + end;
}

function damagedEvents(positions: readonly number[]): EventLogError {
  const some = positions.slice(0, MAX_NAMED).map(sequenceOf).join(', ');
  const others = positions.length > MAX_NAMED ? ` and ${String(positions.length - MAX_NAMED)} more` : '';
  return new EventLogError(
    `Damaged events were left out of a download: ${some}${others}. asmx-webhook-events verify says more.`,
  );
}
