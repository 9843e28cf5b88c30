import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Element } from '@oozcitak/dom/lib/dom/interfaces';
import { create } from 'xmlbuilder2';
import type { Operation, Service } from '../service/call';
import { xmlAttribute } from './xml';

const WSDL_NAMESPACE = 'http://schemas.xmlsoap.org/wsdl/';

/** An operation as the WSDL describes it. */
export interface ContractOperation {
  readonly name: string;
  /** Its `wsdl:documentation`; empty if it has none. */
  readonly documentation: string;
}

/** The service's contract, read from `wsdl/WebHooks.wsdl` at start. */
export interface Contract {
  /** Namespace of the operations; ends with a slash. */
  readonly namespace: string;
  /** The service's name. */
  readonly serviceName: string;
  readonly serviceDocumentation: string;
  readonly operations: readonly ContractOperation[];
  /** Names the operation whose element has this namespace and local name; undefined: no operation's has. */
  operation(namespace: string, localName: string): string | undefined;
  /** Names the operation with this SOAP action; undefined: no operation has it. */
  action(soapAction: string): string | undefined;
  /** Writes the WSDL 1.1 document, with this address for every port. */
  wsdl(address: string): string;
}

/** Thrown at start when WSDL and service object differ. */
export class ContractError extends Error {
  override readonly name = 'ContractError';
}

/**
 * Loads the contract for a namespace.
 *
 * @throws {ContractError} the WSDL has no service, or its port types differ in their operations.
 */
export async function loadContract(namespace: string): Promise<Contract> {
  const template = await readFile(join(__dirname, '..', '..', 'wsdl', 'WebHooks.wsdl'), 'utf8');
  const escapedNamespace = xmlAttribute(namespace);
  // A function, since in a replacement text `$` has a meaning.
  const parts = template.replaceAll('{namespace}', () => escapedNamespace).split('{address}');
  const wsdl = (address: string): string => parts.join(xmlAttribute(address));

  const definitions = create(wsdl(namespace)).root().node as unknown as Element;
  const [service] = elements(definitions, 'service');
  const [soap, ...others] = elements(definitions, 'portType');
  if (service === undefined || soap === undefined) throw new ContractError('The WSDL has no service or no port type.');
  const operations = elements(soap, 'operation').map((operation) => ({
    name: operation.getAttribute('name') ?? '',
    documentation: documentationOf(operation),
  }));
  for (const portType of others) {
    sameOperations(
      operations.map(({ name }) => name),
      `the port type ${soap.getAttribute('name') ?? ''}`,
      elements(portType, 'operation').map((operation) => operation.getAttribute('name') ?? ''),
      `the port type ${portType.getAttribute('name') ?? ''}`,
    );
  }
  const names = new Set(operations.map(({ name }) => name));
  const actions = new Map(operations.map(({ name }) => [namespace + name, name]));
  return {
    operation: (elementNamespace, localName) =>
      elementNamespace === namespace && names.has(localName) ? localName : undefined,
    action: (soapAction) => actions.get(soapAction),
    namespace,
    serviceName: service.getAttribute('name') ?? '',
    serviceDocumentation: documentationOf(service),
    operations,
    wsdl,
  };
}

/**
 * Checks that a service object has exactly the operations of the contract, each with its access.
 *
 * @throws {ContractError} an operation is missing in one of the two, or has no access; the message names it.
 */
export function checkOperations(contract: Contract, service: Service): void {
  const names = contract.operations.map(({ name }) => name);
  sameOperations(names, 'the WSDL', Object.keys(service), 'the service object');
  for (const [name, { access }] of Object.entries(service as Record<string, Partial<Operation>>)) {
    if (access === undefined)
      throw new ContractError(`The operation ${name} of the service object does not say who may call it (access).`);
  }
}

function sameOperations(some: readonly string[], here: string, others: readonly string[], there: string): void {
  const missing = (name: string, from: string, to: string) =>
    new ContractError(`The operation ${name} is in ${from} but not in ${to}.`);
  for (const name of some) if (!others.includes(name)) throw missing(name, here, there);
  for (const name of others) if (!some.includes(name)) throw missing(name, there, here);
}

function elements(parent: Element, name: string): Element[] {
  return [...parent.children].filter((child) => child.localName === name && child.namespaceURI === WSDL_NAMESPACE);
}

function documentationOf(parent: Element): string {
  return elements(parent, 'documentation')[0]?.textContent?.trim() ?? '';
}
