import { STATUS_CODES } from 'node:http';
import { readFile, stat } from 'node:fs/promises';
import { charsetOfMark, charsetOfXml, decode, isKnownCharset } from '../../http/content/content-type';
import { fileError, quoted } from '../terminal';
import { NoAnswerError, type Answer, type HttpClient } from '../http-client';
import { Wsdl, WsdlError } from './wsdl';

/** A service as it was named: its WSDL, and where it is called. */
export interface Service {
  /** As messages call it, without user and password. */
  readonly name: string;
  readonly wsdl: Wsdl;
  /** Undefined if there is only a document. */
  readonly endpoint: URL | undefined;
}

/** Thrown when a WSDL cannot be had; the message is one sentence and says what to do. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
}

const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_REDIRECTS = 5;

/**
 * Reads the WSDL of a service from an address or a file.
 *
 * @throws {SourceError} it cannot be had, or is not a WSDL that can be compared.
 */
export async function readService(text: string, client: HttpClient): Promise<Service> {
  return /^https?:\/\//i.test(text) ? fromAddress(text, client) : fromFile(text);
}

async function fromFile(file: string): Promise<Service> {
  let bytes: Buffer;
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) throw new SourceError(`${file} is longer than 4 MiB.`);
    bytes = await readFile(file);
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw new SourceError((fileError(file, 'read', error) as Error).message);
  }
  return { name: file, wsdl: wsdlOf(bytes, undefined, file), endpoint: undefined };
}

async function fromAddress(text: string, client: HttpClient): Promise<Service> {
  const given = addressOf(text);
  const { url, answer } = await follow(given, client);
  const name = nameOf(url);
  if (answer.status !== 200) throw new SourceError(refusal(name, answer));
  const charset = /;\s*charset="?([\w.:-]+)/i.exec(answer.headers.get('content-type') ?? '')?.[1];
  const wsdl = wsdlOf(answer.body, charset, name);
  const endpoint = new URL(url);
  endpoint.search = '';
  return { name: nameOf(endpoint), wsdl, endpoint: endpoint.pathname.endsWith('.wsdl') ? undefined : endpoint };
}

function addressOf(text: string): URL {
  // The text may hold a password.
  if (!URL.canParse(text)) throw new SourceError('The address is not valid. Write it as in http://host/path.');
  const url = new URL(text);
  url.hash = '';
  if (url.search === '') url.search = '?WSDL';
  return url;
}

async function follow(given: URL, client: HttpClient): Promise<{ url: URL; answer: Answer }> {
  let url = given;
  for (let redirects = 0; ; redirects++) {
    const answer = await ask(url, client);
    const location = answer.headers.get('location');
    if (answer.status < 300 || answer.status > 399 || location === undefined) return { url, answer };
    if (redirects === MAX_REDIRECTS)
      throw new SourceError(`${nameOf(given)} redirects more than ${String(MAX_REDIRECTS)} times.`);
    const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    if (next === undefined || !/^https?:$/.test(next.protocol))
      throw new SourceError(`${nameOf(url)} redirects to ${quoted(location)}, which is no http or https address.`);
    if (next.origin === url.origin || (next.hostname === url.hostname && next.protocol === 'https:')) {
      next.username = url.username;
      next.password = url.password;
    }
    url = next;
  }
}

async function ask(url: URL, client: HttpClient): Promise<Answer> {
  try {
    return await client.ask(url, { method: 'GET' });
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    const advice = TLS_ERROR.test((error.cause as NodeJS.ErrnoException | undefined)?.code ?? '') ? TLS_ADVICE : '';
    throw new SourceError(`${nameOf(url)} cannot be read: ${quoted(error.message).replace(/\.?$/, '.')}${advice}`);
  }
}

/** Codes of errors that certificates and versions of TLS cause. */
const TLS_ERROR = /CERT|SIGNATURE|^ERR_(?:SSL|TLS)/;
const TLS_ADVICE = ' --ca FILE names an authority to trust; --insecure takes any certificate, and old versions of TLS.';

const AS_A_FILE = 'Save its ?WSDL with a browser and give the file instead.';

function refusal(name: string, { status, headers }: Answer): string {
  const answered = `${name} answered ${String(status)} ${STATUS_CODES[status] ?? ''}`.trim();
  const schemes = headers.get('www-authenticate') ?? '';
  if (status === 401 && /\b(negotiate|ntlm)\b/i.test(schemes))
    return `${answered}: it wants Windows authentication, which this tool does not speak. ${AS_A_FILE}`;
  if (status === 401 && /\bbasic\b/i.test(schemes))
    return `${answered}: it wants Basic authentication. Write http://user:password@host/… and check both.`;
  if (status === 401 || status === 403) return `${answered}: it does not let everybody read it. ${AS_A_FILE}`;
  if (status === 404) return `${answered}: check the address.`;
  return `${answered}. If it shows no WSDL to other machines, save ?WSDL on its own machine and give the file instead.`;
}

function wsdlOf(bytes: Buffer, charset: string | undefined, name: string): Wsdl {
  const known = charsetOfMark(bytes) ?? charset ?? charsetOfXml(bytes) ?? 'utf-8';
  const text = isKnownCharset(known) ? decode(bytes, known) : undefined;
  if (text === undefined) throw new SourceError(`${name} is not valid ${quoted(known)}.`);
  try {
    return new Wsdl(text);
  } catch (error) {
    if (!(error instanceof WsdlError)) throw error;
    throw new SourceError(`${name} cannot be compared. ${quoted(error.message).replace(/\.?$/, '.')}`);
  }
}

/** An address as it may be shown: without user and password. */
export function nameOf(url: URL): string {
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  return shown.href;
}
