import { HTTP_ERRORS, type RequestError } from '../http/errors';
import { shortened } from '../util/text';
import type { Binding } from '../service/call';
import { BINDING_NAMES, type Offer } from '../contract/offer';

/**
 * Makes the refusal of a call over HTTP GET or POST where that binding is off.
 *
 * ASP.NET (`WebServiceHandlerFactory`) asks the protocols that are on, in the order SOAP, HTTP POST, HTTP GET, documentation.
 * Only what the last one says counts: 405 if it would take the path with another method, 500 if the path is not for it.
 */
export function unrecognizedCall(
  { bindings, documentation }: Offer,
  binding: 'httpget' | 'httppost',
  operation: string,
  allow: string,
): RequestError {
  const isForLast = !documentation && (bindings.has('httpget') || bindings.has('httppost'));
  const ending = isForLast ? '' : ` for URL unexpectedly ending in '/${shortened(operation)}'`;
  return refusal(isForLast, ending, `${BINDING_NAMES[binding]} is off (PROTOCOLS).`, allow);
}

/**
 * Makes the refusal of a document where the documentation is off, or of a message where both SOAP bindings are; by the rule of
 * {@link unrecognizedCall}.
 */
export function unrecognizedAtEndpoint(
  { bindings, documentation }: Offer,
  method: string,
  allow: string,
): RequestError {
  const isForLast = documentation || !(bindings.has('httpget') || bindings.has('httppost'));
  const off = method === 'POST' ? 'SOAP is off (PROTOCOLS).' : 'The documentation is off (DOCUMENTATION).';
  return refusal(isForLast, '', off, allow);
}

/** Whether messages are taken at all. */
export function takesSoap(bindings: ReadonlySet<Binding>): boolean {
  return bindings.has('soap11') || bindings.has('soap12');
}

function refusal(isForLast: boolean, ending: string, off: string, allow: string): RequestError {
  return HTTP_ERRORS.unrecognizedFormat(isForLast, ending, off, allow);
}
