import type { OutgoingHttpHeaders } from 'node:http';
import { archiveLine, archiveProblem } from '../../events/archive';
import { eventJson, type StoredEvent } from '../../events/stored-event';
import type { EventLog } from '../../log/event-log';
import { foundEvents } from '../../log/stored-events';
import { letOthersRun } from '../../util/promises';
import { dataBytes, eventData } from './data-view';
import type { Filter } from './list-query';
import { isXmlType, requestAgain, type EndpointAddress } from './request-again';

/** A file that a browser saves and never shows. */
export interface Download {
  readonly name: string;
  readonly contentType: string;
  readonly body: Buffer;
}

const BYTES = 'application/octet-stream';

/** Makes a file of an event, if it has one of this name: `event`, `data` or `request`. */
export function downloadOf(what: string, event: StoredEvent, address: EndpointAddress): Download | undefined {
  const names = fileNames(event);
  if (what === 'event') {
    const body = Buffer.from(eventJson(event.attributes, event.sequence, event.data));
    return { name: names.event, contentType: 'application/cloudevents+json', body };
  }
  if (what === 'data' && event.data !== undefined) {
    return { name: names.data, contentType: BYTES, body: dataBytes(eventData(event.data)) };
  }
  const body = what === 'request' ? requestAgain(event, address).body : undefined;
  return body === undefined ? undefined : { name: names.request, contentType: BYTES, body: body.bytes() };
}

/**
 * The header fields of a download. A browser neither guesses its type nor shows it; if it did, nothing that a sender put into
 * it would run.
 */
export function downloadHeaders({ name }: Pick<Download, 'name'>): OutgoingHttpHeaders {
  return {
    'Content-Disposition': `attachment; filename="${name}"`,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'X-Content-Type-Options': 'nosniff',
  };
}

const ENDINGS = { json: 'json', text: 'txt', bytes: 'bin' } as const;

/** The names of the files that {@link downloadOf} makes. */
export function fileNames({
  sequence,
  data,
  attributes,
}: StoredEvent): Readonly<Record<'event' | 'data' | 'request', string>> {
  const name = `event-${String(BigInt(sequence))}`;
  const { datacontenttype } = JSON.parse(attributes) as { readonly datacontenttype?: unknown };
  const kind = data === undefined ? 'bytes' : eventData(data).kind;
  const ending = kind === 'text' && isXmlType(String(datacontenttype)) ? 'xml' : ENDINGS[kind];
  return { event: `${name}.json`, data: `${name}-data.${ending}`, request: `${name}.body` };
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
