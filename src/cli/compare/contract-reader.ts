import { shortened } from '../../util/text';
import type { XmlElement } from '../../xml/xml-tree';
import { quoted } from '../terminal';
import type { ContractFacts, ContractFact } from './contract';
import { extensionOf, HTTP, nameText, protocolOf, referenceText, SOAP, SOAP12, styleOf, WSDL, XSD } from './names';

/** Reads a WSDL 1.1 without documentation and the addresses of the ports. */
export function contractOf(definitions: XmlElement): ContractFacts {
  const targetNamespace = definitions.attribute('targetNamespace') ?? '';
  return { targetNamespace, facts: new ContractReader(targetNamespace).read(definitions) };
}

/** A part of a contract while it is read. */
interface OpenPart {
  readonly key: string;
  /** How the keys of the parts inside it begin. */
  readonly path: string;
}

type FactValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Most characters of a path: the keys of a document that is nested 100 levels deep must not fill the memory. */
const MAX_PATH = 300;

const CONTRACT: OpenPart = { key: '', path: '' };

class ContractReader {
  readonly #targetNamespace: string;
  readonly #facts = new Map<string, ContractFact>();
  readonly #counts = new Map<string, number>();
  readonly #schemas = new Map<string, OpenPart>();

  constructor(targetNamespace: string) {
    this.#targetNamespace = targetNamespace;
  }

