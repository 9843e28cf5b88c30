import { archiveLine, archiveProblem } from '../../events/archive';
import type { EventLog, FoundEvent, LogQueries, Match, SearchResult } from '../../log/event-log';
import { foundEvents } from '../../log/stored-events';
import { letOthersRun, within } from '../../util/promises';
import { isVisible } from '../curl-command';
import {
  forwardCommand,
  addressQuery,
  BINDING_LABELS,
  filterValues,
  isNarrowed,
  type Filter,
  type ListQuery,
  type ListPosition,
} from './list-query';
import { hexText } from './data-view';
import { dayText, markup, shownText, sizeText, timeText } from './markup';

/** Events on one page of the list. */
const EVENTS_ON_PAGE = 50;

/** Most bytes of each text in a row, as markup: fifty rows of escapes have to fit into a page. */
const CELL_BYTES = 400;
const DATA_BYTES = 1200;

/** Most characters of a type or an address that is a link: fifty rows of links have to fit into a page. */
const MAX_LINKED = 100;

/** Bytes of a payload in a row, in hexadecimal: about as wide as a text. */
const BYTES_IN_ROW = 40;

/** Searches for the events of one page of the list. Links have only the query. */
export async function listView(log: LogQueries, { filter, place, problem }: ListQuery) {
  const values = filterValues(filter);
  const search = { filter: values, bindings: BINDING_LABELS };
  if (problem !== undefined) return { ...search, problem, rows: [], isNarrowed: true };
  const isNewest = place.before === undefined && place.after === undefined;
  // Read first: an event recorded during the search may be sent twice, but none is missed.
  const newest = isNewest ? await newestPosition(log) : 0n;
  const found = await log.search({ ...filter, ...place, limit: EVENTS_ON_PAGE });
  const { events, reached, more } = found;
  const isUnfinished = more && events.length < EVENTS_ON_PAGE;
  const { newer, older } = neighbours(found, place);
  const address = (to: ListPosition) => `?${addressQuery({ events: '', ...values, ...to })}`;
  const days = events.map(({ recordedAt }) => dayText(recordedAt));
  return {
    ...search,
    rows: events.map((event, i) => ({ ...rowView(event, filter), day: days[i] === days[i - 1] ? undefined : days[i] })),
    isNarrowed: isNarrowed(filter),
    found: String(events.length),
    isPage: !isNewest || (more && !isUnfinished),
    /** Where the search stopped, unless it came to the end of the log. */
    reached: more && reached !== undefined ? timeView(reached.recordedAt) : undefined,
    newest: isNewest ? undefined : address({}),
    newer: isNewest ? undefined : newer && address(newer),
    older: older && address(older),
    /** Whether the search stopped before the page was full. */
    isUnfinished,
    /** Posts all that the search finds to an address. Undefined if it found nothing yet or the command cannot be shown. */
    forward: events.length > 0 || isUnfinished ? forwardCommand(filter) : undefined,
    /** Saves all that the search finds. Undefined if it found nothing yet. */
    download: events.length > 0 || isUnfinished ? `?${addressQuery({ events: 'download', ...values })}` : undefined,
    /** Whether it went towards newer events. */
    isUpwards: place.after !== undefined,
    /** The position after which live rows begin; undefined on pages that do not show the newest events. */
    liveAfter: isNewest && filter.to === undefined ? String(newest) : undefined,
  };
}

/** The positions at which the neighbouring pages begin. */
function neighbours({ events, reached, more }: SearchResult, { before, after }: ListPosition) {
  const highest = events[0] === undefined ? undefined : BigInt(events[0].sequence);
  const lowest = events.at(-1) === undefined ? undefined : BigInt(events.at(-1)?.sequence ?? 0);
  const end = reached?.position;
  const isUpwards = after !== undefined;
  const newer = isUpwards ? (more ? end : undefined) : (highest ?? (before === undefined ? undefined : before - 1n));
  const older = isUpwards ? (lowest ?? after + 1n) : more ? end : undefined;
  return {
    newer: newer === undefined ? undefined : { after: newer },
    older: older === undefined ? undefined : { before: older },
  };
}

/**
 * Finds events for a list that is open: at most a page of those after a position, the oldest of them in a list that is narrowed,
 * otherwise the newest. `after` is the position after which to look next.
 */
