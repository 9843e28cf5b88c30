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
