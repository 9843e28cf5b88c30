import { Binding } from '../config/values';
import { HTTP_ERRORS, type RequestError } from '../http/errors';
import { shortened } from '../util/text';
import { XmlElement } from '../xml/xml-tree';
import { SCHEMA_NAMESPACE } from './schema';

/** The protocols that are on, as `<protocols>` in a `web.config` lists them: bindings, and the documentation. */
export class Protocols {
  constructor(
    /** Those over which the service can be called; one at least. */
    readonly bindings: ReadonlySet<Binding> = new Set(Binding.all),
    /** Whether the endpoint describes itself, with WSDLs, discovery document and pages. */
    readonly documentation = true,
  ) {}

  get hasSoap(): boolean {
    return this.bindings.has('soap11') || this.bindings.has('soap12');
  }

  /**
   * The refusal of what is off: a message or a document of the endpoint, or a call of an operation over HTTP GET or POST.
   *
   * ASP.NET (`WebServiceHandlerFactory`) asks the protocols that are on, in the order SOAP, HTTP POST, HTTP GET, documentation.
   * The answer is that of the last one: 405 if it would accept the path with another method, 500 if the path is not for it.
   *
   * @param off - says what is off, and which setting turned it off.
   */
  refusal(off: string, allow: string, operation?: string): RequestError {
    const isHttpLast = !this.documentation && (this.bindings.has('httpget') || this.bindings.has('httppost'));
    const isPathAccepted = isHttpLast === (operation !== undefined);
    const hasEnding = !isPathAccepted && operation !== undefined;
    const ending = hasEnding ? ` for URL unexpectedly ending in '/${shortened(operation)}'` : '';
    return HTTP_ERRORS.unrecognizedFormat(isPathAccepted, ending, `${off}.`, allow);
  }
}

const WSDL = 'http://schemas.xmlsoap.org/wsdl/';
const SOAP = `${WSDL}soap/`;
const SOAP12 = `${WSDL}soap12/`;

/**
 * Leaves out of a WSDL the bindings that are off, as ASP.NET does, and everything to which nothing refers then. Without SOAP 1.1, port
 * type and messages of SOAP 1.2 have names of their own. A WSDL with all bindings stays as it is to the byte.
 */
export function wsdlWith(wsdl: string, on: ReadonlySet<Binding>): string {
  if (Binding.all.every((binding) => on.has(binding))) return wsdl;
  const definitions = XmlElement.read(wsdl);
  const leftOut: XmlElement[] = [];
  const keep = (elements: readonly XmlElement[], isKept: (element: XmlElement) => boolean) => {
    leftOut.push(...elements.filter((element) => !isKept(element)));
    return elements.filter(isKept);
  };
  const child = (name: string) => elements(definitions, name);
  const inside = (parents: readonly XmlElement[], name: string, namespace = WSDL) =>
    parents.flatMap((parent) => parent.children(namespace, name));
  const named = (names: readonly string[]) => (element: XmlElement) => names.includes(nameOf(element));

  const bindings = keep(child('binding'), (binding) => on.has(kindOf(binding)));
  const bindingNames = bindings.map(nameOf);
  keep(inside(child('service'), 'port'), (port) => bindingNames.includes(reference(port, 'binding')));
  const portTypes = keep(child('portType'), named(bindings.map((binding) => reference(binding, 'type'))));
  const operations = inside(portTypes, 'operation');
  const used = ['input', 'output'].flatMap((direction) => inside(operations, direction));
  const messages = keep(child('message'), named(used.map((message) => reference(message, 'message'))));
  const schemaElements = inside(inside(child('types'), 'schema', SCHEMA_NAMESPACE), 'element', SCHEMA_NAMESPACE);
  keep(schemaElements, named(inside(messages, 'part').map((part) => reference(part, 'element'))));

  // From the last to the first, so that offsets stay right.
  const kept = leftOut
    .toSorted((one, other) => other.start - one.start)
    .reduce((text, { start, end }) => text.slice(0, start).trimEnd() + text.slice(end), wsdl);
  return on.has('soap11') ? kept : kept.replace(NAME_OF_SOAP_11, '$<before>12');
}

/** Where the names of port type and messages of SOAP 1.1 stand, and the references to them. */
const NAME_OF_SOAP_11 =
  /(?<before>(?:<wsdl:(?:message|portType) name="|<wsdl:binding [^>]*type="tns:|<wsdl:(?:input|output) message="tns:)\w+Soap)(?=(?:In|Out)?")/g;

function kindOf(binding: XmlElement): Binding {
  if (binding.children(SOAP, 'binding').length > 0) return 'soap11';
  if (binding.children(SOAP12, 'binding').length > 0) return 'soap12';
  const [http] = binding.children();
  return http !== undefined && http.attribute('verb') === 'GET' ? 'httpget' : 'httppost';
}

export function elements(parent: XmlElement, name: string): XmlElement[] {
  return parent.children(WSDL, name);
}

export function nameOf(element: XmlElement): string {
  return element.attribute('name') ?? '';
}

/** The name in an attribute that refers to another part of the WSDL, without its prefix. */
export function reference(element: XmlElement, attribute: string): string {
  return element.attribute(attribute)?.replace(/^.*:/, '') ?? '';
}
