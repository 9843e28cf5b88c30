import { attributeOf, childrenOf, type XmlElement } from '../../../xml/xml-tree';
import { HTTP, nameText, referenceText, SOAP, SOAP12, WSDL } from './namespaces';
import { part, type Part } from './part';
import { schemaParts } from './schema-parts';

/** Names a protocol as messages do: `SOAP 1.1`, `SOAP 1.2`, `HTTP GET`; undefined: it is none of those of WSDL 1.1. */
export function protocolOf(binding: XmlElement): string | undefined {
  const [soap] = childrenOf(binding, SOAP, 'binding');
  if (soap !== undefined) return 'SOAP 1.1';
  if (childrenOf(binding, SOAP12, 'binding').length > 0) return 'SOAP 1.2';
  const [http] = childrenOf(binding, HTTP, 'binding');
  return http === undefined ? undefined : `HTTP ${attributeOf(http, 'verb') ?? ''}`;
}

/** The element of SOAP or HTTP that says how a binding, or one of its operations, is called. */
export function extensionOf(parent: XmlElement, name: string): XmlElement | undefined {
  return childrenOf(parent).find(
    (child) => child.name === name && [SOAP, SOAP12, HTTP].includes(child.namespace),
  );
}

/** The style of an operation of a SOAP binding: its own, or that of the binding (WSDL 1.1, section 3.4). */
export function styleOf(operation: XmlElement, binding: XmlElement): string {
  const own = [extensionOf(operation, 'operation'), extensionOf(binding, 'binding')];
  return own.map((each) => each && attributeOf(each, 'style')).find((style) => style !== undefined) ?? 'document';
}

/** What a WSDL 1.1 says to a generated client, without documentation, its target namespace and the addresses of the ports. */
export function contractOf(definitions: XmlElement): Part {
  const parts = new Reader(attributeOf(definitions, 'targetNamespace') ?? '').read(definitions);
  return part('service description', '', {}, parts, { isStructural: true });
}

class Reader {
  readonly #targetNamespace: string;

  constructor(targetNamespace: string) {
    this.#targetNamespace = targetNamespace;
  }

