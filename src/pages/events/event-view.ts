import { randomUUID } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { sequenceOf } from '../../events/position';
import { eventJson, type StoredEvent } from '../../events/stored-event';
import type { EventLog } from '../../log/event-log';
import { Arrival } from '../../events/arrival';
import { EventData } from '../../events/event-data';
import { hasKey, isCloudEvent, lostType, requestAgain, withFreshId, type EndpointAddress } from './request-again';
import { curlCommand } from '../curl-command';
import { isXmlType } from '../received-request';
import { dataView } from './data-view';
import { forwardCommand, addressQuery, filterValues, isNarrowed, type Filter } from './list-query';
import { markup, shownText } from './markup';
import { bindingView, PAIRS_BYTES, pairs, timeView, type Pair } from './parts';
import { MediaType } from '../../http/content/media-type';
import { sizeText } from '../../util/text';

/** Most bytes of the header fields as markup: enough for 16 KiB in one field. */
const HEADERS_BYTES = 40_000;

/** Most bytes of the command as markup: enough for a body of 4 KiB and a header of 16 KiB. */
const CURL_BYTES = 40_000;

/** Finds the newest event with an id, whatever its source. */
export async function positionOf(log: EventLog, id: string | null): Promise<number | undefined> {
  if (id === null) return undefined;
  const events = await log.read({ id, limit: 1, maxBytes: 1 });
  return events[0]?.position;
}

export type Neighbours = Awaited<ReturnType<typeof neighbours>>;

/** Finds the neighbours of a position in the list of a filter, as queries of links to them, and an event to compare with. */
export async function neighbours(log: EventLog, position: number, filter: Filter) {
  const values = filterValues(filter);
  const [newer, older] = await Promise.all(
    [{ after: position }, { before: position }].map(async (place) => {
      const { events } = await log.search({ ...filter, ...place, limit: 1 });
      return events[0]?.position;
    }),
  );
  const link = (to: number | undefined) =>
    to === undefined ? undefined : `?${addressQuery({ event: to, ...values })}`;
  return { newer: link(newer), older: link(older), other: older ?? newer };
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
    ...curlOf(event, address),
    /** Posts the event to an address. */
    forward: forwardCommand(event),
    forwardAsReceived: forwardCommand(event, '--as-received'),
    files: fileNames(event),
    downloads: { event: download('event'), data: download('data'), request: download('request') },
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
  const view = await dataView(data, isForm);
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

function curlOf(event: StoredEvent, address: EndpointAddress) {
  const file = fileNames(event).request;
  const request = requestAgain(event, address);
  const { command, needsFile } = curlCommand(request, file);
  const fresh = withFreshId(event, request, randomUUID());
  return {
    curl: markup(command, CURL_BYTES).html,
    /** Whether the body has to be saved first. */
    curlNeedsFile: needsFile,
    /** The same with a new id, if an id in the request would keep it from being recorded again. */
    freshCurl: fresh && markup(curlCommand(fresh, file).command, CURL_BYTES).html,
    /** The type of the event, if the command would be recorded with another one. */
    lostType: shownIf(lostType(event)),
    /** Whether the command sends a key under which the log has the event: one of a signed call counts beside the signature alone. */
    sendsKey: hasKey(request) && event.webhookId?.startsWith('signed ') !== true,
    /** Whether the command sends a CloudEvent, which a log that has its source and id does not record again. */
    sendsOwnId: isCloudEvent(request),
  };
}

function shownIf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : shownText(text);
}

/** A file that a browser saves and never shows. */
interface Download {
  readonly name: string;
  readonly contentType: string;
  readonly body: Buffer;
}

const BYTES = 'application/octet-stream';

/** Returns a file of an event, if it has one of this name: `event`, `data` or `request`. */
export function downloadOf(what: string, event: StoredEvent, address: EndpointAddress): Download | undefined {
  const names = fileNames(event);
  if (what === 'event') {
    const body = Buffer.from(eventJson(event));
    return { name: names.event, contentType: 'application/cloudevents+json', body };
  }
  if (what !== 'data' && what !== 'request') return undefined;
  const body = what === 'data' ? EventData.of(event) : requestAgain(event, address).body;
  return body && { name: names[what], contentType: BYTES, body: body.bytes() };
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
function fileNames(event: StoredEvent): Readonly<Record<'event' | 'data' | 'request', string>> {
  const name = `event-${String(event.position)}`;
  const { datacontenttype } = JSON.parse(event.attributes) as { readonly datacontenttype?: unknown };
  const kind = EventData.of(event)?.kind ?? 'bytes';
  const ending = kind === 'text' && isXmlType(String(datacontenttype)) ? 'xml' : ENDINGS[kind];
  return { event: `${name}.json`, data: `${name}-data.${ending}`, request: `${name}.body` };
}
