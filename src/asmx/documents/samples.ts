import { create } from 'xmlbuilder2';
import { replyHeaders } from '../../http/reply';
import type { Contract } from '../contract';
import { soapRequest } from '../soap/soap-request';
import type { SoapBindings } from '../soap/soap-exchange';
import { SOAP_11, SOAP_12, type SoapVersion } from '../soap/soap-version';
import { STRING_CONTENT_TYPE, stringElement } from '../http/string-element';

/** How to call one operation over one binding. */
export interface Sample {
  /** The binding's name, as in "SOAP 1.1". */
  readonly binding: string;
  /** The HTTP request, ready to be sent once its line feeds are turned into CRLF. */
  readonly request: string;
  /** The HTTP response, with `length` and `string` as placeholders for values that differ from call to call. */
  readonly response: string;
  /** A shell command that sends the request. */
  readonly curl: string;
}

/** Writes the samples of an operation, for the address under which the caller reaches the endpoint. */
export type WriteSamples = (operation: string, endpointUrl: string) => Sample[];

/** Placeholder for the result in the samples. */
const RESULT_PLACEHOLDER = 'string';

interface SampleRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The same body without indentation. */
  readonly compactBody?: string;
}

/** Makes the samples with the code that writes the real messages, so the two cannot differ. */
export async function sampleWriter(contract: Contract, soap: SoapBindings): Promise<WriteSamples> {
  const soap11 = await soapReplies(soap, SOAP_11);
  const soap12 = await soapReplies(soap, SOAP_12);
  const string = response(STRING_CONTENT_TYPE, stringElement(contract.namespace)(RESULT_PLACEHOLDER));

  return (operation, endpointUrl) => {
    const url = `${endpointUrl}/${operation}`;
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const action = { SOAPAction: `"${contract.namespace}${operation}"` };
    return [
      sample('SOAP 1.1', soapSample(operation, endpointUrl, contract, SOAP_11, action), soap11.get(operation)),
      sample('SOAP 1.2', soapSample(operation, endpointUrl, contract, SOAP_12), soap12.get(operation)),
      sample('HTTP GET', { method: 'GET', url: `${url}?`, headers: {} }, string),
      sample('HTTP POST', { method: 'POST', url, headers: form, body: '' }, string),
    ];
  };
}

/** Collects the reply to each operation over one SOAP version from the node-soap server that answers real calls. */
async function soapReplies(
  { contract, servers }: SoapBindings,
  version: SoapVersion,
): Promise<ReadonlyMap<string, string>> {
  const replies = contract.operations.map(async ({ name }) => {
    const reply = await servers[version.binding].sample(name, RESULT_PLACEHOLDER);
    const envelope = create(reply).end({ prettyPrint: true, spaceBeforeSlash: true });
    return [name, response(version.contentType, envelope)] as const;
  });
  return new Map(await Promise.all(replies));
}

function soapSample(
  operation: string,
  url: string,
  contract: Contract,
  version: SoapVersion,
  headers: Readonly<Record<string, string>> = {},
): SampleRequest {
  return {
    method: 'POST',
    url,
    headers: { 'Content-Type': version.contentType, ...headers },
    body: soapRequest(operation, contract, version, true),
    compactBody: soapRequest(operation, contract, version, false),
  };
}

function sample(binding: string, request: SampleRequest, responseMessage = ''): Sample {
  return { binding, request: httpMessage(request), response: responseMessage, curl: curlCommand(request) };
}

function httpMessage({ method, url, headers, body }: SampleRequest): string {
  const { host, pathname } = new URL(url);
  const query = url.endsWith('?') ? '?' : '';
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  return message(`${method} ${pathname}${query} HTTP/1.1`, { Host: host, ...headers, ...length }, body);
}

function response(contentType: string, body: string): string {
  return message('HTTP/1.1 200 OK', { ...replyHeaders(contentType, body), 'Content-Length': 'length' }, body);
}

function message(start: string, headers: Readonly<Record<string, unknown>>, body = ''): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
  return [start, ...lines, '', body].join('\n');
}

function curlCommand({ url, headers, body, compactBody = body }: SampleRequest): string {
  const options = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  const data = compactBody === undefined ? [] : [`-d ${quoted(compactBody)}`];
  return ['curl', ...options, ...data, quoted(url)].join(' ');
}

/** Quotes a word for a POSIX shell; a single quote inside it ends the quoting, is escaped, and starts it again. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
