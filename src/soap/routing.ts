import type { Contract } from '../contract/contract';
import type { Envelope } from './envelope-builder';
import { FAULTS } from './fault';
import { SOAP_12, type SoapVersion } from './soap-version';

/**
 * Finds the operation as ASP.NET does. SOAP 1.1: by `SOAPAction` alone if the request has one, otherwise by the body's element.
 * SOAP 1.2: by the `action` parameter of the content type, then by the body's element.
 *
 * @throws {Fault} they name no operation of the contract.
 */
export function operationOf(
  { version, element }: Envelope,
  contract: Contract,
  soapAction: string | string[] | undefined,
  action: string | undefined,
): string {
  const byElement = element && contract.operation(element.namespace, element.name);
  if (version === SOAP_12) {
    const operation = (action === undefined ? undefined : contract.action(action)) ?? byElement;
    if (operation !== undefined) return operation;
    throw action === undefined ? FAULTS.missingAction() : FAULTS.unknownAction(action);
  }
  if (soapAction === undefined) {
    if (byElement !== undefined) return byElement;
    throw FAULTS.missingAction();
  }
  const given = soapActionValue(String(soapAction));
  const operation = contract.action(given);
  if (operation !== undefined) return operation;
  throw FAULTS.unknownSoapAction(given);
}

/**
 * Finds the operation that the header fields of a request name, before its message has been read. Undefined: they name none,
 * or one that the contract does not have.
 */
export function operationOfHeader(
  version: SoapVersion,
  contract: Contract,
  soapAction: string | string[] | undefined,
  action: string | undefined,
): string | undefined {
  if (version === SOAP_12) return action === undefined ? undefined : contract.action(action);
  return soapAction === undefined ? undefined : contract.action(soapActionValue(String(soapAction)));
}

function soapActionValue(header: string): string {
  const text = header.trim();
  const value = text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1).trim() : text;
  if (!value.includes('%')) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
