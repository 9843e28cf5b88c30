import { MIMEType } from 'whatwg-mimetype';
import { charsetOfMark, charsetOfXml, decode, isKnownCharset } from '../../http/content/content-type';
import { indentedXml } from '../../xml/indented-xml';
import { shortened } from '../../util/text';
import type { Call } from './calls';
import type { Answer } from '../http-client';
import { canonicalText, intended, xmlOf, type SeenAnswer } from './intended';

export type { SeenAnswer } from './intended';

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
export function seen({ status, headers, body }: Answer): SeenAnswer {
  const type = MIMEType.parse(headers.get('content-type') ?? '');
  const charset = charsetOfMark(body) ?? type?.parameters.get('charset') ?? charsetOfXml(body) ?? 'utf-8';
  const text = (isKnownCharset(charset) ? decode(body, charset) : undefined) ?? body.toString('latin1');
  return { status, headers, text, xml: xmlOf(text) };
}

/** Says how the answers of the two services to a call differ. */
export function compareAnswers(call: Call, old: SeenAnswer, other: SeenAnswer): Comparison {
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

function fieldDifferences(call: Call, old: SeenAnswer, other: SeenAnswer): string[] {
  return COMPARED_FIELDS.filter((field) => isSeen(field, call, old)).flatMap((field) => {
    const [before, after] = [old, other].map(({ headers }) => headers.get(field));
    if (normalized(field, before) === normalized(field, after)) return [];
    return [sentence(`the header field ${fieldName(field)}`, shownField(field, before), shownField(field, after))];
  });
}

/** Caches keep neither answers to POST nor faults (RFC 9111, section 3). */
function isSeen(field: Field, { method }: Call, { status }: SeenAnswer): boolean {
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

function bodyDifference(call: Call, old: SeenAnswer, other: SeenAnswer): string[] {
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
  return text === '' ? [] : (indentedXml(text) ?? text).replace(/\r?\n$/, '').split(/\r?\n/);
}

/** What an operation returned is not compared: ids and events differ from call to call. */
function withoutResult(text: string): string {
  return text
    .replace(/(<(\w+Result|string)(?:\s[^<>]*)?>)[^<]*(<\/\2>)/, '$1…$3')
    .replace(/<(\w+Result|string)(\s[^<>]*?)?\s*\/>/, '<$1$2>…</$1>');
}

function sentence(what: string, before: string | undefined, after: string | undefined): string {
  const [old, other] = [before, after].map((text) => (text === undefined ? 'not there' : shortened(text)));
  return `${what} is ${old ?? ''} in the old service, ${other ?? ''} in the new one`;
}
