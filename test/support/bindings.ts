import { send, type Answer, type Question } from './http';
import { xmlAttribute } from '../../src/xml/characters';
import { withHeader } from './wsse';
import { parsedText } from './xml';

export const NAMESPACE = 'http://tempuri.org/';
export const SOAP_11_NAMESPACE = 'http://schemas.xmlsoap.org/soap/envelope/';
export const SOAP_12_NAMESPACE = 'http://www.w3.org/2003/05/soap-envelope';

export const BINDINGS = ['soap11', 'soap12', 'httpget', 'httppost'] as const;
export type BindingName = (typeof BINDINGS)[number];

export function envelope11(operation: string, inside = '', namespace = NAMESPACE): string {
  return `<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="${SOAP_11_NAMESPACE}"><soap:Body><${operation} xmlns="${xmlAttribute(namespace)}">${inside}</${operation}></soap:Body></soap:Envelope>`;
}

export function envelope12(operation: string, inside = '', namespace = NAMESPACE): string {
  return envelope11(operation, inside, namespace)
    .replaceAll('soap:', 'soap12:')
    .replace(':soap=', ':soap12=')
    .replace(SOAP_11_NAMESPACE, SOAP_12_NAMESPACE);
}

/** The request of an operation over one binding, as the interface document shows it. */
export function requestOf(
  binding: BindingName,
  operation: string,
  inside = '',
  namespace = NAMESPACE,
): Question & { readonly path: string } {
  switch (binding) {
    case 'soap11': {
      const SOAPAction = `"${namespace}${namespace.endsWith('/') ? '' : '/'}${operation}"`;
      const headers = { 'Content-Type': 'text/xml; charset=utf-8', SOAPAction };
      return { path: '', method: 'POST', headers, body: envelope11(operation, inside, namespace) };
    }
    case 'soap12': {
      const headers = { 'Content-Type': 'application/soap+xml; charset=utf-8' };
      return { path: '', method: 'POST', headers, body: envelope12(operation, inside, namespace) };
    }
    case 'httpget':
      return { path: `/${operation}?` };
    case 'httppost': {
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      return { path: `/${operation}`, method: 'POST', headers, body: '' };
    }
  }
}

/** Calls an operation: over SOAP with the elements `inside` and header blocks, over HTTP GET and POST with the fields of a form. */
export function ask(
  url: string,
  binding: BindingName,
  operation: string,
  { inside = '', blocks = '', fields = '', headers = {}, namespace = NAMESPACE }: Partial<Sent> = {},
): Promise<Answer & { readonly bytes: Buffer }> {
  const { path, ...question } = requestOf(binding, operation, inside, namespace);
  const own = binding === 'httppost' ? { body: fields } : blocks && { body: withHeader(String(question.body), blocks) };
  const address = url + path + (binding === 'httpget' ? fields : '');
  return send(address, { ...question, ...own, headers: { ...question.headers, ...headers } });
}

interface Sent {
  readonly inside: string;
  readonly blocks: string;
  readonly fields: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly namespace: string;
}

/** Records a request over HTTP POST. */
export function post(url: string, body: string | Buffer, headers: Readonly<Record<string, string>> = {}) {
  return send(`${url}/RecordEvent`, { method: 'POST', headers, body });
}

/** The newest events, as GetEvents returns them. */
export async function newestEvents(url: string): Promise<CloudEvent[]> {
  return eventsOf(await callOperation(url, 'httpget', 'GetEvents'));
}

/** Calls an operation and returns its result string, read with a real XML parser. Throws if the status is not 200. */
export async function callOperation(
  url: string,
  binding: BindingName,
  operation: string,
  inside = '',
  headers: Readonly<Record<string, string>> = {},
  namespace = NAMESPACE,
): Promise<string> {
  const answer = await ask(url, binding, operation, { inside, headers, namespace });
  if (answer.status !== 200) throw new Error(`${String(answer.status)}: ${answer.body}`);
  return resultOf(answer);
}

/** The result string of a successful answer over any binding, read by a strict XML parser. */
export function resultOf(answer: Answer): string {
  return parsedText(answer.body);
}

export interface CloudEvent {
  readonly id: string;
  readonly sequence: string;
  readonly binding: string;
  readonly data?: unknown;
  readonly [attribute: string]: unknown;
}

/** Parses the result of GetEvents. */
export function eventsOf(result: string): CloudEvent[] {
  return JSON.parse(result) as CloudEvent[];
}
