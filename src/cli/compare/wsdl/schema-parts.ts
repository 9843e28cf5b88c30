import { attributeOf, childrenOf, type XmlElement } from '../../../xml/xml-tree';
import { nameText, referenceText, WSDL, XSD } from './namespaces';
import { part, type Part } from './part';

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

/** What has no name of its own is told from others by this. */
const NAMED_BY = ['name', 'ref', 'value', 'xpath'];
const CONTAINERS = new Set(['sequence', 'all']);
const STRUCTURAL = new Set(['complexType', 'simpleType', 'sequence', 'complexContent', 'simpleContent']);
/** Documentation, and imports of schemas that stand in the same WSDL. */
const LEFT_OUT = new Set(['annotation', 'import']);

/** The schemas of a contract, one part for each namespace, without documentation. */
export function schemaParts(types: readonly XmlElement[], targetNamespace: string): Part[] {
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
    const facts: Record<string, string | undefined> = { ...DEFAULTS.get(element.name), ...this.#implied(element, isLocal) };
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
      ...(isLocal && !has('ref')
        ? { form: attributeOf(this.#schema, `${name}FormDefault`) ?? 'unqualified' }
        : {}),
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
