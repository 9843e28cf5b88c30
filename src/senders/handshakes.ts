import type { IncomingHttpHeaders } from 'node:http';

/** A request that may ask whether its address takes webhooks. */
export interface HandshakeRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Without the question mark. */
  readonly query: string;
  /** The body, once it has been read. */
  readonly payload?: { readonly value?: unknown; readonly text?: string; readonly bytes?: Buffer } | undefined;
}

/** The answer for which a sender waits, with status 200. */
export interface HandshakeAnswer {
  readonly contentType: string;
  readonly body: string;
}

/** How a sender asks, before it delivers, whether an address takes its webhooks. */
export interface Handshake {
  /** Its name in SENDER_HANDSHAKES. */
  readonly name: string;
  /** The binding of the operation that it calls. */
  readonly binding: 'httpget' | 'httppost';
  /** The CloudEvents `type` of the question, as it is recorded. */
  readonly type: string;
  /** Whether its sender can send neither a key nor a signature with it. Then it has no body. */
  readonly isOpen: boolean;
  /** Returns the answer if a request is this handshake. */
  answer(this: void, request: HandshakeRequest): HandshakeAnswer | undefined;
}

const PLAIN_TEXT = 'text/plain; charset=utf-8';

/** A text that is sent back to its caller. */
const ECHOED = /^[\x20-\x7e]{1,2048}$/;

function echo(text: unknown): HandshakeAnswer | undefined {
  return typeof text === 'string' && ECHOED.test(text) ? { contentType: PLAIN_TEXT, body: text } : undefined;
}

/** The Events API: a `url_verification` (https://api.slack.com/events/url_verification). */
export const SLACK_HANDSHAKE: Handshake = {
  name: 'slack',
  binding: 'httppost',
  type: 'com.slack.url_verification',
  isOpen: false,
  answer({ payload }) {
    const { type, challenge } = membersOf(payload?.value);
    return type === 'url_verification' ? echo(challenge) : undefined;
  },
};

/**
 * W3C WebSub, section 5.3: the hub verifies the intent of the subscriber. Only subscriptions are confirmed: anybody can ask a hub to
 * end one.
 */
export const WEBSUB_HANDSHAKE: Handshake = {
  name: 'websub',
  binding: 'httpget',
  type: 'org.w3.websub.subscribe',
  isOpen: true,
  answer({ method, query }) {
    if (method !== 'GET' || !query.includes('hub.challenge=')) return undefined;
    const fields = new URLSearchParams(query);
    return fields.get('hub.mode') === 'subscribe' ? echo(fields.get('hub.challenge')) : undefined;
  },
};

/** Notification endpoint validation (https://learn.microsoft.com/graph/change-notifications-delivery-webhooks). */
export const GRAPH_HANDSHAKE: Handshake = {
  name: 'msgraph',
  binding: 'httppost',
  type: 'com.microsoft.graph.validation',
  isOpen: true,
  answer({ method, query }) {
    if (method !== 'POST' || !query.includes('validationToken=')) return undefined;
    return echo(new URLSearchParams(query).get('validationToken'));
  },
};

/** Endpoint validation with the Event Grid event schema (https://learn.microsoft.com/azure/event-grid/webhook-event-delivery). */
export const EVENT_GRID_HANDSHAKE: Handshake = {
  name: 'eventgrid',
  binding: 'httppost',
  type: 'com.microsoft.eventgrid.validation',
  isOpen: false,
  answer({ headers, payload }) {
    if (headers['aeg-event-type'] !== 'SubscriptionValidation' || !Array.isArray(payload?.value)) return undefined;
    const { eventType, data } = membersOf(payload.value[0]);
    const code = echo(membersOf(data).validationCode);
    if (eventType !== 'Microsoft.EventGrid.SubscriptionValidationEvent' || code === undefined) return undefined;
    return { contentType: 'application/json', body: JSON.stringify({ validationResponse: code.body }) };
  },
};

const OUTBOUND = 'http://soap.sforce.com/2005/09/outbound';

/** How an outbound message begins, within {@link BEGINNING} characters. */
const NOTIFICATIONS =
  /^\s*(?:<\?xml[^>]*>\s*)?<(?:[\w.-]+:)?Envelope[\s>][^<]*<(?:[\w.-]+:)?Body[\s>][^<]*<notifications\s+xmlns="http:\/\/soap\.sforce\.com\/2005\/09\/outbound"/;
const BEGINNING = 2048;

const ACKNOWLEDGEMENT =
  '<?xml version="1.0" encoding="utf-8"?>\n' +
  '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body>' +
  `<notificationsResponse xmlns="${OUTBOUND}"><Ack>true</Ack></notificationsResponse></soapenv:Body></soapenv:Envelope>`;

/** Outbound messages (SOAP API Developer Guide): each is sent again for a day until it is acknowledged. */
export const SALESFORCE_HANDSHAKE: Handshake = {
  name: 'salesforce',
  binding: 'httppost',
  type: 'com.salesforce.outbound_message',
  isOpen: false,
  answer: ({ payload }) =>
    NOTIFICATIONS.test(payload?.text?.slice(0, BEGINNING) ?? '')
      ? { contentType: 'text/xml; charset=utf-8', body: ACKNOWLEDGEMENT }
      : undefined,
};

/** HEAD of the address (https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks). */
export const TRELLO_HANDSHAKE: Handshake = {
  name: 'trello',
  binding: 'httpget',
  type: 'com.trello.validation',
  isOpen: true,
  answer: ({ method }) => (method === 'HEAD' ? { contentType: PLAIN_TEXT, body: '' } : undefined),
};

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