  read(definitions: XmlElement): ReadonlyMap<string, ContractFact> {
    for (const child of definitions.children(WSDL)) {
      if (['service', 'portType', 'message'].includes(child.name)) this.#wsdl(child, CONTRACT);
      else if (child.name === 'binding') this.#binding(child);
      else if (child.name === 'types') child.children(XSD, 'schema').forEach((each) => this.#schema(each));
    }
    return this.#facts;
  }

  /**
   * Notes a part and its values; those that are undefined are left out.
   *
   * @param isNamed - whether the keys of the parts inside it have it.
   */
  #add(within: OpenPart, label: string, values: FactValues, isNamed = true): OpenPart {
    const place = within.path === '' ? label : `${within.path}, ${label}`;
    const count = (this.#counts.get(place) ?? 0) + 1;
    this.#counts.set(place, count);
    const key = count === 1 ? place : `${place} (${String(count)})`;
    this.#facts.set(key, { within: within.key, value: undefined });
    for (const [name, value] of Object.entries(values))
      if (value !== undefined) this.#facts.set(`${key}: ${name}`, { within: key, value });
    return { key, path: isNamed ? shortened(key, MAX_PATH) : within.path };
  }

  /** An element of WSDL outside bindings. Of all messages, only faults are identified by their names. */
  #wsdl(element: XmlElement, within: OpenPart): void {
    const isMessage = element.name === 'input' || element.name === 'output';
    const values = Object.fromEntries(
      element.attributes
        .filter(({ uri, local }) => uri !== '' || local !== 'name')
        .map(({ uri, local, value }) =>
          uri === '' && local !== 'parameterOrder'
            ? [local, this.#reference(value, element)]
            : [uri === '' ? local : this.#name({ namespace: uri, name: local }), value],
        ),
    );
    const order = element.name === 'message' ? element.children(WSDL, 'part').map(nameOf) : undefined;
    const part = this.#add(within, isMessage ? element.name : labelOf(element), { ...values, 'the order': order });
    for (const child of element.children(WSDL)) if (child.name !== 'documentation') this.#wsdl(child, part);
    if (element.name === 'port') this.#extensions(element, part);
  }

  #binding(binding: XmlElement): void {
    const own = extensionOf(binding, 'binding');
    const part = this.#add(CONTRACT, labelOf(binding), {
      'port type': this.#reference(binding.attribute('type'), binding),
      protocol: protocolOf(binding) ?? 'unknown',
      transport: own && own.attribute('transport'),
    });
    for (const operation of binding.children(WSDL, 'operation')) this.#bindingOperation(operation, binding, part);
    this.#extensions(binding, part, own);
  }

  #bindingOperation(operation: XmlElement, binding: XmlElement, within: OpenPart): void {
    const own = extensionOf(operation, 'operation');
    const isSoap = own !== undefined && own.namespace !== HTTP;
    const part = this.#add(within, labelOf(operation), {
      SOAPAction: isSoap ? (own.attribute('soapAction') ?? '') : undefined,
      style: isSoap ? styleOf(operation, binding) : undefined,
      soapActionRequired: own?.namespace === SOAP12 ? (own.attribute('soapActionRequired') ?? 'true') : undefined,
      location: own?.namespace === HTTP ? (own.attribute('location') ?? '') : undefined,
    });
    for (const message of operation.children(WSDL)) {
      if (message.name === 'documentation') continue;
      const label = message.name === 'fault' ? labelOf(message) : message.name;
      this.#extensions(message, this.#add(part, label, {}));
    }
    this.#extensions(operation, part, own);
  }

  /** The elements of other namespaces than that of WSDL, but addresses, and the one that the facts of the parent are from. */
  #extensions(parent: XmlElement, within: OpenPart, own?: XmlElement): void {
    for (const child of parent.children()) {
      if (child.namespace === WSDL || child.name === 'address' || child === own) continue;
      const hasUse = (child.namespace === SOAP || child.namespace === SOAP12) && HAVE_USE.has(child.name);
      const values = child.attributes.map(({ uri, local, value }) =>
        uri === ''
          ? [local, local === 'message' ? this.#reference(value, child) : value]
          : [this.#name({ namespace: uri, name: local }), value],
      );
      const part = this.#add(within, this.#name(child), {
        ...(hasUse && { use: 'literal' }),
        ...(Object.fromEntries(values) as FactValues),
      });
      this.#extensions(child, part);
      // mime:multipartRelated has parts that are extensions again.
      for (const each of child.children(WSDL)) this.#extensions(each, part);
    }
  }

  /** Schemas of one namespace are one part. */
  #schema(schema: XmlElement): void {
    const namespace = schema.attribute('targetNamespace') ?? '';
    const isOwn = namespace === this.#targetNamespace;
    const label = isOwn ? 'schema' : `schema ${quoted(namespace || 'without a namespace')}`;
    const part = this.#schemas.get(namespace) ?? this.#add(CONTRACT, label, {}, !isOwn);
    this.#schemas.set(namespace, part);
    for (const child of contentOf(schema)) this.#schemaPart(child, schema, part, false);
  }

  #schemaPart(element: XmlElement, schema: XmlElement, within: OpenPart, isLocal: boolean): void {
    const kind = element.namespace === XSD ? element.name : this.#name(element);
    const namedBy = NAMED_BY.find((name) => element.attribute(name) !== undefined);
    const name = this.#schemaName(element);
    const isNamed = name !== '' || !STRUCTURAL.has(kind);
    const content = contentOf(element);
    const values = { ...DEFAULTS.get(element.name), ...implied(element, schema, isLocal) };
    for (const { uri, local, value } of element.attributes) {
      if (uri === '' && (local === namedBy || local === 'id')) continue;
      // wsdl:arrayType is a qualified name with brackets after it.
      const isReference = uri === WSDL || (uri === '' && REFERENCES.has(local));
      const text = isReference ? this.#references(value, element) : value.trim();
      values[uri === '' ? local : nameText({ namespace: uri, name: local }, '')] =
        isReference || !FLAGS.has(local) ? text : text.replace(/^1$/, 'true').replace(/^0$/, 'false');
    }
    const order = kind === 'sequence' ? content.map((each) => quoted(this.#schemaName(each) || each.name)) : undefined;
    const label = name === '' ? kind : `${kind} ${quoted(name)}`;
    const part = this.#add(within, label, { ...values, 'the order': order }, isNamed);
    for (const child of content) this.#schemaPart(child, schema, part, true);
  }

  #schemaName(element: XmlElement): string {
    const namedBy = NAMED_BY.find((name) => element.attribute(name) !== undefined);
    const text = namedBy === undefined ? '' : (element.attribute(namedBy) ?? '');
    return namedBy === 'ref' ? (this.#reference(text, element) ?? '') : text;
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

  #name(name: { namespace: string; name: string }): string {
    return nameText(name, this.#targetNamespace);
  }
}

const HAVE_USE = new Set(['body', 'header', 'headerfault', 'fault']);

/** The name of a part of a WSDL in messages. The name of its input distinguishes an overloaded operation from the others. */
function labelOf(element: XmlElement): string {
  const kind = element.name === 'portType' ? 'port type' : element.name;
  const [input] = kind === 'operation' ? element.children(WSDL, 'input') : [];
  const inputName = input && input.attribute('name');
  const name = inputName === undefined ? nameOf(element) : `${nameOf(element)} (${inputName})`;
  return name === '' ? kind : `${kind} ${quoted(name)}`;
}

function nameOf(element: XmlElement): string {
  return element.attribute('name') ?? '';
}

/** Attributes whose value is a qualified name, or a list of them. */
const REFERENCES = new Set(['type', 'ref', 'base', 'itemType', 'memberTypes', 'substitutionGroup', 'refer']);
const FLAGS = new Set(['nillable', 'abstract', 'mixed']);

const PARTICLE = { minOccurs: '1', maxOccurs: '1' };
/** The value of an attribute that is missing (XML Schema 1.0). */
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

/** The elements inside one of a schema, without empty groups, which say nothing. */
function contentOf(element: XmlElement): XmlElement[] {
  return element
    .children()
    .filter(
      (child) =>
        child.namespace !== XSD ||
        !(LEFT_OUT.has(child.name) || (CONTAINERS.has(child.name) && contentOf(child).length === 0)),
    );
}

/** The values that follow for an element or attribute from where it stands. */
function implied(element: XmlElement, schema: XmlElement, isLocal: boolean): Record<string, string> {
  const { name } = element;
  if (name !== 'element' && name !== 'attribute') return {};
  const has = (attribute: string): boolean => element.attribute(attribute) !== undefined;
  const hasOwnType = element.children(XSD).some((child) => child.name.endsWith('Type'));
  const standard = name === 'element' ? 'xs:anyType' : 'xs:anySimpleType';
  return {
    ...(has('type') || has('ref') || hasOwnType ? {} : { type: standard }),
    ...(isLocal && name === 'element' ? PARTICLE : {}),
    ...(isLocal && name === 'attribute' ? { use: 'optional' } : {}),
    ...(isLocal && !has('ref') ? { form: schema.attribute(`${name}FormDefault`) ?? 'unqualified' } : {}),
  };
}
