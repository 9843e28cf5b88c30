import type { IncomingHttpHeaders } from 'node:http';
import { membersOf } from './known-senders';

/** A request that may ask whether its address takes webhooks. */
export interface HandshakeRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Without the question mark. */
  readonly query: string;
  /** The content of a POST; without a body that of its query. */
  readonly payload?:
    { readonly sentAs?: string | undefined; readonly value?: unknown; readonly text?: string } | undefined;
}

/** The answer for which a sender waits, with status 200. */
type HandshakeAnswer = Readonly<Record<'contentType' | 'body', string>>;

/** How a sender asks, before it delivers, whether an address takes its webhooks. */
export interface Handshake {
  /** Its name in SENDER_HANDSHAKES; the short one of its sender if that signs, too. */
  readonly name: string;
  /** The binding of the operation that it calls. */
  readonly binding: 'httpget' | 'httppost';
  /** The CloudEvents `type` of the question, as it is recorded. */
  readonly type: string;
  /** Returns the answer if a request is this handshake. */
  answer(this: void, request: HandshakeRequest): HandshakeAnswer | undefined;
}

/** A text that is sent back to its caller. */
const ECHOED = /^[\x20-\x7e]{1,2048}$/;

const echoed = (text: unknown, write = plainText) =>
  typeof text === 'string' && ECHOED.test(text) ? write(text) : undefined;

const plainText = (body: string): HandshakeAnswer => ({ contentType: 'text/plain; charset=utf-8', body });
const json = (value: object): HandshakeAnswer => ({ contentType: 'application/json', body: JSON.stringify(value) });

/** How an outbound message begins. */
const NOTIFICATIONS =
  /^\s*(?:<\?xml[^>]*>\s*)?<(?:[\w.-]+:)?Envelope[\s>][^<]*<(?:[\w.-]+:)?Body[\s>][^<]*<notifications\s+xmlns="http:\/\/soap\.sforce\.com\/2005\/09\/outbound"/;

const ACKNOWLEDGEMENT =
  '<?xml version="1.0" encoding="utf-8"?>\n' +
  '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body>' +
  '<notificationsResponse xmlns="http://soap.sforce.com/2005/09/outbound"><Ack>true</Ack></notificationsResponse></soapenv:Body>' +
  '</soapenv:Envelope>';

const ALL: readonly Handshake[] = [
  {
    // Events API (https://api.slack.com/events/url_verification). Lark and Feishu ask in the same way, and take JSON alone.
    name: 'slack',
    binding: 'httppost',
    type: 'com.slack.url_verification',
    answer({ headers, payload }) {
      if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) return undefined;
      const { type, challenge } = membersOf(payload?.value);
      return type === 'url_verification' ? echoed(challenge, (text) => json({ challenge: text })) : undefined;
    },
  },
  {
    // W3C WebSub, section 5.3. Only subscriptions are confirmed: anybody can ask a hub to end one.
    name: 'websub',
    binding: 'httpget',
    type: 'org.w3.websub.subscribe',
    answer({ method, query }) {
      if (method !== 'GET' || !query.includes('hub.challenge=')) return undefined;
      const fields = new URLSearchParams(query);
      return fields.get('hub.mode') === 'subscribe' ? echoed(fields.get('hub.challenge')) : undefined;
    },
  },
  {
    // Notification endpoint validation (https://learn.microsoft.com/graph/change-notifications-delivery-webhooks).
    name: 'msgraph',
    binding: 'httppost',
    type: 'com.microsoft.graph.validation',
    answer({ method, query, payload }) {
      if (method !== 'POST' || payload?.sentAs !== 'query') return undefined;
      // SharePoint and OneDrive write the name in lower case.
      const token = [...new URLSearchParams(query)].find(([name]) => name.toLowerCase() === 'validationtoken');
      return echoed(token?.[1]);
    },
  },
  {
    // Endpoint validation with the Event Grid event schema (https://learn.microsoft.com/azure/event-grid/webhook-event-delivery).
    name: 'eventgrid',
    binding: 'httppost',
    type: 'com.microsoft.eventgrid.validation',
    answer({ headers, payload }) {
      if (headers['aeg-event-type'] !== 'SubscriptionValidation' || !Array.isArray(payload?.value)) return undefined;
      const { eventType, data } = membersOf(payload.value[0]);
      if (eventType !== 'Microsoft.EventGrid.SubscriptionValidationEvent') return undefined;
      return echoed(membersOf(data).validationCode, (validationResponse) => json({ validationResponse }));
    },
  },
  {
    // Outbound messages (SOAP API Developer Guide): each is sent again for a day until it is acknowledged.
    name: 'salesforce',
    binding: 'httppost',
    type: 'com.salesforce.outbound_message',
    answer: ({ payload }) =>
      NOTIFICATIONS.test(payload?.text?.slice(0, 2048) ?? '')
        ? { contentType: 'text/xml; charset=utf-8', body: ACKNOWLEDGEMENT }
        : undefined,
  },
  {
    // HEAD of the address (https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks).
    name: 'trello',
    binding: 'httpget',
    type: 'com.trello.validation',
    answer: ({ method }) => (method === 'HEAD' ? plainText('') : undefined),
  },
];

export const Handshake = {
  all: ALL,

  /**
   * Returns type and answer of the handshake that a request is, among those named in `wanted`.
   *
   * @param signedBy - the sender that signed the request, which can only be a handshake of its own.
   */
  of(wanted: readonly string[], request: HandshakeRequest, signedBy?: string) {
    for (const { name, type, answer } of ALL) {
      if (!wanted.includes(name) || (signedBy !== undefined && signedBy !== name)) continue;
      const found = answer(request);
      if (found !== undefined) return { type, answer: found };
    }
    return undefined;
  },
};
