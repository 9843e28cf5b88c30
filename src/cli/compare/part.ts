import { operationAction } from '../../contract/contract';
import { qualifiedName, type XmlElement } from '../../xml/xml-tree';
import { quoted } from '../terminal';

/** A part of a contract that a generated client depends on, such as an operation, with the parts inside it. */
export interface Part {
  /** What it is, as messages call it: `operation`. */
  readonly kind: string;
  /** Tells it from others of its kind in the same part; empty: it needs no name. */
  readonly name: string;
  /** What is said about it, by the words for it: `SOAPAction`. */
  readonly facts: ReadonlyMap<string, string>;
  readonly parts: readonly Part[];
  /** Whether the order of the parts inside it counts. */
  readonly isOrdered: boolean;
  /** Whether messages about the parts inside it leave it out. */
  readonly isStructural: boolean;
}

/** Makes a part; facts that are undefined are left out. */
export function part(
  kind: string,
  name: string,
  facts: Readonly<Record<string, string | undefined>>,
  parts: readonly Part[] = [],
  { isOrdered = false, isStructural = false } = {},
): Part {
  const given = Object.entries(facts).filter((fact): fact is [string, string] => fact[1] !== undefined);
  return { kind, name, facts: new Map(given), parts, isOrdered, isStructural };
}

/** The target namespaces of two contracts. */
export interface Namespaces {
  readonly old: string;
  readonly new: string;
}

/**
 * Describes each difference of two parts, and of the parts inside them, in a sentence. Texts that begin with the namespace of their
 * own contract, or that of its SOAPActions, are compared without it: the namespaces themselves are compared once.
 */
export function differencesOf(old: Part, other: Part, namespaces: Namespaces, path: readonly Part[] = []): string[] {
  const here = [...path, old];
  const differences: string[] = [];
  for (const fact of new Set([...old.facts.keys(), ...other.facts.keys()])) {
    const before = old.facts.get(fact);
    const after = other.facts.get(fact);
    if (relative(before, namespaces.old) === relative(after, namespaces.new)) continue;
    const texts = `${shown(before)} in the old service, ${shown(after)} in the new one.`;
    differences.push(`${placeOf(here)}: ${fact} is ${texts}`);
  }
  const before = keyed(old.parts);
  const after = keyed(other.parts);
  for (const [key, inOld] of before) {
    const inNew = after.get(key);
    if (inNew === undefined) differences.push(`${placeOf([...here, inOld])} is only in the old service.`);
    else differences.push(...differencesOf(inOld, inNew, namespaces, here));
  }
  for (const [key, inNew] of after)
    if (!before.has(key)) differences.push(`${placeOf([...here, inNew])} is only in the new service.`);
  if (old.isOrdered) differences.push(...orderDifference(before, after, placeOf(here)));
  return differences;
}

function orderDifference(before: ReadonlyMap<string, Part>, after: ReadonlyMap<string, Part>, place: string): string[] {
  const orders = [before, after].map((parts) => [...parts.keys()].filter((key) => before.has(key) && after.has(key)));
  const [old = '', other = ''] = orders.map((keys) =>
    keys.map((key) => quoted(before.get(key)?.name ?? key)).join(', '),
  );
  if (old === other) return [];
  return [`${place}: the order is ${old} in the old service, ${other} in the new one.`];
}

/** The parts by kind and name, and by a number where several have both in common. */
function keyed(parts: readonly Part[]): Map<string, Part> {
  const found = new Map<string, Part>();
  const counts = new Map<string, number>();
  for (const each of parts) {
    const key = JSON.stringify([each.kind, each.name]);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    found.set(`${key} ${String(count)}`, each);
  }
  return found;
}

/** Puts a mark in place of the namespace, or the beginning of its SOAPActions, that a text begins with. */
function relative(text: string | undefined, namespace: string): string | undefined {
  if (text === undefined || namespace === '') return text;
  if (text === namespace) return '\0';
  const actions = operationAction(namespace, '');
  if (text.startsWith(actions)) return `\0/${text.slice(actions.length)}`;
  return text.startsWith(namespace) ? `\0${text.slice(namespace.length)}` : text;
}

function shown(text: string | undefined): string {
  if (text === undefined) return 'not there';
  return text === '' ? 'empty' : quoted(text);
}

function placeOf(path: readonly Part[]): string {
  const last = path.length - 1;
  const place = path
    .filter(({ isStructural }, i) => i === last || !isStructural)
    .map(({ kind, name }) => (name === '' ? kind : `${kind} ${quoted(name)}`))
    .join(', ');
  return place.charAt(0).toUpperCase() + place.slice(1);
}

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
  const name = text === undefined ? undefined : qualifiedName(text, element);
  return name === undefined ? text : nameText(name, targetNamespace);
}
