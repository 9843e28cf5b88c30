import { HttpResponse } from '../../http/response';
import type { Contract } from '../../contract/contract';
import { indentedXml } from '../indented-text';
import { Binding } from '../../config/values';
import type { SoapCall } from '../../soap/soap-call';
import { SoapVersion } from '../../soap/soap-version';
import { command, SAFE_XML } from '../shell-command';
import { MediaType } from '../../http/content/media-type';
import { stringReply } from '../../get-post/reply-format';

type SampleOperation = Contract['operations'][number];

/** What SOAP calls share, if a SOAP binding is on. */
export type Soap = Awaited<ReturnType<typeof SoapCall.shared>>;

/** Stands for what differs from call to call, as `length` does. */
const RESULT = 'string';

interface SampleRequest {
  readonly url: string;
  readonly headers: Headers;
  /** Of a POST. */
  readonly body?: string;
}

type Headers = Readonly<Record<string, string>>;

/**
 * Writes samples for an operation, one for each binding that is on: request, response, and a command that sends the request, unless no
 * command fits every shell. They are written by the code that writes the real messages, so the two cannot differ. `KEY` stands for the key.
 */
export async function samplesOf(
  operation: SampleOperation,
  needsKey: boolean,
  endpointUrl: string,
  contract: Contract,
  soap: Soap,
) {
  const { name, action } = operation;
  const given = exampleArguments(operation);
  const url = `${endpointUrl}/${name}`;
  // Queries may have colons, and cmd a variable between two percent signs.
  const fields = new URLSearchParams([...given]).toString().replaceAll('%3A', ':');
  const key: Headers = needsKey ? { 'X-API-Key': 'KEY' } : {};
  const { contentType, body } = stringReply(contract.namespace)(RESULT);
  const string = response(contentType, body);
  const overSoap = async (version: SoapVersion, headers: Headers) => {
    const request: SampleRequest = {
      url: endpointUrl,
      headers: { 'Content-Type': version.contentType, ...headers, ...key },
      body: version.request(name, contract.namespace, true, given),
    };
    const reply = (await soap?.answers.get(version.binding)?.(name, {}, { result: RESULT })) ?? '';
    return [version.binding, request, response(version.contentType, indentedXml(reply) ?? '')] as const;
  };
  const form = { 'Content-Type': MediaType.form, ...key };
  const all: readonly (readonly [Binding, SampleRequest, response: string])[] = [
    await overSoap(SoapVersion.soap11, { SOAPAction: `"${action}"` }),
    await overSoap(SoapVersion.soap12, {}),
    ['httpget', { url: `${url}?${fields}`, headers: key }, string],
    ['httppost', { url, headers: form, body: fields }, string],
  ];
  return all
    .filter(([binding]) => contract.protocols.bindings.has(binding))
    .map(([binding, request, response]) => ({
      binding: Binding.names[binding],
      request: httpMessage(request),
      response,
      curl: curlOf(request),
    }));
}

function httpMessage({ url, headers, body }: SampleRequest): string {
  const { host, pathname } = new URL(url);
  // `search` leaves out a question mark without a query.
  const query = url.includes('?') ? url.slice(url.indexOf('?')) : '';
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const method = body === undefined ? 'GET' : 'POST';
  return message(`${method} ${pathname}${query} HTTP/1.1`, { Host: host, ...headers, ...length }, body);
}

function response(contentType: string, body: string): string {
  return message('HTTP/1.1 200 OK', { ...HttpResponse.fieldsOf(contentType, body), 'Content-Length': 'length' }, body);
}

function message(start: string, headers: Readonly<Record<string, unknown>>, body = ''): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
  return [start, ...lines, '', body].join('\n');
}

function curlOf({ url, headers, body }: SampleRequest): string | undefined {
  // The service also takes a SOAPAction without its quotation marks.
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value.replaceAll('"', '')}`]);
  if (body === undefined) return command('curl', [url, ...fields], SAFE_XML);
  // Attributes between apostrophes, and all in one line.
  const line = body
    .replace(/\n */g, '')
    .replace(/="([^"]*)"/g, (_, value: string) => `='${value.replaceAll("'", '&apos;')}'`);
  // PowerShell leaves out an empty word.
  const sent = line === '' ? ['-X', 'POST'] : ['--data-raw', line];
  return command('curl', [url, ...fields, ...sent], SAFE_XML);
}

/**
 * Arguments for the samples: those the operation requires or, if it requires none, the first whose type shows what a value looks
 * like. An operation that takes any XML gets an element, or a field of a query string or form.
 */
function exampleArguments({ parameters, takesAnyXml }: SampleOperation): ReadonlyMap<string, string> {
  const required = parameters.filter(({ isRequired }) => isRequired);
  const telling = parameters.filter(({ type }) => type === 'int').slice(0, 1);
  const shown = required.length > 0 || takesAnyXml ? required : telling;
  const examples = shown.map(({ name, type }) => [name, type === 'int' ? '10' : 'text'] as const);
  return new Map([...examples, ...(takesAnyXml ? [['order', '17'] as const] : [])]);
}
