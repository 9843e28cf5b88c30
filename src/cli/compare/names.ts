import { SoapVersion } from '../../soap/soap-version';
import type { ElementName } from '../../xml/handler';
import type { XmlElement } from '../../xml/xml-tree';

/** Namespaces of WSDL 1.1 and its bindings. */
export const WSDL = 'http://schemas.xmlsoap.org/wsdl/';
export const SOAP = 'http://schemas.xmlsoap.org/wsdl/soap/';
export const SOAP12 = 'http://schemas.xmlsoap.org/wsdl/soap12/';
export const HTTP = 'http://schemas.xmlsoap.org/wsdl/http/';
const MIME = 'http://schemas.xmlsoap.org/wsdl/mime/';
export const XSD = 'http://www.w3.org/2001/XMLSchema';

/** Prefixes for names, whatever the document writes. */
const PREFIXES: ReadonlyMap<string, string> = new Map([
  ['', ''],
  [WSDL, 'wsdl:'],
  [SOAP, 'soap:'],
  [SOAP12, 'soap12:'],
  [HTTP, 'http:'],
  [MIME, 'mime:'],
  [XSD, 'xs:'],
  [SoapVersion.soap11.namespace, 'soap:'],
  [SoapVersion.soap12.namespace, 'soap12:'],
]);

/** Writes a name with a prefix that does not depend on the document: `tns:` for the target namespace. */
export function nameText({ namespace, name }: ElementName, targetNamespace?: string): string {
  const prefix = namespace !== '' && namespace === targetNamespace ? 'tns:' : PREFIXES.get(namespace);
  return `${prefix ?? `{${namespace}}`}${name}`;
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
