import { diffArrays } from 'diff';
import { shortened } from '../../util/text';
import type { XmlElement } from '../../xml/xml-tree';
import { nameText, WSDL, XSD } from './names';

/**
 * Writes what a parser sees of a document, an element a line: the same lines for two documents that differ in prefixes, declarations, the
 * order of attributes, comments or white space between elements only.
 *
 * @param targetNamespace - names in it have the prefix `tns:`.
 */
export function canonicalLines(element: XmlElement, targetNamespace?: string, indent = ''): string[] {
  const nameOf = (namespace: string, name: string) => nameText({ namespace, name }, targetNamespace);
  // A text in the form of a qualified name, with a prefix that is declared, is one.
  const valueOf = (value: string) => {
    const found = /^\s*[^\s:]+:[^\s:/]+\s*$/.test(value) ? element.qualifiedName(value) : undefined;
    return found === undefined ? value.replace(/[\r\n]+/g, ' ') : nameOf(found.namespace, found.name);
  };
  const name = nameOf(element.namespace, element.name);
  const attributes = element.attributes
    .map(({ uri, local, value }) => ` ${nameOf(uri, local)}="${valueOf(value)}"`)
    .sort();
  const open = `${indent}<${name}${attributes.join('')}`;
  if (element.content.length === 0) return [`${open}/>`];
  if (element.children().length === 0) return [`${open}>${valueOf(element.text)}</${name}>`];
  const inside = element.content.flatMap((child) => {
    if (typeof child !== 'string') return canonicalLines(child, targetNamespace, `${indent}  `);
    return child.trim() === '' ? [] : [`${indent}  ${valueOf(child)}`];
  });
  return [`${open}>`, ...inside, `${indent}</${name}>`];
}

/** The lines of a WSDL 1.1 as a generated client sees it: without documentation, addresses, and the order of what has a name. */
export function contractLines(definitions: XmlElement): string[] {
  return canonicalLines(contractPart(definitions), definitions.attribute('targetNamespace') ?? '');
}

const LEFT_OUT = new Set(['documentation', 'annotation', 'address', 'import']);
const UNORDERED: ReadonlyMap<string, string> = new Map([
  ...['definitions', 'portType', 'binding', 'service'].map((name) => [name, WSDL] as const),
  ['schema', XSD],
]);
/** Groups that say nothing if they are empty. */
const GROUPS = new Set(['sequence', 'all']);

function contractPart(element: XmlElement): XmlElement {
  const parts = element
    .children()
    .filter(({ name }) => !LEFT_OUT.has(name))
    .map(contractPart)
    .filter(({ name, namespace, content }) => namespace !== XSD || !GROUPS.has(name) || content.length > 0);
  if (UNORDERED.get(element.name) === element.namespace) {
    const key = (part: XmlElement) => `${part.name} ${part.attribute('name') ?? ''}`;
    parts.sort((one, other) => (key(one) < key(other) ? -1 : Number(key(one) > key(other))));
  }
  return element.withContent(parts);
}

/** How two texts differ. */
export interface Difference {
  /** How many places differ; 0: the texts are the same. */
  readonly places: number;
  /** As `diff` prints them: `-` marks lines of the old text alone, `+` those of the new one. */
  readonly lines: readonly string[];
}

/** Lines around a difference that are shown. */
const CONTEXT = 6;
const MAX_LINES = 200;
const MAX_LINE = 2000;
/** How long the shortest difference is looked for, in milliseconds. */
const TIMEOUT = 2000;

export function differenceOf(old: readonly string[], other: readonly string[]): Difference {
  const changes = diffArrays([...old], [...other], { timeout: TIMEOUT }) ?? [
    { value: [...old], removed: true, added: false },
    { value: [...other], removed: false, added: true },
  ];
  const isChange = (at: number) => changes[at] !== undefined && (changes[at].added || changes[at].removed);
  const places = changes.filter((_change, i) => isChange(i) && !isChange(i - 1)).length;
  if (places === 0) return { places, lines: [] };
  const lines = changes.flatMap(({ value, added, removed }, i) => {
    const mark = added ? '+' : removed ? '-' : ' ';
    const first = i === 0 ? 0 : CONTEXT;
    const last = i === changes.length - 1 ? 0 : CONTEXT;
    const isLong = mark === ' ' && value.length > first + last + 1;
    const shown = isLong ? [...value.slice(0, first), '…', ...value.slice(value.length - last)] : value;
    return shown.map((line) => `  ${mark} ${shortened(line, MAX_LINE)}`.trimEnd());
  });
  const more = lines.length > MAX_LINES ? ['  … and more lines'] : [];
  return { places, lines: ['  --- old', '  +++ new', ...lines.slice(0, MAX_LINES), ...more] };
}
