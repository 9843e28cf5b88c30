import type { Binding } from '../service/call';

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
