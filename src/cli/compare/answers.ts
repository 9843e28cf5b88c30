import { STATUS_CODES } from 'node:http';
import { Charset } from '../../http/content/charset';
import { MediaType } from '../../http/content/media-type';
import { XmlError } from '../../xml/handler';
import { XmlElement } from '../../xml/xml-tree';
import type { HttpAnswer } from '../../util/http-client';
import type { ComparedCall } from './calls';
import { canonicalLines, differenceOf, type Difference } from './canonical';

/** The header fields that a client acts on. */
const COMPARED_FIELDS = ['Content-Type', 'Cache-Control', 'WWW-Authenticate', 'Location', 'Retry-After'];

/** Says how the answers of the two services to a call differ. */
export function compareAnswers(call: ComparedCall, old: HttpAnswer, other: HttpAnswer): Difference {
  return differenceOf(answerLines(call, old), answerLines(call, other));
}

/** Returns the compared parts of an answer, as they are printed. */
function answerLines({ method, compares }: ComparedCall, answer: HttpAnswer): string[] {
  const first = statusText(answer);
  if (compares === 'status') return [first];
  // Caches keep neither answers to POST nor faults (RFC 9111, section 3).
  const isKept = method === 'GET' && answer.status === 200;
  const fields = COMPARED_FIELDS.flatMap((field) => {
    const value = answer.headers[field.toLowerCase()];
    return value === undefined || (field === 'Cache-Control' && !isKept) ? [] : [`${field}: ${String(value)}`];
  });
  const body = bodyLines(answer, compares === 'all');
  return [first, ...fields, ...(body.length === 0 ? ['(no body)'] : ['', ...body])];
}

export function statusText({ status }: HttpAnswer): string {
  return `${String(status)} ${STATUS_CODES[status] ?? ''}`.trim();
}

/** The lines of a body, which are canonical if it is XML. */
function bodyLines({ headers, body }: HttpAnswer, withResult: boolean): string[] {
  const charset = Charset.ofXml(body, MediaType.parse(headers['content-type'] ?? '')?.charset);
  const text = charset.decode(body) ?? body.toString('latin1');
  try {
    const xml = XmlElement.read(text);
    return canonicalLines(withResult ? xml : withoutResult(xml));
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
  }
}

/** Masks the result of an operation: ids and events differ from call to call. */
function withoutResult(element: XmlElement): XmlElement {
  const isResult = element.name === 'string' || element.name.endsWith('Result');
  const content = element.content.map((child) => (typeof child === 'string' ? child : withoutResult(child)));
  return element.withContent(isResult ? ['…'] : content);
}
