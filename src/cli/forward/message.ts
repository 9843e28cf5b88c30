import { createHash } from 'node:crypto';
import { MIMEType } from 'whatwg-mimetype';
import { VERSION } from '../../config/package-info';
import { JsonText } from '../../events/cloudevents/json-text';
import { eventJson, type StoredEvent } from '../../events/stored-event';
import { MediaType } from '../../http/content/media-type';

import { multipartBody } from '../../get-post/multipart';
import { Sender } from '../../senders/sender';
import { receivedMessage, type PostedMessage, type ReceivedForm } from './received-message';

/** How events are posted. */
export interface PostedForm {
  /** Secrets that sign each attempt (Standard Webhooks); undefined: it is not signed. */
  readonly secrets: readonly string[] | undefined;
  /** The payload as it came, instead of the CloudEvent. */
  readonly raw: boolean;
  /** The request as it arrived, without the signature of {@link secrets}. */
  readonly asReceived?: ReceivedForm | undefined;
}

/**
 * Returns the request that posts an event to an address: the CloudEvent in structured content mode (CloudEvents HTTP binding 1.0.2,
 * section 3.2), its payload, or the request that brought it. The `webhook-id` of the first two is the same whenever this event is sent,
 * so that the target can tell a repetition.
 */
export function messageOf(event: StoredEvent, address: URL, { secrets, raw, asReceived }: PostedForm): PostedMessage {
  const id = webhookId(event);
  if (asReceived !== undefined) return receivedMessage(event, address, asReceived, id);
  const { body, contentType } = raw ? rawContent(event) : structured(event);
  const type = contentType === undefined ? {} : { 'Content-Type': contentType };
  return {
    method: 'POST',
    path: undefined,
    body,
    headers: () => ({
      'User-Agent': `asmx-webhook/${VERSION}`,
      ...type,
      'webhook-id': id,
      ...(secrets && Sender.standardHeaders(secrets, id, body)),
    }),
  };
}

function structured(event: StoredEvent): PostedContent {
  return { body: Buffer.from(eventJson(event)), contentType: 'application/cloudevents+json' };
}

/** Made of `source` and `id`, which name an event together and may hold what a header field may not. */
function webhookId({ source, id }: StoredEvent): string {
  return `evt_${createHash('sha256')
    .update(JSON.stringify([source, id]))
    .digest('base64url')}`;
}

/** A payload as it is posted. */
interface PostedContent {
  readonly body: Buffer;
  /** Undefined if its sender named none. */
  readonly contentType: string | undefined;
}

/** The value of a header field (RFC 9110, section 5.5). */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Restores the body and content type of an event from what the log keeps: text in UTF-8, JSON on one line, the fields of a form
 * or a query string as a form, the XML of a SOAP operation, the data of a CloudEvent.
 */
export function rawContent({ attributes, data, arrival }: StoredEvent): PostedContent {
  const { datacontenttype, binding = '' } = stringMembers(JSON.parse(attributes));
  const request = Object(JSON.parse(arrival)) as { readonly headers?: unknown };
  const { path = '' } = stringMembers(request);
  const headers = stringMembers(request.headers);
  const given = headers['content-type'];
  const isEnvelope = binding.startsWith('soap') || /^application\/cloudevents/i.test(given ?? '');
  const type = isEnvelope ? datacontenttype : (given ?? datacontenttype);
  const texts = new JsonText(`{${data ?? ''}}`).membersAtOnce();

  const base64 = texts.get('data_base64')?.value;
  if (base64 !== undefined) return content(Buffer.from(JSON.parse(base64) as string, 'base64'), type);
  const json = texts.get('data')?.value.trim();
  if (json === undefined) return content(Buffer.alloc(0), undefined);

  const files =
    type !== undefined && MediaType.parse(type)?.isMultipart ? multipartBody(JSON.parse(json), type) : undefined;
  if (files !== undefined) return content(files, type);
  const isQuery = given === undefined && path.includes('?');
  const isForm =
    MediaType.parse(type)?.isForm === true && headers['content-length'] !== String(Buffer.byteLength(json));
  const value: unknown = JSON.parse(json);
  const form = isQuery || isForm ? formOf(value) : undefined;
  if (form !== undefined)
    return content(Buffer.from(form), inUtf8(isForm ? (type ?? MediaType.form) : MediaType.form, form));
  const isText = typeof value === 'string' && MediaType.parse(datacontenttype)?.isJson !== true;
  const body = isText ? value : json;
  const named = type ?? (isText ? undefined : 'application/json');
  return content(Buffer.from(body), named === undefined ? undefined : inUtf8(named, body));
}

/** The members of an object that are strings: an archive of another program may hold anything. */
function stringMembers(value: unknown): Readonly<Record<string, string | undefined>> {
  const members = Object.entries(Object(value) as Record<string, unknown>);
  return Object.fromEntries(members.filter((member): member is [string, string] => typeof member[1] === 'string'));
}

function content(body: Buffer, contentType: string | undefined): PostedContent {
  return { body, contentType: contentType !== undefined && FIELD_VALUE.test(contentType) ? contentType : undefined };
}

/** Writes fields as a form. Returns undefined for anything else. */
function formOf(fields: unknown): string | undefined {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return undefined;
  const form = new URLSearchParams();
  for (const [name, values] of Object.entries(fields)) {
    for (const value of [values].flat()) {
      if (typeof value !== 'string') return undefined;
      form.append(name, value);
    }
  }
  return form.toString();
}

/** Returns a content type that agrees with a body in UTF-8: XML without `charset` may declare another one inside. */
function inUtf8(type: string, body: string): string {
  const parsed = MIMEType.parse(type);
  if (parsed === null) return type;
  const charset = parsed.parameters.get('charset');
  const isKept = charset === undefined ? !parsed.isXML() || /^[\0-\x7f]*$/.test(body) : /^utf-?8$/i.test(charset);
  return isKept ? type : `${type.replace(/;[\t ]*charset=(?:"[^"]*"|[^;]*)/i, '')}; charset=utf-8`;
}
