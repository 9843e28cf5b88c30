import { STATUS_CODES } from 'node:http';
import { MIMEType } from 'whatwg-mimetype';
import { Charset } from '../../http/content/charset';
import { MediaType } from '../../http/content/media-type';
import { XmlElement, XmlError } from '../../xml/xml-tree';
import type { HttpAnswer } from '../http-client';
import type { ComparedCall } from './calls';
import { canonicalLines, differenceOf, type Difference } from './canonical';

/** An answer as a client sees it. */
export interface SeenAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  /** The body, if it is XML. */
  readonly xml: XmlElement | undefined;
}

/** How two answers to the same call compare. */
export interface Comparison extends Difference {
  /** Why the new service differs on purpose, if it does. */
  readonly intention: string | undefined;
}

/** The header fields that a client acts on. */
const COMPARED_FIELDS = [
  'content-type',
  'content-encoding',
  'cache-control',
  'allow',
  'www-authenticate',
  'location',
  'retry-after',
] as const;

type Field = (typeof COMPARED_FIELDS)[number];

/** Reads an answer as a client does. */
export function seen({ status, headers, body }: HttpAnswer): SeenAnswer {
  const charset = Charset.ofXml(body, MediaType.parse(headers.get('content-type') ?? '')?.charset);
  const text = charset.decode(body) ?? body.toString('latin1');
  return { status, headers, text, xml: xmlOf(text) };
}

/** Reads a document, if it is XML. */
function xmlOf(text: string): XmlElement | undefined {
  try {
    return XmlElement.read(text);
  } catch (error) {
    if (error instanceof XmlError) return undefined;
    throw error;
  }
}

/** Says how the answers of the two services to a call differ. */
export function compareAnswers(call: ComparedCall, old: SeenAnswer, other: SeenAnswer): Comparison {
  const difference = differenceOf(answerLines(call, old), answerLines(call, other));
  return { ...difference, intention: difference.places === 0 ? undefined : intended(old, other) };
}

/** Returns the compared parts of an answer, as they are printed. */
function answerLines(call: ComparedCall, answer: SeenAnswer): string[] {
  const { status, headers } = answer;
  const first = statusText(answer);
  if (call.compares === 'status') return [first];
  // Caches keep neither answers to POST nor faults (RFC 9111, section 3).
  const isKept = call.method === 'GET' && status === 200;
  const fields = COMPARED_FIELDS.filter((field) => headers.has(field) && (field !== 'cache-control' || isKept));
  const body = bodyLines(call, answer);
  return [
    first,
    ...fields.map((field) => `${fieldName(field)}: ${normalized(field, headers.get(field) ?? '')}`),
    ...(body.length === 0 ? ['(no body)'] : ['', ...body]),
  ];
}

export function statusText({ status }: Pick<HttpAnswer, 'status'>): string {
  return `${String(status)} ${STATUS_CODES[status] ?? ''}`.trim();
}

function normalized(field: Field, value: string): string {
  if (field === 'content-type') return mediaTypeText(value);
  if (field === 'location' || field === 'www-authenticate') return value;
  const items = value.toLowerCase().split(',');
  return items
    .map((item) => item.trim())
    .sort()
    .join(', ');
}

/** A media type without what makes no difference: case, white space, quotes, the order of its parameters. */
function mediaTypeText(value: string): string {
  const type = MIMEType.parse(value);
  if (type === null) return value;
  const parameters = [...type.parameters].map(([name, text]) => `${name}=${text.toLowerCase()}`);
  return [type.essence, ...parameters.sort()].join(';');
}

/** Writes the name of a field as it is usually written: `Content-Type`, `WWW-Authenticate`. */
function fieldName(field: string): string {
  return field.replace(/(^|-)(www(?=-)|[a-z])/g, (part) => part.toUpperCase());
}

function bodyLines({ compares }: ComparedCall, { xml, text }: SeenAnswer): string[] {
  if (xml !== undefined) return canonicalLines(compares === 'all' ? xml : withoutResult(xml));
  return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
}

