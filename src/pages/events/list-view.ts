import type { EventLog, FoundEvent, SearchResult } from '../../log/event-log';
import {
  addressQuery,
  BINDING_LABELS,
  filterValues,
  isNarrowed,
  type Filter,
  type ListQuery,
  type ListPosition,
} from './list-query';
import { hexText } from './data-view';
import { shownText, sizeText, timeText } from './markup';

/** Events on one page of the list. */
export const EVENTS_ON_PAGE = 50;

/** An event in the list; its texts are HTML. */
export interface RowView {
  readonly sequence: string;
  readonly href: string;
  readonly time: string;
  readonly dateTime: string;
  /** A name of a binding that the style knows. */
  readonly binding: string | undefined;
  readonly bindingName: string;
  readonly type: string;
  readonly address: string;
  readonly size: string;
  readonly data: string;
}

/** One page of the list. Addresses are relative to the endpoint and have only the query; undefined: there is nothing. */
export interface ListView {
  readonly rows: readonly RowView[];
  readonly isNarrowed: boolean;
  readonly newer: string | undefined;
  readonly newest: string | undefined;
  readonly older: string | undefined;
  /** Where the search has stopped for this page, if it has found less than a page; undefined: it has looked at everything. */
  readonly searchedTo: string | undefined;
  /** Whether the search went towards newer events. */
  readonly isUpwards: boolean;
  /** Where live rows begin: after this position; undefined: this page does not show the newest events. */
  readonly liveAfter: string | undefined;
}

/** Most bytes of each text in a row, as markup: fifty rows of escapes have to fit into a page. */
const CELL_BYTES = 400;
const DATA_BYTES = 1200;

/** Bytes of a payload in a row, in hexadecimal: about as wide as a text. */
const BYTES_IN_ROW = 40;

/** Searches for the events of one page. */
export async function listView(
  log: EventLog,
  { filter, place }: Pick<ListQuery, 'filter' | 'place'>,
): Promise<ListView> {
  const isNewest = place.before === undefined && place.after === undefined;
  // Taken first: what is recorded during the search may be sent twice, but is not missed.
  const newest = isNewest ? await newestPosition(log) : 0n;
  const found = await log.search({ ...filter, ...place, limit: EVENTS_ON_PAGE });
  const { events, reached, more } = found;
  const values = filterValues(filter);
  const isUnfinished = more && events.length < EVENTS_ON_PAGE;
  const { newer, older } = neighbours(found, place);
  const address = (to: ListPosition) => `?${addressQuery({ events: '', ...values, ...to })}`;
  return {
    rows: events.map((event) => rowView(event, filter)),
    isNarrowed: isNarrowed(filter),
    newest: isNewest ? undefined : address({}),
    newer: isNewest ? undefined : newer && address(newer),
    older: older && address(older),
    searchedTo: isUnfinished && reached !== undefined ? timeText(reached.recordedAt) : undefined,
    isUpwards: place.after !== undefined,
    liveAfter: isNewest && filter.to === undefined ? String(newest) : undefined,
  };
}

/** Where the pages before and after one begin; undefined: there is nothing there. */
function neighbours(
  { events, reached, more }: SearchResult,
  { before, after }: ListPosition,
): { readonly newer: ListPosition | undefined; readonly older: ListPosition | undefined } {
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

/** New events for a list that is open. */
export interface NewRows {
  readonly rows: readonly RowView[];
  /** Events after this position have not been looked at. */
  readonly after: bigint;
}

/**
 * Searches for the events that came after a position: of a list that is narrowed the oldest of them, otherwise the newest, at
 * most a page of them.
 */
export async function newRows(log: EventLog, filter: Filter, after: bigint): Promise<NewRows> {
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

async function newestPosition(log: EventLog): Promise<bigint> {
  const { events } = await log.search({ limit: 1 });
  return BigInt(events[0]?.sequence ?? 0);
}

function rowView(event: FoundEvent, filter: Filter): RowView {
  const { sequence, recordedAt, binding, type, remoteAddress, data } = event;
  return {
    sequence,
    href: `?${addressQuery({ event: BigInt(sequence), ...filterValues(filter) })}`,
    time: timeText(recordedAt),
    dateTime: new Date(recordedAt).toISOString(),
    ...bindingView(binding),
    type: shownText(type ?? '–', CELL_BYTES),
    address: shownText(remoteAddress ?? '–', CELL_BYTES),
    size: data === undefined ? '–' : sizeText(data.bytes),
    data: data === undefined ? '' : dataStart(data),
  };
}

function dataStart({ kind, start, cut }: NonNullable<FoundEvent['data']>): string {
  // Base64 says nothing to a person.
  const text = kind === 'bytes' ? hexText(Buffer.from(start, 'base64').subarray(0, BYTES_IN_ROW)) : start;
  return shownText(cut ? `${text}…` : text, DATA_BYTES);
}

/** A binding for a page: its name, and whether the style knows it. */
export function bindingView(binding: string | undefined): Pick<RowView, 'binding' | 'bindingName'> {
  const name = binding === undefined ? undefined : BINDING_LABELS.get(binding);
  return { binding: name === undefined ? undefined : binding, bindingName: name ?? '–' };
}
