import { MIMEType } from 'whatwg-mimetype';
import { Charset } from '../../http/content/charset';
import { MediaType } from '../../http/content/media-type';
import { XmlText } from '../../xml/xml-text';
import { XmlElement, XmlError } from '../../xml/xml-tree';
import { shortened } from '../../util/text';
import type { HttpAnswer } from '../http-client';
import type { ComparedCall } from './calls';

/** An answer as a client sees it. */
export interface SeenAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  /** The body, if it is XML. */
  readonly xml: XmlElement | undefined;
}

/** How two answers to the same call compare. */
export interface Comparison {
  /** One sentence for each difference. */
  readonly differences: readonly string[];
  /** Why the new service differs on purpose, if it does. */
  readonly intention: string | undefined;
  /** Whether the bodies are the same XML, written differently. */
  readonly isWrittenDifferently: boolean;
}

/** The header fields that a client acts on. */
export const COMPARED_FIELDS = [
  'content-type',
  'content-encoding',
  'cache-control',
  'allow',
  'www-authenticate',
  'location',
  'retry-after',
  'set-cookie',
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
  const differences =
    call.compares === 'status'
      ? statusDifference(old, other)
      : [...statusDifference(old, other), ...fieldDifferences(call, old, other), ...bodyDifference(call, old, other)];
  const intention = differences.length === 0 ? undefined : intended(old, other);
  return {
    differences: intention === undefined ? differences : [],
    intention,
    isWrittenDifferently:
      call.compares === 'all' && differences.length === 0 && intention === undefined && old.text !== other.text,
  };
}

function statusDifference(old: SeenAnswer, other: SeenAnswer): string[] {
  return old.status === other.status ? [] : [sentence('the status', String(old.status), String(other.status))];
}

function fieldDifferences(call: ComparedCall, old: SeenAnswer, other: SeenAnswer): string[] {
  return COMPARED_FIELDS.filter((field) => isSeen(field, call, old)).flatMap((field) => {
    const [before, after] = [old, other].map(({ headers }) => headers.get(field));
    if (normalized(field, before) === normalized(field, after)) return [];
    return [sentence(`the header field ${fieldName(field)}`, shownField(field, before), shownField(field, after))];
  });
}

/** Caches keep neither answers to POST nor faults (RFC 9111, section 3). */
function isSeen(field: Field, { method }: ComparedCall, { status }: SeenAnswer): boolean {
  return field !== 'cache-control' || (method === 'GET' && status === 200);
}

function normalized(field: Field, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (field === 'content-type') return mediaTypeText(value);
  if (field === 'set-cookie') return cookieNames(value);
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

/** The value of a header field as it may be shown: a cookie is a secret. */
export function shownField(field: string, value: string | undefined): string {
  if (value === undefined) return 'not there';
  return field === 'set-cookie' ? cookieNames(value) : value;
}

function cookieNames(value: string): string {
  return value
    .split(/,(?=[^;,]*=)/)
    .map((cookie) => /^\s*([^=;]*)/.exec(cookie)?.[1] ?? '')
    .sort()
    .join(', ');
}

/** Writes the name of a field as it is usually written: `Content-Type`, `WWW-Authenticate`. */
export function fieldName(field: string): string {
  return field.replace(/(^|-)(www(?=-)|[a-z])/g, (part) => part.toUpperCase());
}

function bodyDifference(call: ComparedCall, old: SeenAnswer, other: SeenAnswer): string[] {
  const masked = call.compares === 'all but the result';
  const [before, after] = [old, other].map(({ text }) => (masked ? withoutResult(text) : text));
  if (before === after || before === undefined || after === undefined) return [];
  if (old.xml !== undefined && other.xml !== undefined && !masked) {
    if (canonicalText(old.xml) === canonicalText(other.xml)) return [];
  }
  const rows = [before, after].map((text) => bodyLines(text));
  const first = rows[0]?.findIndex((line, i) => line !== rows[1]?.[i]) ?? -1;
  const row = first === -1 ? (rows[0]?.length ?? 0) : first;
  const lines = rows.map((each) => each[row]?.trim());
  return [sentence(`line ${String(row + 1)} of the body`, lines[0] || undefined, lines[1] || undefined)];
}

/** The lines of a body as they are printed: XML is indented. */
export function bodyLines(text: string): string[] {
  return text === ''
    ? []
    : new XmlText(text)
        .indented()
        .replace(/\r?\n$/, '')
        .split(/\r?\n/);
}

/** Masks the result of an operation: ids and events differ from call to call. */
function withoutResult(text: string): string {
  return text
    .replace(/(<(\w+Result|string)(?:\s[^<>]*)?>)[^<]*(<\/\2>)/, '$1…$3')
    .replace(/<(\w+Result|string)(\s[^<>]*?)?\s*\/>/, '<$1$2>…</$1>');
}

function sentence(what: string, before: string | undefined, after: string | undefined): string {
  const [old, other] = [before, after].map((text) => (text === undefined ? 'not there' : shortened(text)));
  return `${what} is ${old ?? ''} in the old service, ${other ?? ''} in the new one`;
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
  if (canonicalWithoutHeader(other.xml, 'NotUnderstood') === canonicalText(old.xml))
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

/** {@link canonicalText} of an envelope without one header block, or without a header if it was the only block. */
function canonicalWithoutHeader(envelope: XmlElement, block: string): string {
  const content = envelope.content.flatMap((child) => {
    if (typeof child === 'string' || child.name !== 'Header') return [child];
    const rest = child.children().filter(({ name }) => name !== block);
    return rest.length === 0 ? [] : [child.withContent(rest)];
  });
  return canonicalText(envelope.withContent(content));
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

/** Attributes and elements of SOAP whose value is a qualified name. */
const HOLD_NAMES = new Set(['faultcode', 'Value', 'qname']);

/**
 * Writes what a parser sees of a document: the same text for two documents that differ in prefixes, declarations, the order of
 * attributes, comments or white space between elements only.
 */
export function canonicalText(element: XmlElement): string {
  const attributes = element.attributes
    .map(({ uri, local, value }) => `{${uri}}${local}=${JSON.stringify(valueOf(local, value, element))}`)
    .sort();
  const hasChildren = element.content.some((child) => typeof child !== 'string');
  const content = element.content
    .filter((child) => typeof child !== 'string' || !hasChildren || child.trim() !== '')
    .map((child) =>
      typeof child === 'string' ? JSON.stringify(valueOf(element.name, child, element)) : canonicalText(child),
    );
  return `<{${element.namespace}}${[element.name, ...attributes].join(' ')}>${content.join('')}</>`;
}

function valueOf(holder: string, value: string, element: XmlElement): string {
  const found = HOLD_NAMES.has(holder) ? element.qualifiedName(value) : undefined;
  return found === undefined ? value : `{${found.namespace}}${found.name}`;
}