/** Masks the result of an operation: ids and events differ from call to call. */
function withoutResult(element: XmlElement): XmlElement {
  const isResult = element.name === 'string' || element.name.endsWith('Result');
  const content = element.content.map((child) => (typeof child === 'string' ? child : withoutResult(child)));
  return element.withContent(isResult ? ['…'] : content);
}

/** The beginning of the service's answer to a message that it cannot read; the words of the XML parser follow. */
const UNREADABLE = 'Server was unable to read request.';

const SAYS_WHY = 'the new service says in a fault why the message cannot be read';

/**
 * Says why the new service answers otherwise on purpose, if this is one of those cases, which are listed in
 * docs/migrating.md. Each is matched as narrowly as the original answers.
 */
function intended(old: SeenAnswer, other: SeenAnswer): string | undefined {
  const before = faultIn(old.xml);
  const after = faultIn(other.xml);
  if (isUnreadable(after) && other.status === 400) {
    if (old.status === 400 && old.text === '' && sameType(old, other)) return SAYS_WHY;
    const blamesItself = old.status === 500 && before?.code === 'Receiver' && sameType(old, other);
    if (blamesItself && before.text.startsWith('Server was unable to process request.'))
      return 'the new service says that the caller made the mistake (SOAP 1.2 part 2, section 7.5.2.2)';
  }
  if (old.status !== other.status || !sameType(old, other)) return undefined;
  if (isUnreadable(before) && isUnreadable(after) && before.code === after.code)
    return 'only the words of the XML parser differ';
  if (old.xml === undefined || other.xml === undefined || after?.code !== 'MustUnderstand') return undefined;
  const [oldLines, newLines] = [old.xml, withoutHeader(other.xml, 'NotUnderstood')].map((xml) =>
    canonicalLines(xml).join('\n'),
  );
  if (oldLines === newLines)
    return 'the new service names the header in a NotUnderstood block (SOAP 1.2 part 1, section 5.4.8)';
  return undefined;
}

function isUnreadable(fault: SoapFault | undefined): fault is SoapFault {
  return fault?.text.startsWith(UNREADABLE) === true && (fault.code === 'Client' || fault.code === 'Sender');
}

function sameType(old: SeenAnswer, other: SeenAnswer): boolean {
  return old.headers.get('content-type') === other.headers.get('content-type');
}

/** A SOAP fault, as far as its code and text go. */
interface SoapFault {
  /** The local name of its code: `Client`, `Sender`. */
  readonly code: string;
  readonly text: string;
}

/** The fault in an envelope of SOAP 1.1 or 1.2, if there is one. */
function faultIn(envelope: XmlElement | undefined): SoapFault | undefined {
  const fault = envelope && inside(envelope, 'Body', 'Fault');
  if (fault === undefined) return undefined;
  const code = inside(fault, 'faultcode') ?? inside(fault, 'Code', 'Value');
  const text = inside(fault, 'faultstring') ?? inside(fault, 'Reason', 'Text');
  return { code: textOf(code).replace(/^.*:/, '').trim(), text: textOf(text) };
}

/** An envelope without one header block, or without a header if it was the only block. */
function withoutHeader(envelope: XmlElement, block: string): XmlElement {
  const content = envelope.content.flatMap((child) => {
    if (typeof child === 'string' || child.name !== 'Header') return [child];
    const rest = child.children().filter(({ name }) => name !== block);
    return rest.length === 0 ? [] : [child.withContent(rest)];
  });
  return envelope.withContent(content);
}

function inside(element: XmlElement, ...path: readonly string[]): XmlElement | undefined {
  return path.reduce<XmlElement | undefined>(
    (parent, name) => parent && parent.children().find((child) => child.name === name),
    element,
  );
}

function textOf(element: XmlElement | undefined): string {
  return (element?.content ?? []).filter((child) => typeof child === 'string').join('');
}
