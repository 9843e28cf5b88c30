import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { unescapeBuffer } from 'node:querystring';
import { attributeProblem, CloudEventError, senderAttributes, type SenderAttributes } from './cloud-event';

declare module 'node:querystring' {
  /** Decodes percent-encoding (RFC 3986, section 2.1); a percent sign that does not start an escape is kept. */
  function unescapeBuffer(text: string): Buffer;
}

const PREFIX = 'ce-';

/** The attributes that every CloudEvent has. One of them as a header field announces an event in binary content mode. */
const REQUIRED = ['specversion', 'id', 'source', 'type'];

/** Names that CloudEvents gives to the data, which binary content mode has in the body. */
const DATA_NAMES = ['data', 'data_base64'];

/**
 * Reads the attributes of a CloudEvent in binary content mode (HTTP Protocol Binding 1.0.2, section 3.1) from `ce-` header fields,
 * and `datacontenttype` from `Content-Type`. Returns undefined if the header fields announce no such event.
 *
 * @throws {CloudEventError} an attribute is not valid.
 */
export function binaryModeAttributes(headers: IncomingHttpHeaders): SenderAttributes | undefined {
  if (REQUIRED.every((name) => headers[PREFIX + name] === undefined)) return undefined;
  const given = Object.entries(headers).flatMap(([field, value]) => {
    if (!field.startsWith(PREFIX)) return [];
    const name = field.slice(PREFIX.length);
    if (DATA_NAMES.includes(name))
      throw new CloudEventError(`The CloudEvent's ${name} must be the body of the request, not the field ${field}.`);
    return [[name, attributeValue(name, String(value))] as const];
  });
  return senderAttributes({ ...Object.fromEntries(given), datacontenttype: headers['content-type'] });
}

const QUOTED = /^"((?:[^"\\]|\\.)*)"$/;
const BAD_ESCAPE = /%(?![\da-f]{2})/i;

/**
 * Decodes a header value (section 3.1.3.2): the quotes and backslashes of a quoted string first, then percent-encoded
 * UTF-8. Characters outside of ASCII, which should have been percent-encoded, are taken as UTF-8 too. Some senders do not
 * percent-encode: what is not an escape, or would make the attribute invalid (`/a%20b` as the source), stays as it came.
 */
function attributeValue(name: string, value: string): string {
  const quoted = QUOTED.exec(value)?.[1];
  const text = quoted === undefined ? value : quoted.replace(/\\(.)/g, '$1');
  const bytes = unescapeBuffer(text);
  if (!isUtf8(bytes))
    throw new CloudEventError(`The CloudEvent's attribute ${name} must be percent-encoded UTF-8 in a header field.`);
  const decoded = bytes.toString();
  if (!text.includes('%')) return decoded;
  const isEncoded = !BAD_ESCAPE.test(text) && attributeProblem(name, decoded) === undefined;
  return isEncoded ? decoded : Buffer.from(text, 'latin1').toString();
}
