import { attributeOf, childrenOf, type XmlElement } from '../../xml/xml-tree';
import { HTTP, nameText, part, referenceText, SOAP, SOAP12, WSDL, XSD, type Part } from './part';

/** Names a protocol as messages do: `SOAP 1.1`, `SOAP 1.2`, `HTTP GET`. Undefined for one that WSDL 1.1 does not have. */
export function protocolOf(binding: XmlElement): string | undefined {
  const [soap] = childrenOf(binding, SOAP, 'binding');
  if (soap !== undefined) return 'SOAP 1.1';
  if (childrenOf(binding, SOAP12, 'binding').length > 0) return 'SOAP 1.2';
  const [http] = childrenOf(binding, HTTP, 'binding');
  return http === undefined ? undefined : `HTTP ${attributeOf(http, 'verb') ?? ''}`;
}

/** The element of SOAP or HTTP that says how a binding, or one of its operations, is called. */
export function extensionOf(parent: XmlElement, name: string): XmlElement | undefined {
  return childrenOf(parent).find((child) => child.name === name && [SOAP, SOAP12, HTTP].includes(child.namespace));
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
    const facts = {
      'port type': this.#reference(binding, 'type'),
      protocol: protocolOf(binding) ?? 'unknown',
      transport: own && attributeOf(own, 'transport'),
    };
    return part('binding', nameOf(binding), facts, [
      ...childrenOf(binding, WSDL, 'operation').map((each) => this.#bindingOperation(each, binding)),
      ...this.#extensions(binding, (each) => each !== own),
    ]);
  }

  #bindingOperation(operation: XmlElement, binding: XmlElement): Part {
    const own = extensionOf(operation, 'operation');
    const isSoap = own !== undefined && own.namespace !== HTTP;
    const facts = {
      SOAPAction: isSoap ? (attributeOf(own, 'soapAction') ?? '') : undefined,
      style: isSoap ? styleOf(operation, binding) : undefined,
      soapActionRequired: own?.namespace === SOAP12 ? (attributeOf(own, 'soapActionRequired') ?? 'true') : undefined,
      location: own?.namespace === HTTP ? (attributeOf(own, 'location') ?? '') : undefined,
    };
    return part('operation', operationName(operation), facts, [
      ...messagesOf(operation, (kind, name, message) => part(kind, name, {}, this.#extensions(message))),
      ...this.#extensions(operation, (each) => each !== own),
    ]);
  }

  #portType(portType: XmlElement): Part {
    const operations = childrenOf(portType, WSDL, 'operation').map((operation) => {
      const facts = { parameterOrder: attributeOf(operation, 'parameterOrder') };
      const messages = messagesOf(operation, (kind, name, message) =>
        part(kind, name, { ...this.#foreignFacts(message), message: this.#reference(message, 'message') }),
      );
      return part('operation', operationName(operation), facts, messages);
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

/** Reads the messages of an operation, of which only faults are told apart by their names. */
function messagesOf(operation: XmlElement, read: (kind: string, name: string, message: XmlElement) => Part): Part[] {
  return ['input', 'output', 'fault'].flatMap((kind) =>
    childrenOf(operation, WSDL, kind).map((each) => read(kind, kind === 'fault' ? nameOf(each) : '', each)),
  );
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

/** Attributes whose value is a qualified name, or a list of them. */
const REFERENCES = new Set(['type', 'ref', 'base', 'itemType', 'memberTypes', 'substitutionGroup', 'refer']);
const FLAGS = new Set(['nillable', 'abstract', 'mixed']);

const PARTICLE = { minOccurs: '1', maxOccurs: '1' };
/** What an attribute that is missing stands for (XML Schema 1.0). */
const DEFAULTS = new Map<string, Readonly<Record<string, string>>>([
  ['element', { nillable: 'false', abstract: 'false' }],
  ['sequence', PARTICLE],
  ['choice', PARTICLE],
  ['all', PARTICLE],
  ['group', PARTICLE],
  ['any', { ...PARTICLE, namespace: '##any', processContents: 'strict' }],
  ['anyAttribute', { namespace: '##any', processContents: 'strict' }],
  ['complexType', { mixed: 'false', abstract: 'false' }],
]);

/** Distinguishes what has no name of its own from others. */
const NAMED_BY = ['name', 'ref', 'value', 'xpath'];
const CONTAINERS = new Set(['sequence', 'all']);
const STRUCTURAL = new Set(['complexType', 'simpleType', 'sequence', 'complexContent', 'simpleContent']);
/** Documentation, and imports of schemas that stand in the same WSDL. */
const LEFT_OUT = new Set(['annotation', 'import']);

/** The schemas of a contract, one part for each namespace, without documentation. */
function schemaParts(types: readonly XmlElement[], targetNamespace: string): Part[] {
  const byNamespace = new Map<string, Part[]>();
  for (const schema of types.flatMap((each) => childrenOf(each, XSD, 'schema'))) {
    const namespace = attributeOf(schema, 'targetNamespace') ?? '';
    const parts = byNamespace.get(namespace) ?? [];
    byNamespace.set(namespace, parts);
    parts.push(...new SchemaReader(schema, targetNamespace).parts);
  }
  return [...byNamespace].map(([namespace, parts]) => {
    const isOwn = namespace === targetNamespace;
    return part('schema', isOwn ? '' : namespace || 'without a namespace', {}, parts, { isStructural: isOwn });
  });
}

class SchemaReader {
  readonly parts: readonly Part[];
  readonly #schema: XmlElement;
  readonly #targetNamespace: string;

  constructor(schema: XmlElement, targetNamespace: string) {
    this.#schema = schema;
    this.#targetNamespace = targetNamespace;
    this.parts = this.#inside(schema, false);
  }

  #inside(element: XmlElement, isLocal: boolean): Part[] {
    return childrenOf(element)
      .filter((child) => child.namespace !== XSD || !LEFT_OUT.has(child.name))
      .map((child) => this.#partOf(child, isLocal))
      .filter((child) => !CONTAINERS.has(child.kind) || child.parts.length > 0);
  }

  #partOf(element: XmlElement, isLocal: boolean): Part {
    const kind = element.namespace === XSD ? element.name : nameText(element, this.#targetNamespace);
    const names = NAMED_BY.map((name) => [name, attributeOf(element, name)] as const);
    const [attribute, text] = names.find(([, value]) => value !== undefined) ?? [undefined, ''];
    const name = attribute === 'ref' ? (this.#reference(text, element) ?? '') : (text ?? '');
    return part(kind, name, this.#facts(element, isLocal, attribute), this.#inside(element, true), {
      isOrdered: kind === 'sequence',
      isStructural: name === '' && STRUCTURAL.has(kind),
    });
  }

  #facts(element: XmlElement, isLocal: boolean, namedBy: string | undefined): Record<string, string | undefined> {
    const facts: Record<string, string | undefined> = {
      ...DEFAULTS.get(element.name),
      ...this.#implied(element, isLocal),
    };
    for (const { uri, local, value } of element.attributes) {
      if (uri === '' && (local === namedBy || local === 'id')) continue;
      // wsdl:arrayType is a qualified name with brackets after it.
      const isReference = uri === WSDL || (uri === '' && REFERENCES.has(local));
      facts[uri === '' ? local : nameText({ namespace: uri, name: local }, '')] = isReference
        ? this.#references(value, element)
        : FLAGS.has(local)
          ? value.trim().replace(/^1$/, 'true').replace(/^0$/, 'false')
          : value.trim();
    }
    return facts;
  }

  /** What follows for an element or attribute from where it stands. */
  #implied(element: XmlElement, isLocal: boolean): Record<string, string | undefined> {
    const { name } = element;
    if (name !== 'element' && name !== 'attribute') return {};
    const has = (attribute: string): boolean => attributeOf(element, attribute) !== undefined;
    const hasOwnType = childrenOf(element, XSD).some((child) => child.name.endsWith('Type'));
    const standard = name === 'element' ? 'xs:anyType' : 'xs:anySimpleType';
    return {
      ...(has('type') || has('ref') || hasOwnType ? {} : { type: standard }),
      ...(isLocal && name === 'element' ? PARTICLE : {}),
      ...(isLocal && name === 'attribute' ? { use: 'optional' } : {}),
      ...(isLocal && !has('ref') ? { form: attributeOf(this.#schema, `${name}FormDefault`) ?? 'unqualified' } : {}),
    };
  }

  #references(text: string, element: XmlElement): string {
    const names = text.trim().split(/\s+/);
    return names
      .map((each) => {
        const [, name = each, brackets = ''] = /^([^[]*)(\[.*)$/.exec(each) ?? [];
        return `${this.#reference(name, element) ?? name}${brackets}`;
      })
      .join(' ');
  }

  #reference(text: string | undefined, element: XmlElement): string | undefined {
    return referenceText(text, element, this.#targetNamespace);
  }
}
