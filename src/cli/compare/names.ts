import type { XmlElement } from '../../xml/xml-tree';

/** Namespaces of WSDL 1.1 and its bindings. */
export const WSDL = 'http://schemas.xmlsoap.org/wsdl/';
export const SOAP = 'http://schemas.xmlsoap.org/wsdl/soap/';
export const SOAP12 = 'http://schemas.xmlsoap.org/wsdl/soap12/';
export const HTTP = 'http://schemas.xmlsoap.org/wsdl/http/';
const MIME = 'http://schemas.xmlsoap.org/wsdl/mime/';
export const XSD = 'http://www.w3.org/2001/XMLSchema';

/** Prefixes that messages write, whatever the document writes. SOAP 1.2 has that of SOAP 1.1: the binding says which it is. */
const PREFIXES: ReadonlyMap<string, string> = new Map([
  ['', ''],
  [WSDL, 'wsdl:'],
  [SOAP, 'soap:'],
  [SOAP12, 'soap:'],
  [HTTP, 'http:'],
  [MIME, 'mime:'],
  [XSD, 'xs:'],
]);

/** Writes a name with a prefix that does not depend on the document: `tns:` for the namespace of the contract. */
export function nameText({ namespace, name }: { namespace: string; name: string }, targetNamespace: string): string {
  const prefix = namespace === targetNamespace ? 'tns:' : PREFIXES.get(namespace);
  return `${prefix ?? `{${namespace}}`}${name}`;
}

/** As {@link nameText}, of a qualified name that stands in an attribute; one that means nothing stays as it is. */
export function referenceText(
  text: string | undefined,
  element: XmlElement,
  targetNamespace: string,
): string | undefined {
  const name = text === undefined ? undefined : element.qualifiedName(text);
  return name === undefined ? text : nameText(name, targetNamespace);
}

/** Names a protocol as messages do: `SOAP 1.1`, `SOAP 1.2`, `HTTP GET`. Undefined for one that WSDL 1.1 does not have. */
export function protocolOf(binding: XmlElement): string | undefined {
  const [soap] = binding.children(SOAP, 'binding');
  if (soap !== undefined) return 'SOAP 1.1';
  if (binding.children(SOAP12, 'binding').length > 0) return 'SOAP 1.2';
  const [http] = binding.children(HTTP, 'binding');
  return http === undefined ? undefined : `HTTP ${http.attribute('verb') ?? ''}`;
}

/** The element of SOAP or HTTP that says how a binding, or one of its operations, is called. */
export function extensionOf(parent: XmlElement, name: string): XmlElement | undefined {
  return parent.children().find((child) => child.name === name && [SOAP, SOAP12, HTTP].includes(child.namespace));
}

/** The style of an operation of a SOAP binding: its own, or that of the binding (WSDL 1.1, section 3.4). */
export function styleOf(operation: XmlElement, binding: XmlElement): string {
  const own = [extensionOf(operation, 'operation'), extensionOf(binding, 'binding')];
  return own.map((each) => each && each.attribute('style')).find((style) => style !== undefined) ?? 'document';
}