  read(definitions: XmlElement): Part[] {
    const all = (name: string, read: (element: XmlElement) => Part): Part[] =>
      childrenOf(definitions, WSDL, name).map(read);
    return [
      ...all('service', (service) => this.#service(service)),
      ...all('binding', (binding) => this.#binding(binding)),
      ...all('portType', (portType) => this.#portType(portType)),
      ...all('message', (message) => this.#message(message)),
      ...schemaParts(childrenOf(definitions, WSDL, 'types'), this.#targetNamespace),
    ];
  }

  #service(service: XmlElement): Part {
    const ports = childrenOf(service, WSDL, 'port').map((port) => {
      const others = this.#extensions(port, ({ name }) => name !== 'address');
      return part('port', nameOf(port), { binding: this.#reference(port, 'binding') }, others);
    });
    return part('service', nameOf(service), {}, ports);
  }

  #binding(binding: XmlElement): Part {
    const own = extensionOf(binding, 'binding');
    const operations = childrenOf(binding, WSDL, 'operation').map((each) => this.#bindingOperation(each, binding));
    const facts = {
      'port type': this.#reference(binding, 'type'),
      protocol: protocolOf(binding) ?? 'unknown',
      transport: own && attributeOf(own, 'transport'),
    };
    return part('binding', nameOf(binding), facts, [...operations, ...this.#extensions(binding, (each) => each !== own)]);
  }

  #bindingOperation(operation: XmlElement, binding: XmlElement): Part {
    const own = extensionOf(operation, 'operation');
    const isSoap = own !== undefined && own.namespace !== HTTP;
    const facts = {
      SOAPAction: isSoap ? (attributeOf(own, 'soapAction') ?? '') : undefined,
      style: isSoap ? styleOf(operation, binding) : undefined,
      soapActionRequired:
        own?.namespace === SOAP12 ? (attributeOf(own, 'soapActionRequired') ?? 'true') : undefined,
      location: own?.namespace === HTTP ? (attributeOf(own, 'location') ?? '') : undefined,
    };
    const messages = ['input', 'output', 'fault'].flatMap((direction) =>
      childrenOf(operation, WSDL, direction).map((each) =>
        part(direction, direction === 'fault' ? nameOf(each) : '', {}, this.#extensions(each)),
      ),
    );
    return part('operation', operationName(operation), facts, [
      ...messages,
      ...this.#extensions(operation, (each) => each !== own),
    ]);
  }

  #portType(portType: XmlElement): Part {
    const operations = childrenOf(portType, WSDL, 'operation').map((operation) => {
      const messages = ['input', 'output', 'fault'].flatMap((direction) =>
        childrenOf(operation, WSDL, direction).map((each) => {
          const facts = { ...this.#foreignFacts(each), message: this.#reference(each, 'message') };
          return part(direction, direction === 'fault' ? nameOf(each) : '', facts);
        }),
      );
      return part('operation', operationName(operation), { parameterOrder: attributeOf(operation, 'parameterOrder') }, messages);
    });
    return part('port type', nameOf(portType), {}, operations);
  }

  #message(message: XmlElement): Part {
    const parts = childrenOf(message, WSDL, 'part').map((each) =>
      part('part', nameOf(each), { element: this.#reference(each, 'element'), type: this.#reference(each, 'type') }),
    );
    return part('message', nameOf(message), {}, parts, { isOrdered: true });
  }

  /** The elements of other namespaces than that of WSDL: what they are for, their bindings say. */
  #extensions(parent: XmlElement, isWanted: (element: XmlElement) => boolean = () => true): Part[] {
    return childrenOf(parent)
      .filter((child) => child.namespace !== WSDL && isWanted(child))
      .map((child) => {
        const facts = { ...defaultsOf(child), ...this.#plainFacts(child), ...this.#foreignFacts(child) };
        return part(nameText(child, this.#targetNamespace), '', facts, [
          ...this.#extensions(child),
          // mime:multipartRelated has parts that are extensions again.
          ...childrenOf(child, WSDL).flatMap((each) => this.#extensions(each)),
        ]);
      });
  }

  #plainFacts(element: XmlElement): Record<string, string | undefined> {
    const plain = element.attributes.filter(({ uri }) => uri === '');
    return Object.fromEntries(
      plain.map(({ local, value }) => [local, local === 'message' ? this.#reference(element, local) : value]),
    );
  }

  #foreignFacts(element: XmlElement): Record<string, string> {
    // wsdl:required says that a client must understand the extension.
    const foreign = element.attributes.filter(({ uri }) => uri !== '');
    return Object.fromEntries(
      foreign.map(({ uri, local, value }) => [nameText({ namespace: uri, name: local }, this.#targetNamespace), value]),
    );
  }

  #reference(element: XmlElement, attribute: string): string | undefined {
    return referenceText(attributeOf(element, attribute), element, this.#targetNamespace);
  }
}

const HAVE_USE = new Set(['body', 'header', 'headerfault', 'fault']);

function defaultsOf({ namespace, name }: XmlElement): Record<string, string> {
  return (namespace === SOAP || namespace === SOAP12) && HAVE_USE.has(name) ? { use: 'literal' } : {};
}

function nameOf(element: XmlElement): string {
  return attributeOf(element, 'name') ?? '';
}

/** The name of an operation; of overloaded ones also that of the input, which tells them apart. */
function operationName(operation: XmlElement): string {
  const [input] = childrenOf(operation, WSDL, 'input');
  const inputName = input === undefined ? undefined : attributeOf(input, 'name');
  return inputName === undefined ? nameOf(operation) : `${nameOf(operation)} (${inputName})`;
}
