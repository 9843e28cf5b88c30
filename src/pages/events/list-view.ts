import type { EventLog } from '../../log/event-log';
import { forwardCommand, type EndpointAddress } from './commands';
import { Sender } from '../../senders/sender';
import { addressQuery, eventLink, filterValues, isNarrowed, type Filter, type ListQuery } from './list-query';
import { sizeText } from '../../util/text';
import { BINDING_LABELS, bindingView, dayText, hexText, markup, shownText, timeView } from './markup';

type Found = Awaited<ReturnType<EventLog['search']>>;
type ListedEvent = Found['events'][number];

const EVENTS_ON_PAGE = 50;

/** Most bytes of each text in a row, as markup. */
const CELL_BYTES = 400;
const DATA_BYTES = 1200;

/** Most characters of a type or an address that is a link. */
const MAX_LINKED = 100;

/** Bytes of a payload in a row, in hexadecimal: about as wide as a text. */
const BYTES_IN_ROW = 40;

/** Searches for the events of one page of the list. Links have only the query. */
export async function listView(log: EventLog, query: ListQuery, service: EndpointAddress) {
  const { filter, place, problem, invalid } = query;
  const values = filterValues(filter);
  const search = { filter: { ...values, ...invalid }, invalid, bindings: BINDING_LABELS, senders: Sender.recognised };
  if (problem !== undefined) return { ...search, problem, rows: [], isNarrowed: true };
  const isNewest = place.before === undefined && place.after === undefined;
  // Read first: an event recorded during the search may be sent twice, but none is missed.
  const newest = await log.newest();
  const found = await log.search({ ...filter, ...place, limit: EVENTS_ON_PAGE });
  const { events, reached, more } = found;
  const isUnfinished = more && events.length < EVENTS_ON_PAGE;
  const mayFind = events.length > 0 || isUnfinished;
  const { newer, older } = pagePlaces(found, place);
  const address = (to: Partial<ListQuery['place']>) => `?${addressQuery({ events: '', ...values, ...to })}`;
  const last = reached?.position ?? place.after ?? 0;
  const days = events.map(({ recordedAt }) => dayText(recordedAt));
  return {
    ...search,
    rows: events.map((event, i) => ({ ...rowView(event, filter), day: days[i] === days[i - 1] ? undefined : days[i] })),
    isNarrowed: isNarrowed(filter),
    found: String(events.length),
    isNewest,
    /** The time at which the search stopped, unless it came to the end of the log. */
    reached: more && reached !== undefined ? timeView(reached.recordedAt) : undefined,
    newest: isNewest ? undefined : address({}),
    newer: newer === undefined ? undefined : address({ after: newer }),
    older: older === undefined ? undefined : address({ before: older }),
    isUnfinished,
    forward: mayFind ? forwardCommand(filter, service) : undefined,
    forwardAsReceived: forwardCommand(filter, service, '--as-received'),
    download: mayFind ? `?${addressQuery({ events: 'export', ...values })}` : undefined,
    isUpwards: place.after !== undefined,
    isLive: isNewest && filter.to === undefined,
    /** The position after which new events come, or the rest of them on a page of those after a position. */
    newAfter: String(more && place.after !== undefined ? last : Math.max(newest, last)),
  };
}

/** Where the neighbouring pages begin: that of newer events after a position, that of older ones before one. */
function pagePlaces({ events, reached, more }: Found, { before, after }: ListQuery['place']) {
  const [highest, lowest] = [events[0]?.position, events.at(-1)?.position];
  const end = more ? reached?.position : undefined;
  if (after !== undefined) return { newer: end, older: lowest ?? after + 1 };
  return { newer: before === undefined ? undefined : (highest ?? before - 1), older: end };
}

function rowView(event: ListedEvent, filter: Filter) {
  const { position, recordedAt, binding, type, remoteAddress, sender, data, match } = event;
  const values = filterValues(filter);
  /** A link that narrows the list, unless it is narrowed so already or the value is long. */
  const narrowed = (name: 'type' | 'sender' | 'fromsender', value: string | undefined) =>
    value === undefined || value === values[name] || value.length > MAX_LINKED
      ? undefined
      : `?${addressQuery({ events: '', ...values, [name]: value })}`;
  return {
    ...eventLink(position, filter),
    ...timeView(recordedAt),
    ...bindingView(binding),
    type: shownText(type ?? '–', CELL_BYTES),
    ofType: narrowed('type', type),
    sender: shownText(Sender.named(sender)?.name ?? sender ?? remoteAddress ?? '–', CELL_BYTES),
    isKnown: sender !== undefined,
    ofSender: sender === undefined ? narrowed('sender', remoteAddress) : narrowed('fromsender', sender),
    size: data === undefined ? '–' : sizeText(data.bytes),
    matchIn: match === undefined || match.in === 'data' ? undefined : match.in,
    data: match === undefined ? data && dataStart(data) : marked(match),
  };
}

function marked({ before, text, after }: NonNullable<ListedEvent['match']>): string {
  const [start, mark, end] = [before, text, after].map((part) => {
    const { html, isCut } = markup(part, DATA_BYTES / 3);
    return isCut ? `${html}…` : html;
  });
  return `<bdi>${start ?? ''}<mark>${mark ?? ''}</mark>${end ?? ''}</bdi>`;
}

function dataStart({ kind, start, cut, bytes }: NonNullable<ListedEvent['data']>): string {
  if (kind !== 'bytes') return shownText(cut ? `${start}…` : start, DATA_BYTES);
  // People cannot read base64.
  const text = hexText(Buffer.from(start, 'base64').subarray(0, BYTES_IN_ROW));
  return shownText(bytes > BYTES_IN_ROW ? `${text} …` : text, DATA_BYTES);
}
