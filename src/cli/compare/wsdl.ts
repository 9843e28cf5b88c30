import { attributeOf, childrenOf, qualifiedName, readXml, XmlError, type XmlElement } from '../../xml/xml-tree';
import { contractOf, extensionOf, protocolOf, styleOf } from './contract';
import { nameText, WSDL, XSD, type Part } from './part';

/** A port of a service. */
export interface Port {
  readonly name: string;
  /** As in {@link protocolOf}. */
  readonly protocol: string | undefined;
  readonly address: string | undefined;
}

/** How an operation is called over one protocol. */
export interface OperationCall {
  /** Its element in a SOAP body; undefined over HTTP GET and POST. */
  readonly element?: { readonly namespace: string; readonly name: string } | undefined;
  readonly action: string;
  /** What follows the endpoint's address over HTTP GET and POST. */
  readonly location: string;
}

/** Thrown when a document is not a WSDL that can be compared; the message is one sentence about it. */
export class WsdlError extends Error {
  override readonly name = 'WsdlError';
}

/** A WSDL 1.1. */
export class Wsdl {
  /** What it says to a generated client. */
  readonly contract: Part;
  readonly targetNamespace: string;
  readonly ports: readonly Port[];
  readonly #definitions: XmlElement;

  /** @throws {WsdlError} it is not a WSDL 1.1, or parts of it are in other documents. */
  constructor(text: string) {
    const root = rootOf(text);
    this.#definitions = root;
    this.targetNamespace = attributeOf(root, 'targetNamespace') ?? '';
    this.contract = contractOf(root);
    const services = childrenOf(root, WSDL, 'service');
    if (services.length === 0) throw new WsdlError('It describes no service.');
    this.ports = services
      .flatMap((service) => childrenOf(service, WSDL, 'port'))
      .map((port) => {
        const address = extensionOf(port, 'address');
        const binding = this.#find('binding', port, 'binding');
        return {
          name: attributeOf(port, 'name') ?? '',
          protocol: binding && protocolOf(binding),
          address: address && attributeOf(address, 'location'),
        };
      });
  }

  /** The protocols of the ports, as in {@link protocolOf}. */
  get protocols(): readonly string[] {
    return this.ports.flatMap(({ protocol }) => protocol ?? []);
  }

  /**
   * How to call an operation without arguments over a protocol. Returns undefined if there is none of that name, or if its
   * messages are not document/literal.
   */
  call(operation: string, protocol: string): OperationCall | undefined {
    for (const binding of childrenOf(this.#definitions, WSDL, 'binding')) {
      if (protocolOf(binding) !== protocol) continue;
      const found = childrenOf(binding, WSDL, 'operation').find((each) => attributeOf(each, 'name') === operation);
      const own = found && extensionOf(found, 'operation');
      if (found === undefined || own === undefined) continue;
      const action = attributeOf(own, 'soapAction') ?? '';
      const location = attributeOf(own, 'location') ?? '';
      if (protocol.startsWith('HTTP')) return { action, location };
      const element = this.#inputElement(operation, binding);
      if (element !== undefined && styleOf(found, binding) === 'document') return { element, action, location };
    }
    return undefined;
  }

  #inputElement(operation: string, binding: XmlElement): OperationCall['element'] {
    const portType = this.#find('portType', binding, 'type');
    const operations = portType === undefined ? [] : childrenOf(portType, WSDL, 'operation');
    const found = operations.find((each) => attributeOf(each, 'name') === operation);
    const [input] = found === undefined ? [] : childrenOf(found, WSDL, 'input');
    const message = input && this.#find('message', input, 'message');
    const [body] = message === undefined ? [] : childrenOf(message, WSDL, 'part');
    const element = body && attributeOf(body, 'element');
    return body === undefined || element === undefined ? undefined : qualifiedName(element, body);
  }

  /** Finds what an attribute refers to. */
  #find(kind: string, from: XmlElement, attribute: string): XmlElement | undefined {
    const name = qualifiedName(attributeOf(from, attribute) ?? '', from)?.name;
    return childrenOf(this.#definitions, WSDL, kind).find((each) => attributeOf(each, 'name') === name);
  }
}

function rootOf(text: string): XmlElement {
  let root: XmlElement;
  try {
    root = readXml(text);
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    const isPage = /^\s*(?:<!doctype\s+html|<html)\b/i.test(text);
    throw new WsdlError(isPage ? 'It is an HTML page, not a WSDL.' : error.message);
  }
  if (root.namespace !== WSDL || root.name !== 'definitions')
    throw new WsdlError(`It is not a WSDL 1.1: its root element is ${nameText(root, '')}.`);
  const elsewhere = importsOf(root);
  if (elsewhere !== undefined) {
    const hint = 'Services of WCF have it in one document at ?singleWsdl.';
    throw new WsdlError(`Parts of it are in another document, ${elsewhere}, which is not read. ${hint}`);
  }
  return root;
}

/** Where a part of the WSDL is that is not in it, if one is missing. */
function importsOf(definitions: XmlElement): string | undefined {
  const schemas = childrenOf(definitions, WSDL, 'types').flatMap((types) => childrenOf(types, XSD, 'schema'));
  const imports = schemas.flatMap((schema) =>
    ['import', 'include', 'redefine'].flatMap((name) => childrenOf(schema, XSD, name)),
  );
  return [
    ...childrenOf(definitions, WSDL, 'import').map((each) => attributeOf(each, 'location')),
    ...imports.map((each) => attributeOf(each, 'schemaLocation')),
  ].find((location) => location !== undefined);
}
