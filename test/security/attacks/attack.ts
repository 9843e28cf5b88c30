import { NAMESPACE, SOAP_11_NAMESPACE } from '../../support/bindings';
import { send } from '../../support/http';

/** The key with which an attacker may record, where the attack is not about keys. */
export const KEY = 'record-key-0123456789';

/** One class of attack. */
export interface Attack {
  readonly name: string;
  /** What its answer must look like: the status, and then the text. */
  readonly answer: RegExp;
  /** Attacks once and resolves to the answer: the status and then the text, or what happened to the connection. */
  once(url: string): Promise<string>;
  /** How many do it at the same time, again and again; an attack with many connections of its own is not repeated. */
  readonly parallel?: number;
}

/** Sends a body to the endpoint as SOAP 1.1 and tells the answer. */
export async function soap(url: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<string> {
  const fields = { 'Content-Type': 'text/xml; charset=utf-8', 'X-API-Key': KEY, ...headers };
  const answer = await send(url, { method: 'POST', headers: fields, body });
  return `${String(answer.status)} ${answer.body}`;
}

/** Sends a body to an operation by HTTP POST and tells the answer. */
export async function post(url: string, contentType: string, body: string | Buffer, headers = {}): Promise<string> {
  const fields = { 'Content-Type': contentType, 'X-API-Key': KEY, ...headers };
  const answer = await send(`${url}/RecordEvent`, { method: 'POST', headers: fields, body });
  return `${String(answer.status)} ${answer.body}`;
}

/** An envelope with text in its body, its header, and its start tag. */
export function envelope(body: string, header = '', attributes = ''): string {
  const head = header && `<s:Header>${header}</s:Header>`;
  return `<s:Envelope xmlns:s="${SOAP_11_NAMESPACE}"${attributes}>${head}<s:Body>${body}</s:Body></s:Envelope>`;
}

/** RecordEvent with text inside. */
export function record(inside: string): string {
  return envelope(`<RecordEvent xmlns="${NAMESPACE}">${inside}</RecordEvent>`);
}
