import type { FoundEvent, LogQueries, Match, SearchResult } from '../../log/event-log';
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
export async function listView(log: LogQueries, { filter, place }: Pick<ListQuery, 'filter' | 'place'>) {
  const isNewest = place.before === undefined && place.after === undefined;
  // Read first: an event recorded during the search may be sent twice, but none is missed.
  const newest = isNewest ? await newestPosition(log) : 0n;
  const found = await log.search({ ...filter, ...place, limit: EVENTS_ON_PAGE });
  const { events, reached, more } = found;
  const values = filterValues(filter);
  const isUnfinished = more && events.length < EVENTS_ON_PAGE;
  const { newer, older } = neighbours(found, place);
  const address = (to: ListPosition) => `?${addressQuery({ events: '', ...values, ...to })}`;
  const days = events.map(({ recordedAt }) => dayText(recordedAt));
  return {
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
    position: String(BigInt(sequence)),
    href: `?${addressQuery({ event: BigInt(sequence), ...filterValues(filter) })}`,
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

function timeView(recordedAt: number) {
  return { time: timeText(recordedAt), dateTime: new Date(recordedAt).toISOString() };
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