export async function newRows(log: LogQueries, filter: Filter, after: bigint) {
  if (!isNarrowed(filter)) {
    const { events } = await log.search({ limit: EVENTS_ON_PAGE });
    const rows = events.filter(({ sequence }) => BigInt(sequence) > after).map((event) => rowView(event, filter));
    return { rows, after: BigInt(events[0]?.sequence ?? after) };
  }
  const newest = await newestPosition(log);
  const { events, reached, more } = await log.search({ ...filter, after, limit: EVENTS_ON_PAGE });
  const last = reached?.position ?? after;
  return { rows: events.map((event) => rowView(event, filter)), after: more || last > newest ? last : newest };
}

async function newestPosition(log: LogQueries): Promise<bigint> {
  const { events } = await log.search({ limit: 1 });
  return BigInt(events[0]?.sequence ?? 0);
}

/** Shows an event as a row of the list. What a sender wrote is HTML. */
function rowView(event: FoundEvent, filter: Filter) {
  const { sequence, recordedAt, binding, type, remoteAddress, data, match } = event;
  const narrowed = (name: 'type' | 'sender', value: string | undefined) =>
    value === undefined || value === filter[name] || value.length > MAX_LINKED
      ? undefined
      : `?${addressQuery({ events: '', ...filterValues(filter), [name]: value })}`;
  return {
    sequence,
    ...eventLink(BigInt(sequence), filter),
    ...timeView(recordedAt),
    ...bindingView(binding),
    type: shownText(type ?? '–', CELL_BYTES),
    /** Narrows the list. Undefined if it is narrowed so already, or the type is long. */
    ofType: narrowed('type', type),
    address: shownText(remoteAddress ?? '–', CELL_BYTES),
    ofSender: narrowed('sender', remoteAddress),
    size: data === undefined ? '–' : sizeText(data.bytes),
    /** What of the event the match is in, unless that is its data. */
    matchIn: match === undefined || match.in === 'data' ? undefined : match.in,
    data: match === undefined ? data && dataStart(data) : marked(match),
  };
}

/** A link to the page of an event, from a list with this filter. */
export function eventLink(position: bigint, filter: Filter) {
  return { position: String(position), href: `?${addressQuery({ event: position, ...filterValues(filter) })}` };
}

/** A time for a person and, for the `time` element, in RFC 3339. */
export function timeView(milliseconds: number) {
  return { time: timeText(milliseconds), dateTime: new Date(milliseconds).toISOString() };
}

/** Shows a match and what is around it. */
function marked({ before, text, after }: Match): string {
  const [start, mark, end] = [before, text, after].map((part) => {
    const { html, isCut } = markup(part, DATA_BYTES / 3);
    return isCut ? `${html}…` : html;
  });
  return `<bdi>${start ?? ''}<mark>${mark ?? ''}</mark>${end ?? ''}</bdi>`;
}

function dataStart({ kind, start, cut }: NonNullable<FoundEvent['data']>): string {
  // People cannot read base64.
  const text = kind === 'bytes' ? hexText(Buffer.from(start, 'base64').subarray(0, BYTES_IN_ROW)) : start;
  return shownText(cut ? `${text}…` : text, DATA_BYTES);
}

/** A binding's name, and its class in the style sheet if it is one of ours. */
export function bindingView(binding: string | undefined) {
  const name = binding === undefined ? undefined : BINDING_LABELS.get(binding);
  return { binding: name === undefined ? undefined : binding, bindingName: name ?? '–' };
}

/** About how many characters are written at a time, after which other calls run. */
const CHUNK = 64 * 1024;

/**
 * Writes all events that a search finds, oldest first, in the lines of an export.
 *
 * @param stop - ends it early.
 * @param leftOut - called with the sequence of each event that is damaged.
 */
export async function* archiveOf(
  log: EventLog,
  filter: Filter,
  stop: AbortSignal,
  leftOut: (sequence: string) => void,
): AsyncGenerator<string> {
  let text = '';
  for await (const event of foundEvents(log, filter, stop, () => undefined)) {
    if (archiveProblem(event) === undefined) text += `${archiveLine(event)}\n`;
    else leftOut(event.sequence);
    if (text.length < CHUNK) continue;
    yield text;
    text = '';
    await letOthersRun();
  }
  yield text;
}

/** Most types that are suggested, and most characters of each. */
const MAX_TYPES = 100;
const MAX_TYPE_LENGTH = 100;

/** Most searches in a look: types that are not suggested are found again and again. */
const MAX_SEARCHES = 50;

/** How long a page waits for types that are not known yet, in milliseconds; the next page has them. */
const TYPES_WAIT = 50;

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
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    // Why the log cannot be read is said by what reads it for the page.
    await within(this.#looking, TYPES_WAIT, () => new Error('too late')).catch(() => undefined);
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
    if (type !== undefined && type.length <= MAX_TYPE_LENGTH && isVisible(type)) this.#types.add(type);
  }
}
