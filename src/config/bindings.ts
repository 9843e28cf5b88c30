/** The names for people of the bindings, in the order of the WSDL. Settings and options name a binding as here. */
export const BINDING_NAMES = {
  soap11: 'SOAP 1.1',
  soap12: 'SOAP 1.2',
  httpget: 'HTTP GET',
  httppost: 'HTTP POST',
} as const;

/** A way to call the service: a version of SOAP, or a method of HTTP with the operation in the path. */
export type Binding = keyof typeof BINDING_NAMES;

/** All bindings, in the order of the WSDL. */
export const BINDINGS = Object.keys(BINDING_NAMES) as readonly Binding[];
