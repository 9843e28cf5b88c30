import { HttpResponse } from '../../http/response';
import type { Contract } from '../../contract/contract';
import { indentedXml } from '../indented-text';
import { Binding } from '../../config/values';
import type { soapBindings } from '../../soap/soap-call';
import { SoapVersion } from '../../soap/soap-version';
import { command } from '../events/commands';
import { MediaType } from '../../http/content/media-type';
import { stringReply } from '../../get-post/reply-format';

type Operation = Contract['operations'][number];

/** The SOAP bindings, if they are on. */
export type Soap = Awaited<ReturnType<typeof soapBindings>>;

/** Stands for what differs from call to call, as `length` does. */
const RESULT = 'string';

interface SampleRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Headers;
  readonly body?: string;
}

/**
 * Returns a function that writes samples for an operation, one for each binding: request, response, and a command that sends the
 * request, unless no command fits every shell. They are written by the code that writes the real messages, so the two cannot differ. `KEY` stands for the key.
 */
export async function sampleWriter(contract: Contract, soap: Soap) {
  const soap11 = await soapReplies(contract, soap, SoapVersion.soap11);
  const soap12 = await soapReplies(contract, soap, SoapVersion.soap12);
  const { bindings } = contract.protocols;
  const { contentType, body } = stringReply(contract.namespace)(RESULT);
  const string = response(contentType, body);

  return (operation: Operation, needsKey: boolean, endpointUrl: string) => {
    const { name, action } = operation;
    const given = exampleArguments(operation);
    const url = `${endpointUrl}/${name}`;
    // Queries may have colons, and cmd a variable between two percent signs.
    const fields = new URLSearchParams([...given]).toString().replaceAll('%3A', ':');
    const key: Headers = needsKey ? { 'X-API-Key': 'KEY' } : {};
    const overSoap = (version: SoapVersion, headers: Headers): SampleRequest => ({
      method: 'POST',
      url: endpointUrl,
      headers: { 'Content-Type': version.contentType, ...headers, ...key },
      body: version.request(name, contract, true, given),
    });
    const form = { 'Content-Type': MediaType.form, ...key };
    const all: readonly (readonly [Binding, SampleRequest, string | undefined])[] = [
      ['soap11', overSoap(SoapVersion.soap11, { SOAPAction: `"${action}"` }), soap11.get(name)],
      ['soap12', overSoap(SoapVersion.soap12, {}), soap12.get(name)],
      ['httpget', { method: 'GET', url: `${url}?${fields}`, headers: key }, string],
      ['httppost', { method: 'POST', url, headers: form, body: fields }, string],
    ];
    return all
      .filter(([binding]) => bindings.has(binding))
      .map(([binding, request, response = '']) => ({
        binding: Binding.names[binding],
        request: httpMessage(request),
        response,
        curl: curlOf(request),
      }));
  };
}

type Headers = Readonly<Record<string, string>>;

/** Collects the reply to each operation over a SOAP version, unless that is off, from the server that answers real calls. */
async function soapReplies(
  { operations }: Contract,
  soap: Soap,
  version: SoapVersion,
): Promise<ReadonlyMap<string, string>> {
  const answer = soap?.answers.get(version.binding);
  if (answer === undefined) return new Map();
  const replies = operations.map(async ({ name }) => {
    const reply = await answer(name, {}, { result: RESULT });
    return [name, response(version.contentType, indentedXml(reply) ?? '')] as const;
  });
  return new Map(await Promise.all(replies));
}

function httpMessage({ method, url, headers, body }: SampleRequest): string {
  const { host, pathname } = new URL(url);
  // `search` leaves out a question mark without a query.
  const query = url.includes('?') ? url.slice(url.indexOf('?')) : '';
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  return message(`${method} ${pathname}${query} HTTP/1.1`, { Host: host, ...headers, ...length }, body);
}

function response(contentType: string, body: string): string {
  return message('HTTP/1.1 200 OK', { ...HttpResponse.fieldsOf(contentType, body), 'Content-Length': 'length' }, body);
}

function message(start: string, headers: Readonly<Record<string, unknown>>, body = ''): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
  return [start, ...lines, '', body].join('\n');
}

/** In a command for any shell, between double quotes. */
const SAFE = /^[A-Za-z0-9 \-._~:/?&=,;@+*()#<>']*$/;

function curlOf({ method, url, headers, body = '' }: SampleRequest): string | undefined {
  // The service also takes a SOAPAction without its quotation marks.
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value.replaceAll('"', '')}`]);
  // Attributes between apostrophes, and all in one line.
  const line = body
    .replace(/\n */g, '')
    .replace(/="([^"]*)"/g, (_, value: string) => `='${value.replaceAll("'", '&apos;')}'`);
  // PowerShell leaves out an empty word.
  const sent = line !== '' ? ['--data-raw', line] : method === 'GET' ? [] : ['-X', method];
  return command('curl', [url, ...fields, ...sent], SAFE);
}

/**
 * Arguments for the samples: those the operation requires or, if it requires none, the first whose type shows what a value looks
 * like. An operation that takes any XML gets an element, or a field of a query string or form.
 */
function exampleArguments({ parameters, takesAnyXml }: Operation): ReadonlyMap<string, string> {
  const required = parameters.filter(({ isRequired }) => isRequired);
  const telling = parameters.filter(({ type }) => type.name !== 'string').slice(0, 1);
  const shown = required.length > 0 || takesAnyXml ? required : telling;
  const examples = shown.map(({ name, type }) => [name, type.example] as const);
  return new Map([...examples, ...(takesAnyXml ? [['order', '17'] as const] : [])]);
}
