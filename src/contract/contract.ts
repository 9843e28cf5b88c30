import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/config';
import type { Service } from '../service/call';
import { elements, nameOf, Protocols, wsdlWith } from './protocols';
import { ContractError, OperationInput } from './schema';
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
  /** The names of the operations, by their SOAP actions. */
  readonly operationByAction: ReadonlyMap<string, string>;

  private constructor(
    wsdl: string,
    extendedWsdl: string,
    given: string | undefined,
    /** Those that are on. */
    readonly protocols: Protocols,
  ) {
    const namespace = given ?? DEFAULT_NAMESPACE;
    // The extended WSDL says everything that the other says, and what the operations take.
    const definitions = XmlElement.read(wsdlWriter(extendedWsdl, namespace)(namespace));
    const [service] = elements(definitions, 'service');
    const [schema] = elements(definitions, 'types').flatMap((types) => types.children());
    // The first is that of the SOAP bindings.
    const [portType] = elements(definitions, 'portType');
    if (service === undefined || schema === undefined || portType === undefined)
      throw new ContractError('The service, the schema or the port type is missing in the extended WSDL.');
    this.operations = elements(portType, 'operation').map((operation) => {
      const name = nameOf(operation);
      const texts = { name, action: Contract.actionOf(namespace, name), documentation: documentationOf(operation) };
      return Object.assign(OperationInput.read(schema, name), texts);
    });
    this.operationByAction = new Map(this.operations.map(({ name, action }) => [action, name]));
    this.namespace = namespace;
    this.hasOwnNamespace = given !== undefined;
    this.serviceName = nameOf(service);
    this.serviceDocumentation = documentationOf(service);
    this.wsdl = wsdlWriter(wsdlWith(wsdl, protocols.bindings), namespace);
    this.extendedWsdl = wsdlWriter(wsdlWith(extendedWsdl, protocols.bindings), namespace);
  }

  /**
   * Loads the contract for a namespace, by default the placeholder of development tools, with the protocols that are on.
   *
   * @throws {ContractError} the extended WSDL lacks something, or describes parameters that the service cannot read.
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

  /** The most bytes that a reply over any binding has in addition to its result's text. */
  get maxBytesAroundResult(): number {
    return ENVELOPE_BYTES + Buffer.byteLength(xmlAttribute(this.namespace));
  }

  /**
   * Joins the operations with those of a service object, by name.
   *
   * @throws {ContractError} the two do not have the same operations.
   */
  operationsOf(service: Service): ReadonlyMap<string, ServedOperation> {
    const operations = new Map(
      this.operations.map(
        (described) => [described.name, servedOperation(described, service[described.name])] as const,
      ),
    );
    const extra = Object.keys(service).find((name) => !operations.has(name));
    if (extra === undefined) return operations;
    throw new ContractError(`The operation ${extra} is in the service object but not in the WSDL.`);
  }
}

/** An operation that can be called: described by the WSDLs, run by the service object. */
export type ServedOperation = ReturnType<typeof servedOperation>;

function servedOperation(described: ContractOperation, operation: Service[string] | undefined) {
  if (operation === undefined)
    throw new ContractError(`The operation ${described.name} is in the WSDL but not in the service object.`);
  const { refuses = [] } = operation;
  return {
    ...described,
    ...operation,
    /** The names that are read from a call: the parameters, and those that must not be given. */
    asked: [...described.parameters, ...refuses.map((name) => ({ name, isRequired: false }))],
    values: (given: (name: string) => readonly string[]) => described.values(given, refuses),
  };
}

const WSDL_FOLDER = join(__dirname, '..', '..', 'wsdl');

function wsdlWriter(template: string, namespace: string): (address: string) => string {
  // Functions, since in a replacement text `$` has a meaning.
  const named = template
    .replaceAll('{namespace}', () => xmlAttribute(namespace))
    .replaceAll(/\{action ([^}]+)\}/g, (_placeholder, name: string) =>
      xmlAttribute(Contract.actionOf(namespace, name)),
    );
  const parts = named.split('{address}');
  return (address) => parts.join(xmlAttribute(address));
}

function documentationOf(parent: XmlElement): string {
  return elements(parent, 'documentation')[0]?.text.trim() ?? '';
}
