import { structuredPatch } from 'diff';
import { SoapVersion } from '../../soap/soap-version';
import { shortened } from '../../util/text';
import type { ElementName } from '../../xml/handler';
import type { XmlElement } from '../../xml/xml-tree';

/** Namespaces of WSDL 1.1 and its bindings. */
export const WSDL = 'http://schemas.xmlsoap.org/wsdl/';
export const SOAP = 'http://schemas.xmlsoap.org/wsdl/soap/';
export const SOAP12 = 'http://schemas.xmlsoap.org/wsdl/soap12/';
export const HTTP = 'http://schemas.xmlsoap.org/wsdl/http/';
const XSD = 'http://www.w3.org/2001/XMLSchema';

const PREFIXES: ReadonlyMap<string, string> = new Map([
  ['', ''],
  [WSDL, 'wsdl:'],
  [SOAP, 'soap:'],
  [SOAP12, 'soap12:'],
  [HTTP, 'http:'],
  ['http://schemas.xmlsoap.org/wsdl/mime/', 'mime:'],
  [XSD, 'xs:'],
  [SoapVersion.soap11.namespace, 'soap:'],
  [SoapVersion.soap12.namespace, 'soap12:'],
]);

/**
 * Writes what a parser sees of a document, an element a line: the same lines for two documents that differ in prefixes, declarations, the
 * order of attributes, comments or white space between elements only.
 *
 * @param targetNamespace - names in it have the prefix `tns:`.
 */
export function canonicalLines(element: XmlElement, targetNamespace = '', indent = ''): string[] {
  const nameOf = ({ namespace, name }: ElementName) => {
    const prefix = namespace !== '' && namespace === targetNamespace ? 'tns:' : PREFIXES.get(namespace);
    return `${prefix ?? `{${namespace}}`}${name}`;
  };
  // A text in the form of a qualified name, with a prefix that is declared, is one.
  const valueOf = (value: string) => {
    const found = /^\s*[^\s:]+:[^\s:/]+\s*$/.test(value) ? element.qualifiedName(value) : undefined;
    return found === undefined ? value.replace(/[\r\n]+/g, ' ') : nameOf(found);
  };
  const name = nameOf(element);
  const attributes = element.attributes
    .map(({ uri, local, value }) => ` ${nameOf({ namespace: uri, name: local })}="${valueOf(value)}"`)
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
  return canonicalLines(contractPart(definitions), definitions.attribute('targetNamespace'));
}

const LEFT_OUT = new Set(['documentation', 'annotation', 'address', 'import']);
const UNORDERED = new Set([
  ...['definitions', 'portType', 'binding', 'service'].map((name) => WSDL + name),
  `${XSD}schema`,
]);
/** Groups that say nothing if they are empty. */
const GROUPS = new Set([`${XSD}sequence`, `${XSD}all`]);

function contractPart(element: XmlElement): XmlElement {
  const parts = element
    .children()
    .filter(({ name }) => !LEFT_OUT.has(name))
    .map(contractPart)
    .filter(({ name, namespace, content }) => content.length > 0 || !GROUPS.has(namespace + name));
  if (UNORDERED.has(element.namespace + element.name)) {
    const key = (part: XmlElement) => `${part.name} ${part.attribute('name') ?? ''}`;
    parts.sort((one, other) => (key(one) < key(other) ? -1 : Number(key(one) > key(other))));
  }
  return element.withContent(parts);
}

const CONTEXT = 6;
const MAX_LINES = 200;
const MAX_LINE = 2000;
/** How long the shortest difference is looked for, in milliseconds. */
const TIMEOUT = 2000;

/** Returns the number of places that differ, and lines as `diff` prints them: `-` marks those of the old text alone, `+` those of the new one. */
export function differenceOf(old: readonly string[], other: readonly string[]) {
  const [before, after] = [old, other].map((lines) => lines.map((line) => `${line}\n`).join(''));
  const patch = structuredPatch('', '', before ?? '', after ?? '', '', '', { context: CONTEXT, timeout: TIMEOUT });
  const hunks = patch?.hunks ?? [{ lines: [...old.map((line) => `-${line}`), ...other.map((line) => `+${line}`)] }];
  const all = hunks.flatMap((hunk, i) => (i === 0 ? hunk.lines : [' …', ...hunk.lines]));
  const isChange = (line: string | undefined) => line?.[0] === '-' || line?.[0] === '+';
  const places = all.filter((line, i) => isChange(line) && !isChange(all[i - 1])).length;
  if (places === 0) return { places, lines: [] };
  const lines = all
    .slice(0, MAX_LINES)
    .map((line) => shortened(`  ${line[0] ?? ''} ${line.slice(1)}`, MAX_LINE).trimEnd());
  const more = all.length > MAX_LINES ? ['  … and more lines'] : [];
  return { places, lines: ['  --- old', '  +++ new', ...lines, ...more] };
}
