import { HTTP_ERRORS, type RequestError } from '../http/errors';
import type { Binding } from '../service/call';
import { shortened } from '../util/text';

/** What of the contract a service offers. */
export interface Offer {
  /** The bindings over which it can be called; one at least. */
  readonly bindings: ReadonlySet<Binding>;
  /** Whether the endpoint describes itself: the WSDLs, the discovery document, the service page and those of the operations. */
  readonly documentation: boolean;
}

/** The bindings by their names for people, in the order of the WSDL. */
export const BINDING_NAMES: Readonly<Record<Binding, string>> = {
  soap11: 'SOAP 1.1',
  soap12: 'SOAP 1.2',
  httpget: 'HTTP GET',
  httppost: 'HTTP POST',
};

export const BINDINGS = Object.keys(BINDING_NAMES) as readonly Binding[];

/** The offer of a service with nothing switched off. */
export const WHOLE_OFFER: Offer = { bindings: new Set(BINDINGS), documentation: true };

/** Lists the names of bindings: "SOAP 1.1, HTTP GET and HTTP POST". */
export function namesOf(bindings: ReadonlySet<Binding>): string {
  const names = BINDINGS.filter((binding) => bindings.has(binding)).map((binding) => BINDING_NAMES[binding]);
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter((part) => part !== '').join(' and ');
}

/** Whether SOAP messages are taken, of either version. */
export function takesSoap(bindings: ReadonlySet<Binding>): boolean {
  return bindings.has('soap11') || bindings.has('soap12');
}

/**
 * Makes the refusal of a call over HTTP GET or POST where that binding is off.
 *
 * ASP.NET (`WebServiceHandlerFactory`) asks the protocols that are on, in the order SOAP, HTTP POST, HTTP GET, documentation.
 * Only what the last one says counts: 405 if it would take the path with another method, 500 if the path is not for it.
 */
export function unofferedCall(
  { bindings, documentation }: Offer,
  binding: 'httpget' | 'httppost',
  operation: string,
  allow: string,
): RequestError {
  const isForLast = !documentation && (bindings.has('httpget') || bindings.has('httppost'));
  const ending = isForLast ? '' : ` for URL unexpectedly ending in '/${shortened(operation)}'`;
  return HTTP_ERRORS.unrecognizedFormat(isForLast, ending, `${BINDING_NAMES[binding]} is off (PROTOCOLS).`, allow);
}

/**
 * Makes the refusal of a document where the documentation is off, or of a message where both SOAP bindings are; by the rule of
 * {@link unofferedCall}.
 */
export function unofferedAtEndpoint({ bindings, documentation }: Offer, method: string, allow: string): RequestError {
  const isForLast = documentation || !(bindings.has('httpget') || bindings.has('httppost'));
  const off = method === 'POST' ? 'SOAP is off (PROTOCOLS).' : 'The documentation is off (DOCUMENTATION).';
  return HTTP_ERRORS.unrecognizedFormat(isForLast, '', off, allow);
}
