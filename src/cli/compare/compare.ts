import { Charset, MediaType } from '../../http/content/media-type';
import { oneLine } from '../../util/text';
import { XmlError } from '../../xml/handler';
import { XmlElement } from '../../xml/xml-tree';
import { NoAnswerError, statusText, type HttpAnswer, type HttpClient } from '../http-client';
import { counted, printLines } from '../terminal';
import { callsOf, type ComparedCall } from './calls';
import { canonicalLines, differenceOf } from './canonical';
import { readService, type ComparedService } from './wsdl';

/**
 * Compares two services, each an address or the name of a file, and prints what was found as it goes. Resolves to the number of
 * differences, and of calls that could not be compared.
 *
 * @throws one of the WSDLs cannot be had.
 */
export async function compare(oldName: string, newName: string, client: HttpClient) {
  const old = await readService(oldName, client);
  const other = await readService(newName, client);
  await printLines([`Old service: ${old.name}`, `New service: ${other.name}`, '']);
  const { places, lines } = differenceOf(old.wsdl.lines, other.wsdl.lines);
  const verdict = places === 0 ? 'a generated client sees no difference' : counted(places, 'difference');
  await printLines([`WSDL: ${verdict}`, ...lines, '']);
  const { calls, failures, ...found } = await compareCalls(old, other, client);
  const differences = places + found.differences;
  await printLines(['', summary(differences, failures, calls)]);
  return { differences, failures };
}

async function compareCalls(old: ComparedService, other: ComparedService, client: HttpClient) {
  if (old.endpoint === undefined || other.endpoint === undefined) {
    const which = old.endpoint === undefined ? 'old' : 'new';
    await printLines([`Calls: none was made, since the ${which} service is only a document.`]);
    return { differences: 0, failures: 0, calls: 0 };
  }
  const theirs = new Set(other.wsdl.protocols);
  const protocols = new Set(old.wsdl.protocols.filter((protocol) => theirs.has(protocol)));
  const calls = callsOf(old.wsdl.targetNamespace, protocols);
  await printLines([`Calls: ${String(calls.length)}, as a client of the old service makes them`]);
  let [differences, failures] = [0, 0];
  for (const call of calls) {
    const [before, after] = [await ask(call, old.endpoint, client), await ask(call, other.endpoint, client)];
    const title = `${call.name.charAt(0).toUpperCase()}${call.name.slice(1)} over ${call.protocol}`;
    if (before instanceof NoAnswerError || after instanceof NoAnswerError || bothRefuse(before, after)) {
      failures++;
      const problems = [...problemOf('old', before), ...problemOf('new', after)];
      await printLines([`${title}: could not be compared`, ...problems]);
      continue;
    }
    const { places, lines } = differenceOf(answerLines(call, before), answerLines(call, after));
    differences += places;
    await printLines([`${title}: ${places === 0 ? 'same' : counted(places, 'difference')}`, ...lines]);
  }
  return { differences, failures, calls: calls.length };
}

/** Statuses of services that let a caller in at another time, or with a key: such answers say nothing about the call. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 429, 503]);

function bothRefuse(old: HttpAnswer, other: HttpAnswer): boolean {
  return REFUSALS.has(old.status) && REFUSALS.has(other.status);
}

function ask(call: ComparedCall, endpoint: URL, client: HttpClient): Promise<HttpAnswer | NoAnswerError> {
  return client.ask(Object.assign(new URL(endpoint), { pathname: endpoint.pathname + call.location }), call);
}

function problemOf(side: string, answer: HttpAnswer | NoAnswerError): string[] {
  if (answer instanceof NoAnswerError) return [`  the ${side} service: ${oneLine(answer.message)}`];
  return REFUSALS.has(answer.status) ? [`  the ${side} service refuses the caller: ${statusText(answer.status)}`] : [];
}

function summary(differences: number, failures: number, calls: number): string {
  const found = `A client sees ${differences === 0 ? 'no difference' : counted(differences, 'difference')}`;
  if (failures > 0) return `${found}; ${String(failures)} of ${String(calls)} calls could not be compared.`;
  return calls === 0 ? `${found}, as far as the WSDLs tell.` : `${found}.`;
}

const COMPARED_FIELDS = ['Content-Type', 'Cache-Control', 'WWW-Authenticate', 'Location', 'Retry-After'];

function answerLines({ method, isForStatus }: ComparedCall, answer: HttpAnswer): string[] {
  const first = statusText(answer.status);
  if (isForStatus) return [first];
  // Caches keep neither answers to POST nor faults (RFC 9111, section 3).
  const isKept = method === 'GET' && answer.status === 200;
  const fields = COMPARED_FIELDS.flatMap((field) => {
    const value = answer.headers[field.toLowerCase()];
    return value === undefined || (field === 'Cache-Control' && !isKept) ? [] : [`${field}: ${String(value)}`];
  });
  const body = bodyLines(answer);
  return [first, ...fields, ...(body.length === 0 ? ['(no body)'] : ['', ...body])];
}

function bodyLines({ headers, body }: HttpAnswer): string[] {
  const charset = Charset.ofXml(body, MediaType.parse(headers['content-type'])?.charset);
  const text = charset.decode(body) ?? body.toString('latin1');
  try {
    return canonicalLines(XmlElement.read(text));
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
  }
}
