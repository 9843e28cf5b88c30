import type { Element } from '@oozcitak/dom/lib/dom/interfaces';
import { create } from 'xmlbuilder2';
import { childElements } from '../xml/xml-builder';
import type { Binding } from '../service/call';
import { BINDINGS } from './offer';

const WSDL = 'http://schemas.xmlsoap.org/wsdl/';
const SOAP = `${WSDL}soap/`;
const SOAP12 = `${WSDL}soap12/`;
const XSD = 'http://www.w3.org/2001/XMLSchema';

/**
 * Leaves out of a WSDL what is only there for bindings that are not offered, as ASP.NET does: the bindings and their ports, and
 * the port types, messages and schema elements to which nothing refers then. One other thing changes, as in ASP.NET: without
 * SOAP 1.1, port type and messages of SOAP 1.2 have names of their own. A WSDL with all bindings stays as it is to the byte.
 *
 * @param wsdl - of one service, with one schema.
 */
export function offeredWsdl(wsdl: string, offered: ReadonlySet<Binding>): string {
  if (BINDINGS.every((binding) => offered.has(binding))) return wsdl;
  const document = create(wsdl);
  const definitions = document.root().node as unknown as Element;
  const child = (name: string) => childElements(definitions, WSDL, name);
  const inside = (parents: readonly Element[], name: string) =>
    parents.flatMap((parent) => childElements(parent, WSDL, name));
  const named = (names: readonly string[]) => (element: Element) => names.includes(element.getAttribute('name') ?? '');

  const bindings = keep(child('binding'), (binding) => offered.has(kindOf(binding)));
  keep(inside(child('service'), 'port'), (port) => bindings.some(named([reference(port, 'binding')])));
  const portTypes = keep(child('portType'), named(bindings.map((binding) => reference(binding, 'type'))));
  const operations = inside(portTypes, 'operation');
  const used = ['input', 'output'].flatMap((direction) => inside(operations, direction));
  const messages = keep(child('message'), named(used.map((message) => reference(message, 'message'))));
  const schemas = child('types').flatMap((types) => childElements(types, XSD, 'schema'));
  const schemaElements = schemas.flatMap((schema) => childElements(schema, XSD, 'element'));
  keep(schemaElements, named(inside(messages, 'part').map((part) => reference(part, 'element'))));

  const kept = `${document.end({ prettyPrint: true, spaceBeforeSlash: true })}\n`;
  return offered.has('soap11') ? kept : kept.replace(NAME_OF_SOAP_11, '$<before>12');
}

/** Removes the other elements from the document. */
function keep(elements: readonly Element[], isKept: (element: Element) => boolean): Element[] {
  for (const element of elements) if (!isKept(element)) element.parentNode?.removeChild(element);
  return elements.filter(isKept);
}

/** Where the names of port type and messages of SOAP 1.1 stand, and the references to them. */
const NAME_OF_SOAP_11 =
  /(?<before>(?:<wsdl:(?:message|portType) name="|<wsdl:binding [^>]*type="tns:|<wsdl:(?:input|output) message="tns:)\w+Soap)(?=(?:In|Out)?")/g;

function kindOf(binding: Element): Binding {
  if (childElements(binding, SOAP, 'binding').length > 0) return 'soap11';
  if (childElements(binding, SOAP12, 'binding').length > 0) return 'soap12';
  return binding.firstElementChild?.getAttribute('verb') === 'GET' ? 'httpget' : 'httppost';
}

/** The local part of a qualified name. */
function reference(element: Element, attribute: string): string {
  return element.getAttribute(attribute)?.replace(/^.*:/, '') ?? '';
}
