import type { OutgoingHttpHeaders } from 'node:http';
import { eventJson, type StoredEvent } from '../../events/stored-event';
import { dataBytes, eventData } from './data-view';
import { requestAgain, type EndpointAddress } from './request-again';

/** A file that a browser saves and never shows. */
export interface Download {
  readonly name: string;
  readonly contentType: string;
  readonly body: Buffer;
}

const BYTES = 'application/octet-stream';

/** Makes a file of an event: `event`, `data` or `request`. Undefined: there is no such file. */
export function downloadOf(what: string, event: StoredEvent, address: EndpointAddress): Download | undefined {
  if (what === 'event') {
    return {
      name: eventFileName(event),
      contentType: 'application/cloudevents+json',
      body: Buffer.from(eventJson(event.attributes, event.sequence, event.data)),
    };
  }
  if (what === 'data' && event.data !== undefined) {
    return { name: dataFileName(event), contentType: BYTES, body: dataBytes(eventData(event.data)) };
  }
  if (what === 'request') {
    const { body } = requestAgain(event, address);
    if (body !== undefined) return { name: requestFileName(event), contentType: BYTES, body: body.bytes() };
  }
  return undefined;
}

/**
 * The header fields of a download. Whatever a sender has put into it, a browser neither guesses its type nor shows it, and if
 * it did, nothing in it would run.
 */
export function downloadHeaders({ name }: Download): OutgoingHttpHeaders {
  return {
    'Content-Disposition': `attachment; filename="${name}"`,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'X-Content-Type-Options': 'nosniff',
  };
}

export function eventFileName(event: StoredEvent): string {
  return `${fileName(event)}.json`;
}

export function requestFileName(event: StoredEvent): string {
  return `${fileName(event)}.body`;
}

export function dataFileName(event: StoredEvent): string {
  const endings = { json: 'json', text: 'txt', bytes: 'bin' } as const;
  return `${fileName(event)}-data.${event.data === undefined ? 'bin' : endings[eventData(event.data).kind]}`;
}

function fileName({ sequence }: StoredEvent): string {
  return `event-${String(BigInt(sequence))}`;
}
