import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/config';
import type { Service } from '../service/call';
import { elements, nameOf, namesOf, Protocols, reference, wsdlWith } from './protocols';
import { ContractError, OperationInput, SCHEMA_NAMESPACE } from './schema';
import { xmlAttribute } from '../xml/characters';
import { XmlElement } from '../xml/xml-tree';

/** An operation as the WSDLs describe it; the documentation is empty if it has none. */
type ContractOperation = OperationInput & Readonly<Record<'name' | 'action' | 'documentation', string>>;

const DEFAULT_NAMESPACE = 'http://tempuri.org/';

/** The most bytes that surround a result in any binding, besides the namespace, which occurs once. */
const ENVELOPE_BYTES = 512;

/**
 * The service's contract, read at start from two WSDLs: `WebHooks.wsdl` is that of the service which this one replaces, and
 * `WebHooks.extended.wsdl` differs from it only in what the operations take.
 */
export class Contract {
  /** Namespace of the operations; often a URI, but ASP.NET takes other texts too. */
  readonly namespace: string;
  readonly hasOwnNamespace: boolean;
  readonly serviceName: string;
  readonly serviceDocumentation: string;
  readonly operations: readonly ContractOperation[];
  /** Writes the WSDL of the bindings that are on, with this address for every port. */
  readonly wsdl: (address: string) => string;
  readonly extendedWsdl: (address: string) => string;
  readonly #byName: ReadonlyMap<string, ContractOperation>;
  readonly #byAction: ReadonlyMap<string, string>;

  private constructor(
    wsdl: string,
    extendedWsdl: string,
    given: string | undefined,
    /** Those that are on. */
    readonly protocols: Protocols,
  ) {
    const namespace = given ?? DEFAULT_NAMESPACE;
    const whole = (text: string) => wsdlWriter(text, namespace, protocols)(namespace);
    const original = definitionsOf(whole(wsdl), 'the WSDL');
    // The extended WSDL says everything that the other says, and what the operations take.
    const { service, schema, portType } = definitionsOf(whole(extendedWsdl), 'the extended WSDL');
    sameOperations(namesIn(original.portType), 'the WSDL', namesIn(portType), 'the extended WSDL');
    this.operations = elements(portType, 'operation').map((operation) => {
      const name = nameOf(operation);
      const input = OperationInput.read(schema, name);
      const lost = OperationInput.read(original.schema, name).parameters.find(
        (parameter) => !input.parameters.some((known) => known.name === parameter.name),
      );
      if (lost !== undefined)
        throw new ContractError(
          `The parameter ${lost.name} of the operation ${name} is in the WSDL but not in the extended WSDL.`,
        );
      const action = Contract.actionOf(namespace, name);
      return Object.assign(input, { name, action, documentation: documentationOf(operation) });
    });
    this.#byName = new Map(this.operations.map((operation) => [operation.name, operation]));
    this.#byAction = new Map(this.operations.map(({ name, action }) => [action, name]));
    this.namespace = namespace;
    this.hasOwnNamespace = given !== undefined;
    this.serviceName = nameOf(service);
    this.serviceDocumentation = documentationOf(service);
    this.wsdl = wsdlWriter(wsdlWith(wsdl, protocols.bindings), namespace, protocols);
    this.extendedWsdl = wsdlWriter(wsdlWith(extendedWsdl, protocols.bindings), namespace, protocols);
  }

  /**
   * Loads the contract for a namespace, by default the placeholder of development tools, with the protocols that are on.
   *
   * @throws {ContractError} a WSDL lacks something, the two differ in their operations, or the schema describes parameters that the
   *   service cannot read.
   */
  static async load(
    namespace: string | undefined,
    { protocols, documentation }: Partial<Pick<Config, 'protocols' | 'documentation'>> = {},
    folder = WSDL_FOLDER,
  ): Promise<Contract> {
    const wsdl = await readFile(join(folder, 'WebHooks.wsdl'), 'utf8');
    const extendedWsdl = await readFile(join(folder, 'WebHooks.extended.wsdl'), 'utf8');
    return new Contract(wsdl, extendedWsdl, namespace, new Protocols(protocols, documentation));
  }

  /** The SOAP action of an operation, which ASP.NET makes from the namespace: with one slash between them. */
  static actionOf(namespace: string, operation: string): string {
    return namespace + (namespace.endsWith('/') ? '' : '/') + operation;
  }

