import { Contract } from '../../contract/contract';
import { SoapVersion } from '../../soap/soap-version';
import { xmlAttribute, XML_DECLARATION } from '../../xml/characters';
import type { OperationCall, Wsdl } from './wsdl';
import type { OutgoingRequest } from '../http-client';

/** A request that both services get, in the same bytes. */
export interface ComparedCall extends OutgoingRequest {
  /** As messages call it. */
  readonly name: string;
  /** The text after the endpoint's address. */
  readonly location: string;
  /** The compared parts of the answers: all, all but the result, which differs from call to call, or the status alone. */
  readonly compares: 'all' | 'all but the result' | 'status';
}

/** Operations that are called only when they are asked for. */
export type AskedOperation = 'RecordEvent' | 'GetEvents';

/** The operation that changes nothing. */
const HARMLESS = 'HelloWorld';

/** An operation that no service has. */
const UNKNOWN = 'Nope';

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const ALL = { compares: 'all' } as const;

/**
 * The calls to compare two services by, as a client makes them that was generated from the WSDL of the old one: HelloWorld and
 * mistakes over each protocol that both have, the service page, and the operations that are asked for.
 */
export function callsOf(old: Wsdl, other: Wsdl, asked: readonly AskedOperation[]): ComparedCall[] {
  const have = (protocol: string): boolean => old.protocols.includes(protocol) && other.protocols.includes(protocol);
  const results = asked.flatMap((operation) =>
    successes(old, operation, have).map((call): ComparedCall => ({ ...call, compares: 'all but the result' })),
  );
  return [
    ...successes(old, HARMLESS, have),
    ...(have('SOAP 1.1') ? soap11Mistakes(old) : []),
    ...(have('SOAP 1.2') ? soap12Mistakes(old) : []),
    ...(have('HTTP GET') ? getMistakes() : []),
    ...(have('HTTP POST')
      ? [{ ...ALL, name: 'an unknown operation over HTTP POST', location: `/${UNKNOWN}`, ...form() }]
      : []),
    { name: 'the service page', location: '', method: 'GET', compares: 'status' },
    ...results,
  ];
}

function successes(old: Wsdl, operation: string, have: (protocol: string) => boolean): ComparedCall[] {
  const calls = (
    protocol: string,
    write: (call: OperationCall) => (OutgoingRequest & { location?: string })[],
  ): ComparedCall[] => {
    const call = have(protocol) ? old.call(operation, protocol) : undefined;
    const written = call === undefined ? [] : write(call);
    return written.map((question, i) => {
      const name = `${operation} over ${protocol}${i === 0 ? '' : ' with an action'}`;
      return { ...ALL, location: '', ...question, name };
    });
  };
  return [
    ...calls('SOAP 1.1', (call) => [soap11(envelope(SoapVersion.soap11, call.element), call.action)]),
    ...calls('SOAP 1.2', (call) => [
      soap12(envelope(SoapVersion.soap12, call.element)),
      soap12(envelope(SoapVersion.soap12, call.element), call.action),
    ]),
    ...calls('HTTP GET', ({ location }) => [{ method: 'GET', location }]),
    ...calls('HTTP POST', ({ location }) => [{ ...form(), location }]),
  ];
}

function soap11Mistakes(old: Wsdl): ComparedCall[] {
  const call = old.call(HARMLESS, 'SOAP 1.1');
  const action = call?.action ?? Contract.actionOf(old.targetNamespace, HARMLESS);
  const body = envelope(SoapVersion.soap11, call?.element ?? { namespace: old.targetNamespace, name: HARMLESS });
  const mistake = (name: string, question: OutgoingRequest): ComparedCall => ({
    ...ALL,
    location: '',
    ...question,
    name,
  });
  return [
    mistake('an unknown SOAPAction', soap11(body, Contract.actionOf(old.targetNamespace, UNKNOWN))),
    mistake('an empty SOAPAction', soap11(body, '')),
    mistake('a SOAP 1.1 envelope that ends too early', soap11(unfinished(SoapVersion.soap11), action)),
    mistake('an envelope of an unknown version', soap11('<e:Envelope xmlns:e="urn:x"><e:Body/></e:Envelope>', action)),
    mistake('a SOAP 1.1 header that must be understood', soap11(withHeader(SoapVersion.soap11, body), action)),
  ];
}

