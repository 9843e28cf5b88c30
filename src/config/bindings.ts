const NAMES = {
  soap11: 'SOAP 1.1',
  soap12: 'SOAP 1.2',
  httpget: 'HTTP GET',
  httppost: 'HTTP POST',
} as const;

/** A way to call the service: a version of SOAP, or a method of HTTP with the operation in the path. Settings name it as here. */
export type Binding = keyof typeof NAMES;

export const Binding = {
  /** In the order of the WSDL. */
  all: Object.keys(NAMES) as readonly Binding[],
  /** The names for people. */
  names: NAMES,
};