  action(soapAction: string): string | undefined {
    return this.#byAction.get(soapAction);
  }

  describe(operation: string): ContractOperation | undefined {
    return this.#byName.get(operation);
  }

  /** The most bytes that a reply over any binding has in addition to its result's text. */
  get maxBytesAroundResult(): number {
    return ENVELOPE_BYTES + Buffer.byteLength(xmlAttribute(this.namespace));
  }

  /** @throws {ContractError} a service object does not have exactly the operations of the contract, each with its access. */
  check(service: Service): void {
    const names = this.operations.map(({ name }) => name);
    sameOperations(names, 'the WSDL', Object.keys(service), 'the service object');
    const open = Object.entries<Partial<Service[string]>>(service).find(([, { access }]) => access === undefined);
    if (open !== undefined)
      throw new ContractError(`The operation ${open[0]} of the service object does not say who may call it (access).`);
  }
}

const WSDL_FOLDER = join(__dirname, '..', '..', 'wsdl');

function wsdlWriter(template: string, namespace: string, { bindings }: Protocols): (address: string) => string {
  // Functions, since in a replacement text `$` has a meaning.
  const named = template
    .replaceAll('{namespace}', () => xmlAttribute(namespace))
    .replaceAll(/\{action ([^}]+)\}/g, (_placeholder, name: string) => xmlAttribute(Contract.actionOf(namespace, name)))
    .replaceAll('{bindings}', namesOf(bindings));
  const parts = named.split('{address}');
  return (address) => parts.join(xmlAttribute(address));
}

function sameOperations(some: readonly string[], here: string, others: readonly string[], there: string): void {
  const missing = (name: string, from: string, to: string) =>
    new ContractError(`The operation ${name} is in ${from} but not in ${to}.`);
  for (const name of some) if (!others.includes(name)) throw missing(name, here, there);
  for (const name of others) if (!some.includes(name)) throw missing(name, there, here);
}

/** The parts of a WSDL that say what the service is; the port type is that of the SOAP bindings. */
function definitionsOf(xml: string, document: string) {
  const definitions = XmlElement.read(xml);
  const [service] = elements(definitions, 'service');
  const [schema] = elements(definitions, 'types').flatMap((types) => types.children());
  const [portType, ...others] = elements(definitions, 'portType');
  if (service === undefined || schema === undefined || portType === undefined)
    throw new ContractError(`The service, the schema or the port type is missing in ${document}.`);
  const names = namesIn(portType);
  const where = `the port type ${nameOf(portType)}`;
  for (const other of others) sameOperations(names, where, namesIn(other), `the port type ${nameOf(other)}`);
  for (const binding of elements(definitions, 'binding'))
    sameOperations(names, where, namesIn(binding), `the binding ${nameOf(binding)}`);
  checkMessages(definitions, schema, [portType, ...others], document);
  return { service, schema, portType };
}

/** @throws {ContractError} an operation lacks a message, or an element of the schema; what HTTP GET and POST take needs none. */
function checkMessages(
  definitions: XmlElement,
  schema: XmlElement,
  portTypes: readonly XmlElement[],
  document: string,
) {
  const messages = elements(definitions, 'message');
  const known = schema.children(SCHEMA_NAMESPACE, 'element').map(nameOf);
  for (const portType of portTypes)
    for (const operation of elements(portType, 'operation'))
      for (const direction of ['input', 'output']) {
        const [end] = elements(operation, direction);
        const message = end && messages.find((one) => nameOf(one) === reference(end, 'message'));
        const isHttpInput = direction === 'input' && portType !== portTypes[0];
        const names = message && elements(message, 'part').map((part) => reference(part, 'element'));
        if (names !== undefined && (isHttpInput || names.some((name) => known.includes(name)))) continue;
        const missing = `the operation ${nameOf(operation)} has no ${message ? 'element' : 'message'} for its ${direction}`;
        throw new ContractError(`In the port type ${nameOf(portType)} of ${document}, ${missing}.`);
      }
}

function namesIn(portType: XmlElement): string[] {
  return elements(portType, 'operation').map(nameOf);
}

function documentationOf(parent: XmlElement): string {
  return elements(parent, 'documentation')[0]?.text.trim() ?? '';
}
