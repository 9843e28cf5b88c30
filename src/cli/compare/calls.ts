import { Contract } from '../../contract/contract';
import { SoapVersion } from '../../soap/soap-version';
import { xmlAttribute, XML_DECLARATION } from '../../xml/characters';
import type { OutgoingRequest } from '../http-client';

/** A request that both services get, in the same bytes. */
export interface ComparedCall extends OutgoingRequest {
  /** As `Wsdl.protocols` call it. */
  readonly protocol: string;
  /** As messages call it. */
  readonly name: string;
  /** The text after the endpoint's address. */
  readonly location: string;
  /** Only the status of the answers is compared. */
  readonly isForStatus?: boolean;
}

/** The operation that changes nothing, and one that no service has. */
const HARMLESS = 'HelloWorld';
const UNKNOWN = 'Nope';

/**
 * The calls to compare two services by, as a client of the old one, with its namespace, makes them: HelloWorld and mistakes over each protocol
 * that both have, and the service page. Mistakes that this service answers otherwise on purpose are not made.
 */
export function callsOf(namespace: string, protocols: ReadonlySet<string>): ComparedCall[] {
  const action = (operation: string) => Contract.actionOf(namespace, operation);
  const soap11 = (name: string, soapAction: string, body = envelope(SoapVersion.soap11, namespace, HARMLESS)) => {
    const headers = { 'Content-Type': SoapVersion.soap11.contentType, SOAPAction: `"${fieldText(soapAction)}"` };
    return { method: 'POST', protocol: 'SOAP 1.1', name, location: '', headers, body };
  };
  const soap12 = (name: string, operation: string, parameter = '') => {
    const headers = { 'Content-Type': SoapVersion.soap12.contentType + parameter };
    const body = envelope(SoapVersion.soap12, namespace, operation);
    return { method: 'POST', protocol: 'SOAP 1.2', name, location: '', headers, body };
  };
  const get = (name: string, operation: string) => {
    return { method: 'GET', protocol: 'HTTP GET', name, location: `/${operation}` };
  };
  const form = (name: string, operation: string) => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    return { method: 'POST', protocol: 'HTTP POST', name, location: `/${operation}`, headers, body: '' };
  };
  const header = '<soap:Header><t xmlns="urn:x" soap:mustUnderstand="1">1</t></soap:Header>';
  const calls: ComparedCall[] = [
    soap11(HARMLESS, action(HARMLESS)),
    soap12(HARMLESS, HARMLESS),
    soap12(`${HARMLESS} with an action`, HARMLESS, `; action="${fieldText(action(HARMLESS))}"`),
    get(HARMLESS, HARMLESS),
    form(HARMLESS, HARMLESS),
    soap11('an unknown SOAPAction', action(UNKNOWN)),
    soap11('an empty SOAPAction', ''),
    soap11('an unknown envelope', action(HARMLESS), '<e:Envelope xmlns:e="urn:x"><e:Body/></e:Envelope>'),
    soap11('an unknown header', action(HARMLESS), envelope(SoapVersion.soap11, namespace, HARMLESS, header)),
    soap12('an unknown operation', UNKNOWN),
    get('an unknown operation', UNKNOWN),
    get('an operation in the wrong case', HARMLESS.toLowerCase()),
    form('an unknown operation', UNKNOWN),
  ];
  return [
    ...calls.filter(({ protocol }) => protocols.has(protocol)),
    { protocol: 'HTTP', name: 'the service page', location: '', method: 'GET', isForStatus: true },
  ];
}

/** An address in quotes in a header field, which takes ASCII only. */
function fieldText(address: string): string {
  return address.replace(/[^\x21\x23-\x7e]/gu, encodeURIComponent);
}

/** An envelope as clients of .NET write it. */
function envelope(version: SoapVersion, namespace: string, operation: string, header = ''): string {
  const prefix = version === SoapVersion.soap11 ? 'soap' : 'soap12';
  const declarations = [
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"',
    'xmlns:xsd="http://www.w3.org/2001/XMLSchema"',
    `xmlns:${prefix}="${version.namespace}"`,
  ];
  const body = `<${operation} xmlns="${xmlAttribute(namespace)}"></${operation}>`;
  return `${XML_DECLARATION}\n<${prefix}:Envelope ${declarations.join(' ')}>${header}<${prefix}:Body>${body}</${prefix}:Body></${prefix}:Envelope>`;
}
