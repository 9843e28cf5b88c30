import type { StoredEvent } from '../../events/stored-event';
import type { EventLog } from '../../log/event-log';
import { arrivalOf, headerOf, isCloudEvent, requestAgain, type EndpointAddress } from './request-again';
import { curlCommand } from '../curl-command';
import { dataView, type DataView, eventData } from './data-view';
import { dataFileName, eventFileName, requestFileName } from './downloads';
import { addressQuery, filterValues, type Filter } from './list-query';
import { bindingView, type RowView } from './list-view';
import { markup, shownText, sizeText, timeText } from './markup';
import { FORM } from '../../get-post/http-payload';

/** A name with its value, both HTML. */
export interface PairView {
  readonly name: string;
  readonly value: string;
}

/** An event for its page; its texts are HTML. Addresses have only the query; undefined: there is nothing. */
export interface EventView extends Pick<RowView, 'binding' | 'bindingName'> {
  readonly sequence: string;
  readonly type: string;
  readonly time: string;
  readonly dateTime: string;
  readonly attributes: readonly PairView[];
  readonly keys: readonly PairView[];
  readonly data: (DataView & { readonly size: string; readonly contentType: string | undefined }) | undefined;
  readonly arrival: {
    readonly request: string | undefined;
    readonly address: string | undefined;
    readonly headers: readonly PairView[];
  };
  readonly curl: string;
  /** The file that the command reads, to be saved first; undefined: it reads none. */
  readonly curlFile: string | undefined;
  /** Whether the command sends a CloudEvent, which a log that has its source and id does not record again. */
  readonly sendsOwnId: boolean;
  readonly eventFile: string;
  readonly dataFile: string;
  readonly downloads: { readonly event: string; readonly data: string; readonly request: string };
  readonly list: string;
  readonly newer: string | undefined;
  readonly older: string | undefined;
}

/** Most names with values that are shown of each kind, and most bytes of all of them, as markup. */
const MAX_PAIRS = 200;
const PAIRS_BYTES = 20_000;

/** Most bytes of the command on the page: with a body of 4 KiB and a header of 16 KiB it fits. */
const CURL_BYTES = 40_000;

/** Reads the event at a position; undefined: it is not in the log. */
export async function storedEvent(log: EventLog, position: bigint): Promise<StoredEvent | undefined> {
  if (position === 0n) return undefined;
  const [event] = await log.scan({ after: position - 1n, limit: 1 });
  return event !== undefined && BigInt(event.sequence) === position ? event : undefined;
}

/** Makes the page of an event, with the way to its neighbours in the list from which it was opened. */
export async function eventView(
  log: EventLog,
  event: StoredEvent,
  filter: Filter,
  address: EndpointAddress,
): Promise<EventView> {
  const position = BigInt(event.sequence);
  const values = filterValues(filter);
  const [newer, older] = await Promise.all(
    [{ after: position }, { before: position }].map(async (place) => {
      const { events } = await log.search({ ...filter, ...place, limit: 1 });
      const found = events[0]?.sequence;
      return found === undefined ? undefined : `?${addressQuery({ event: BigInt(found), ...values })}`;
    }),
  );
  const attributes = JSON.parse(event.attributes) as Readonly<Record<string, unknown>>;
  const download = (what: string) => `?${addressQuery({ event: position, download: what })}`;
  return {
    sequence: String(position),
    type: shownText(String(attributes.type)),
    time: timeText(event.recordedAt),
    dateTime: new Date(event.recordedAt).toISOString(),
    ...bindingView(typeof attributes.binding === 'string' ? attributes.binding : undefined),
    attributes: pairs([...Object.entries(attributes), ['sequence', event.sequence]]),
    keys: keysOf(event),
    data: dataOf(event, attributes.datacontenttype),
    arrival: arrivalView(event),
    ...curlOf(event, address),
    eventFile: eventFileName(event),
    dataFile: dataFileName(event),
    downloads: { event: download('event'), data: download('data'), request: download('request') },
    list: `?${addressQuery({ events: '', ...values })}`,
    newer,
    older,
  };
}

function dataOf(event: StoredEvent, contentType: unknown): EventView['data'] {
  if (event.data === undefined) return undefined;
  const arrival = arrivalOf(event);
  const sent = headerOf(arrival, 'content-type');
  const isForm = sent === undefined ? arrival.target?.includes('?') === true : sent.toLowerCase().startsWith(FORM);
  const view = dataView(eventData(event.data), isForm);
  return {
    ...view,
    size: sizeText(view.bytes),
    contentType: typeof contentType === 'string' ? shownText(contentType) : undefined,
  };
}

function arrivalView(event: StoredEvent): EventView['arrival'] {
  const { method, target, remoteAddress, headers } = arrivalOf(event);
  return {
    request: method === undefined ? undefined : shownText(`${method} ${target ?? ''}`, PAIRS_BYTES),
    address: remoteAddress && shownText(remoteAddress),
    headers: pairs(headers),
  };
}

/** The keys under which the log records the event once; the line feed keeps GitHub's apart from the others. */
function keysOf({ idempotencyKey, webhookId }: StoredEvent): PairView[] {
  const [first = '', gitHub] = webhookId?.split('\n') ?? [];
  const keys: [string, string | undefined][] = [
    ['Idempotency-Key', idempotencyKey],
    gitHub === undefined ? ['webhook-id', first || undefined] : ['X-GitHub-Delivery', gitHub],
  ];
  return pairs(keys.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

function curlOf(event: StoredEvent, address: EndpointAddress): Pick<EventView, 'curl' | 'curlFile' | 'sendsOwnId'> {
  const file = requestFileName(event);
  const request = requestAgain(event, address);
  const { command, needsFile } = curlCommand(request, file);
  return {
    curl: markup(command, CURL_BYTES).html,
    curlFile: needsFile ? file : undefined,
    sendsOwnId: isCloudEvent(request),
  };
}

function pairs(entries: readonly (readonly [name: string, value: unknown])[]): PairView[] {
  let left = PAIRS_BYTES;
  const shown: PairView[] = [];
  for (const [name, value] of entries.slice(0, MAX_PAIRS)) {
    const pair = { name: shownText(name, 300), value: shownText(String(value), Math.max(300, Math.min(left, 4000))) };
    left -= Buffer.byteLength(pair.name) + Buffer.byteLength(pair.value) + 60;
    if (left < 0) break;
    shown.push(pair);
  }
  if (shown.length < entries.length) shown.push({ name: '…', value: `${String(entries.length - shown.length)} more` });
  return shown;
}
