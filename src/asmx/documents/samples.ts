import { create } from 'xmlbuilder2';
import { replyHeaders } from '../http/reply';
import type { Call, Service } from '../service/call';
import type { Contract } from './contract';
import { soapRequest } from './soap-request';
import { soapServer } from './soap-server';
import { SOAP_11, SOAP_12, type SoapVersion } from './soap-version';
import { STRING_CONTENT_TYPE, stringElement } from './string-element';

/** How one operation is called over one binding. */
export interface Sample {
  /** The binding's name, as in "SOAP 1.1". */
  readonly binding: string;
  /** The HTTP message to send, lines ended by line feeds; what stands in it can be sent as it is. */
  readonly request: string;
  /** The HTTP message that comes back, with `length` and `string` in place of what differs from call to call. */
  readonly response: string;
  /** A command that sends the request. */
  readonly curl: string;
}

/** Writes the samples of an operation for a caller who reaches the endpoint under an address. */
export type WriteSamples = (operation: string, endpointUrl: string) => Sample[];

/** What stands in the samples for a result. */
const RESULT = 'string';

interface SampleRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The body without indentation; the same message in less space. */
  readonly compactBody?: string;
}

/** Makes the samples from the code that writes the real messages, so that they cannot differ from them. */
export async function sampleWriter(contract: Contract): Promise<WriteSamples> {
  const soap11 = await soapReplies(contract, SOAP_11);
  const soap12 = await soapReplies(contract, SOAP_12);
  const string = response(STRING_CONTENT_TYPE, stringElement(contract.namespace)(RESULT));

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

/** The reply to each operation over one SOAP version, from the node-soap server that answers real calls. */
async function soapReplies(contract: Contract, version: SoapVersion): Promise<ReadonlyMap<string, string>> {
  const names = contract.operations.map(({ name }) => name);
  const service: Service = Object.fromEntries(names.map((name) => [name, () => Promise.resolve(RESULT)]));
  const invoke = await soapServer(contract, service, version);
  // The sample service looks at nothing of a call.
  const call = {} as Call;
  const replies = names.map(async (name) => {
    const envelope = create(await invoke(name, call)).end({ prettyPrint: true, spaceBeforeSlash: true });
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

/** Quotes a word for a POSIX shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
