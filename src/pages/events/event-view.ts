import type { OutgoingHttpHeaders } from 'node:http';
import { sequenceOf } from '../../events/position';
import { eventJson, type StoredEvent } from '../../events/stored-event';
import type { EventLog } from '../../log/event-log';
import { Arrival } from '../../events/arrival';
import { EventData } from '../../events/event-data';
import { isJsonType, isXmlType } from '../received-request';
import { curlCommand, forwardCommand, type EndpointAddress } from './commands';
import { dataView } from './data-view';
import { addressQuery, filterValues, isNarrowed, type Filter } from './list-query';
import { shownText } from '../markup';
import { bindingView, PAIRS_BYTES, pairs, timeView, type Pair } from './parts';
import { MediaType } from '../../http/content/media-type';
import { sizeText } from '../../util/text';

/** Most bytes of the header fields as markup: enough for 16 KiB in one field. */
const HEADERS_BYTES = 40_000;

/** Finds the newest event with an id, whatever its source. */
export async function positionOf(log: EventLog, id: string | null): Promise<number | undefined> {
  if (id === null) return undefined;
  const events = await log.read({ id, limit: 1, maxBytes: 1 });
  return events[0]?.position;
}

export type Neighbours = Awaited<ReturnType<typeof neighbours>>;

/**
 * Finds the neighbours of a position in the list of a filter, as queries of links to them, and an event to compare with. Where a search
 * did not come to its end in time, the list goes on with it.
 */
export async function neighbours(log: EventLog, position: number, filter: Filter) {
  const values = filterValues(filter);
  const find = async (place: 'after' | 'before') => {
    const { events, reached, more } = await log.search({ ...filter, [place]: position, limit: 1 });
    const found = events[0]?.position;
    if (found !== undefined) return { found, link: `?${addressQuery({ event: found, ...values })}` };
    const link = more && reached ? `?${addressQuery({ events: '', ...values, [place]: reached.position })}` : undefined;
    return { found, link };
  };
  const [newer, older] = await Promise.all([find('after'), find('before')]);
  return { newer: newer.link, older: older.link, other: older.found ?? newer.found };
}

export type EventView = Awaited<ReturnType<typeof eventView>>;

/** Shows an event that was opened from the list of a filter. What a sender wrote is HTML; links have only the query. */
export async function eventView(event: StoredEvent, filter: Filter, address: EndpointAddress) {
  const { position } = event;
  const attributes = JSON.parse(event.attributes) as Readonly<Record<string, unknown>>;
  const download = (what: string) => `?${addressQuery({ event: position, download: what })}`;
  return {
    sequence: String(position),
    id: shownText(event.id),
    type: shownText(String(attributes.type)),
    ...timeView(event.recordedAt),
    ...bindingView(typeof attributes.binding === 'string' ? attributes.binding : undefined),
    attributes: pairs([...Object.entries(attributes), ['sequence', sequenceOf(position)]]),
    keys: keysOf(event),
    data: await dataOf(event),
    arrival: arrivalView(event),
    curl: curlCommand(event, address),
    forward: forwardCommand(event, address),
    forwardAsReceived: forwardCommand(event, address, '--as-received'),
    files: fileNames(event),
    downloads: { event: download('event'), data: download('data') },
    list: `?${addressQuery({ events: '', ...filterValues(filter) })}`,
    isNarrowed: isNarrowed(filter),
    filter: filterValues(filter),
  };
}

async function dataOf(event: StoredEvent) {
  const data = EventData.of(event);
  if (data === undefined) return undefined;
  const arrival = new Arrival(event);
  const sent = arrival.header('content-type');
  const isForm = sent === undefined ? arrival.target?.includes('?') === true : MediaType.parse(sent)?.isForm === true;
  const { datacontenttype } = JSON.parse(event.attributes) as { readonly datacontenttype?: unknown };
  const view = await dataView(data, { isForm, isJson: isJsonType(datacontenttype) });
  return { ...view, size: sizeText(view.bytes) };
}

function arrivalView(event: StoredEvent) {
  const { method, target, remoteAddress, signedBy, headers } = new Arrival(event);
  return {
    request: method === undefined ? undefined : shownText(`${method} ${target ?? ''}`, PAIRS_BYTES),
    address: remoteAddress && shownText(remoteAddress),
    signedBy: signedBy && shownText(signedBy),
    headers: pairs(Arrival.readable(headers), HEADERS_BYTES),
  };
}

/** The keys under which the log records the event once. Before them may stand what they are about, each with a line feed. */
function keysOf({ idempotencyKey, webhookId }: StoredEvent): Pair[] {
  const lines = webhookId?.split('\n') ?? [];
  const keys: [string, string | undefined][] = [
    ['Idempotency-Key', idempotencyKey?.split('\n').at(-1)],
    [lines.length > 1 ? (lines[0] ?? '') : 'webhook-id', lines.at(-1)],
  ];
  return pairs(keys.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

/** A file that a browser saves and never shows. */
interface Download {
  readonly name: string;
  readonly contentType: string;
  readonly body: Buffer;
}

const BYTES = 'application/octet-stream';

/** Returns a file of an event, if it has one of this name: `event` or `data`. */
export function downloadOf(what: string, event: StoredEvent): Download | undefined {
  const names = fileNames(event);
  if (what === 'event') {
    const body = Buffer.from(eventJson(event));
    return { name: names.event, contentType: 'application/cloudevents+json', body };
  }
  const data = what === 'data' ? EventData.of(event) : undefined;
  return data && { name: names.data, contentType: BYTES, body: data.bytes() };
}

/**
 * The header fields of a download. A browser neither guesses its type nor shows it; if it did, nothing that a sender put into
 * it would run.
 */
export function downloadHeaders(name: string): OutgoingHttpHeaders {
  return {
    'Content-Disposition': `attachment; filename="${name}"`,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'X-Content-Type-Options': 'nosniff',
  };
}

const ENDINGS = { json: 'json', text: 'txt', bytes: 'bin' } as const;

/** The names of the files that {@link downloadOf} makes. */
function fileNames(event: StoredEvent): Readonly<Record<'event' | 'data', string>> {
  const name = `event-${String(event.position)}`;
  const { datacontenttype } = JSON.parse(event.attributes) as { readonly datacontenttype?: unknown };
  const kind = EventData.of(event)?.kind ?? 'bytes';
  const ending = kind === 'text' && isXmlType(String(datacontenttype)) ? 'xml' : ENDINGS[kind];
  return { event: `${name}.json`, data: `${name}-data.${ending}` };
}
