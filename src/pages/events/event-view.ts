import { KeyConflict } from '../../events/key-conflict';
import { sequenceOf, StoredEvent } from '../../events/stored-event';
import type { EventLog } from '../../log/event-log';
import { Arrival } from '../../events/arrival';
import { EventData } from '../../events/payload';
import { dataTypeOf } from '../received-request';
import { Sender } from '../../senders/sender';
import { curlCommand, forwardCommand, type EndpointAddress } from './commands';
import { dataView } from './data-view';
import { addressQuery, eventLink, filterValues, isNarrowed, type Filter } from './list-query';
import { MediaType } from '../../http/content/media-type';
import { replaceInvisible } from '../../util/text';
import { bindingView, type Pair, pairs, PAIRS_BYTES, shownText, timeView } from './markup';

/** Most bytes of the header fields as markup: enough for 16 KiB in one field. */
const HEADERS_BYTES = 40_000;

/** Finds the neighbours of a position in the list of a filter, and the event of its type before it, as queries of links. */
export async function neighbourLinks(log: EventLog, position: number, type: string | undefined, filter: Filter) {
  const values = filterValues(filter);
  const find = async (place: 'after' | 'before') => {
    const { events, reached, more } = await log.search({ ...filter, [place]: position, limit: 1 });
    const [found] = events;
    if (found !== undefined) return eventLink(found.position, filter).href;
    // The list goes on with a search that did not come to its end in time.
    return more && reached ? `?${addressQuery({ events: '', ...values, [place]: reached.position })}` : undefined;
  };
  const findSame = async () => {
    const { events } = await log.search({ type, before: position, limit: 1 });
    return events[0] && `?${addressQuery({ event: position, with: events[0].position, ...values })}`;
  };
  const [newer, older, same] = await Promise.all([find('after'), find('before'), type && findSame()]);
  return { newer, older, same };
}

/** Shows an event that was opened from the list of a filter. What a sender wrote is HTML; links have only the query. */
export async function eventView(event: StoredEvent, filter: Filter, address: EndpointAddress) {
  const { position } = event;
  const attributes = JSON.parse(event.attributes) as Readonly<Record<string, unknown>>;
  return {
    position,
    id: shownText(event.id),
    type: shownText(String(attributes.type)),
    ofType: typeof attributes.type === 'string' ? attributes.type : undefined,
    ...timeView(event.recordedAt),
    ...bindingView(typeof attributes.binding === 'string' ? attributes.binding : undefined),
    ...attributesOf(event, attributes),
    keys: keysOf(event),
    data: await dataOf(event),
    arrival: arrivalView(event),
    curl: curlCommand(event, address, fileNames(event).data),
    forward: forwardCommand(event, address),
    forwardAsReceived: forwardCommand(event, address, '--as-received'),
    download: `?${addressQuery({ event: position })}&download=`,
    list: `?${addressQuery({ events: '', ...filterValues(filter) })}`,
    isNarrowed: isNarrowed(filter),
    filter: filterValues(filter),
  };
}

async function dataOf(event: StoredEvent) {
  const data = EventData.of(event);
  if (data === undefined) return undefined;
  const { target, header } = Arrival.of(event);
  const sent = header('content-type');
  const { isForm, isMultipart } = MediaType.parse(sent) ?? { isForm: sent === undefined && target?.includes('?') };
  return dataView(data, { isForm, isMultipart, isJson: dataTypeOf(event)?.isJson });
}

/** Those that the top of the page has too are apart. */
function attributesOf({ position, recordedAt }: StoredEvent, attributes: Readonly<Record<string, unknown>>) {
  const all = [...Object.entries(attributes), ['sequence', sequenceOf(position)] as const];
  const isAbove = ([name, value]: readonly [string, unknown]) =>
    ABOVE.has(name) || (name === 'time' && Date.parse(String(value)) === recordedAt);
  return { attributes: pairs(all.filter((one) => !isAbove(one))), attributesAbove: pairs(all.filter(isAbove)) };
}

const ABOVE: ReadonlySet<string> = new Set(['specversion', 'id', 'type', 'binding', 'sequence']);

function arrivalView(event: StoredEvent) {
  const { method, target, remoteAddress, signedBy, keyName, sender, headers } = Arrival.of(event);
  return {
    // Lines break after the slashes of a path.
    request: method && shownText(`${method} ${target ?? ''}`, PAIRS_BYTES).replace(/(?<!<)\//g, '/<wbr>'),
    address: remoteAddress && shownText(remoteAddress),
    signedBy: signedBy && shownText(signedBy),
    sender: sender && shownText(Sender.named(sender)?.name ?? sender),
    signer: Sender.recognised.find((name) => name === sender),
    keyName: keyName && shownText(keyName),
    headers: pairs(Arrival.readable(headers), HEADERS_BYTES),
  };
}

/** The keys under which the log records the event once. Before them may stand what they are about, each with a line feed. */
function keysOf({ idempotencyKey, webhookId }: StoredEvent): Pair[] {
  const [key, keyOfCaller] = KeyConflict.parts(idempotencyKey);
  const [delivery = '', dataOfDelivery] = KeyConflict.parts(webhookId);
  const lines = webhookId === undefined ? [] : delivery.split('\n');
  const although = (part: string | undefined, why: string) =>
    ['Recorded although', part === undefined ? undefined : why] as const;
  const keys = [
    ['Idempotency-Key', key?.split('\n').at(-1)],
    [lines.length > 1 ? (lines[0] ?? '') : 'webhook-id', lines.at(-1)],
    although(keyOfCaller, 'another caller used that key before'),
    although(dataOfDelivery, 'that id came before, with other data or from another sender'),
  ] as const;
  return pairs(keys.filter(([, text]) => text !== undefined));
}

/** Returns a file of an event, if it has one of this name: `event`, `data`, or `file0` and so on of a form. */
export function downloadOf(what: string, event: StoredEvent) {
  const names = fileNames(event);
  if (what === 'event')
    return { name: names.event, contentType: 'application/cloudevents+json', body: StoredEvent.json(event) };
  const data = EventData.of(event);
  const contentType = 'application/octet-stream';
  if (what === 'data') return data && { name: names.data, contentType, body: data.bytes() };
  const number = Number(/^file(\d{1,3})$/.exec(what)?.[1]);
  const files = data?.form()?.flatMap(([, value]) => (typeof value === 'string' ? [] : value));
  const file = files?.[number];
  const name = replaceInvisible(file?.filename || `${names.data}-${what}`, () => '_').replace(/[/\\\s]/g, '_');
  return file && { name, contentType, body: Buffer.from(file.base64, 'base64') };
}

const ENDINGS = { json: 'json', text: 'txt', bytes: 'bin' } as const;

function fileNames(event: StoredEvent) {
  const name = `event-${String(event.position)}`;
  const kind = EventData.of(event)?.kind ?? 'bytes';
  const ending = kind === 'text' && dataTypeOf(event)?.isXml ? 'xml' : ENDINGS[kind];
  return { event: `${name}.json`, data: `${name}-data.${ending}` };
}