function soap12Mistakes(old: Wsdl): ComparedCall[] {
  const element = old.call(HARMLESS, 'SOAP 1.2')?.element ?? { namespace: old.targetNamespace, name: HARMLESS };
  const mistake = (name: string, body: string): ComparedCall => ({ ...ALL, location: '', ...soap12(body), name });
  return [
    mistake('an unknown operation over SOAP 1.2', envelope(SoapVersion.soap12, { ...element, name: UNKNOWN })),
    mistake('a SOAP 1.2 envelope that ends too early', unfinished(SoapVersion.soap12)),
    mistake(
      'a SOAP 1.2 header that must be understood',
      withHeader(SoapVersion.soap12, envelope(SoapVersion.soap12, element)),
    ),
  ];
}

function getMistakes(): ComparedCall[] {
  return [
    { ...ALL, name: 'an unknown operation over HTTP GET', location: `/${UNKNOWN}`, method: 'GET' },
    {
      ...ALL,
      name: 'an operation in the wrong case over HTTP GET',
      location: `/${HARMLESS.toLowerCase()}`,
      method: 'GET',
    },
  ];
}

function soap11(body: string, action: string): OutgoingRequest {
  return {
    method: 'POST',
    headers: { 'Content-Type': SoapVersion.soap11.contentType, SOAPAction: `"${fieldText(action)}"` },
    body,
  };
}

function soap12(body: string, action?: string): OutgoingRequest {
  const parameter = action === undefined ? '' : `; action="${fieldText(action)}"`;
  return { method: 'POST', headers: { 'Content-Type': SoapVersion.soap12.contentType + parameter }, body };
}

/** An address in quotes in a header field, which takes ASCII only. */
function fieldText(address: string): string {
  return address.replace(/[^\x21\x23-\x7e]/gu, encodeURIComponent);
}

function form(): OutgoingRequest {
  return { method: 'POST', headers: FORM, body: '' };
}

function envelope(version: SoapVersion, element: OperationCall['element']): string {
  const { namespace = '', name = '' } = element ?? {};
  const prefix = prefixOf(version);
  const declarations = [
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"',
    'xmlns:xsd="http://www.w3.org/2001/XMLSchema"',
    `xmlns:${prefix}="${version.namespace}"`,
  ];
  const body = `<${name} xmlns="${xmlAttribute(namespace)}"></${name}>`;
  return `${XML_DECLARATION}\n<${prefix}:Envelope ${declarations.join(' ')}><${prefix}:Body>${body}</${prefix}:Body></${prefix}:Envelope>`;
}

function unfinished(version: SoapVersion): string {
  const prefix = prefixOf(version);
  return `<${prefix}:Envelope xmlns:${prefix}="${version.namespace}"><${prefix}:Body>`;
}

/** Puts a header that no service understands before the body of an envelope. */
function withHeader(version: SoapVersion, xml: string): string {
  const prefix = prefixOf(version);
  const flag = version === SoapVersion.soap11 ? '1' : 'true';
  const block = `<t xmlns="urn:x" ${prefix}:mustUnderstand="${flag}">1</t>`;
  return xml.replace(`<${prefix}:Body>`, `<${prefix}:Header>${block}</${prefix}:Header><${prefix}:Body>`);
}

/** The prefixes that clients of .NET write. */
function prefixOf(version: SoapVersion): string {
  return version === SoapVersion.soap11 ? 'soap' : 'soap12';
}
