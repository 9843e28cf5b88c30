import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Element } from '@oozcitak/dom/lib/dom/interfaces';
import { create } from 'xmlbuilder2';
import { xmlAttribute } from './xml';

const WSDL_NAMESPACE = 'http://schemas.xmlsoap.org/wsdl/';

/** An operation as the WSDL describes it. */
export interface ContractOperation {
  readonly name: string;
  /** Its `wsdl:documentation`; empty where there is none. */
  readonly documentation: string;
}

/** The service's contract: what `wsdl/WebHooks.wsdl` says, read once. */
export interface Contract {
  /** Namespace of the operations; ends with a slash. */
  readonly namespace: string;
  /** Name of the service. */
  readonly serviceName: string;
  readonly serviceDocumentation: string;
  readonly operations: readonly ContractOperation[];
  /** The name of the operation whose element has this namespace and local name; undefined: there is none. */
  operation(namespace: string, localName: string): string | undefined;
  /** The name of the operation that has this SOAP action; undefined: there is none. */
  action(soapAction: string): string | undefined;
  /** The WSDL document (WSDL 1.1) in which every port has this address. */
  wsdl(address: string): string;
}

/** Thrown at start when the WSDL and the service object do not describe the same operations. */
export class ContractError extends Error {
  override readonly name = 'ContractError';
}

/**
 * Loads the contract for a namespace.
 *
 * @throws {ContractError} the port types of the WSDL do not all have the same operations.
 */
export async function loadContract(namespace: string): Promise<Contract> {
  const template = await readFile(join(__dirname, '..', '..', 'wsdl', 'WebHooks.wsdl'), 'utf8');
  const parts = template.replaceAll('{namespace}', xmlAttribute(namespace)).split('{address}');
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
 * Checks that a service object has the operations of the contract, no more and no fewer.
 *
 * @throws {ContractError} naming the operation that only one of the two has.
 */
export function checkOperations(contract: Contract, service: Readonly<Record<string, unknown>>): void {
  const names = contract.operations.map(({ name }) => name);
  sameOperations(names, 'the WSDL', Object.keys(service), 'the service object');
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
