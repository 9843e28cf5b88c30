import { create } from 'xmlbuilder2';
import type { Contract } from '../contract';
import { SCHEMA_NAMESPACES, SOAP_12, type SoapVersion } from './soap-version';
import { builderText } from '../xml';

/** Writes an operation's request as the interface document shows it, indented if a person will read it. */
export function soapRequest(operation: string, contract: Contract, version: SoapVersion, prettyPrint: boolean): string {
  const prefix = version === SOAP_12 ? 'soap12' : 'soap';
  return create({ version: '1.0', encoding: 'utf-8' })
    .ele(version.namespace, `${prefix}:Envelope`)
    .att(SCHEMA_NAMESPACES)
    .ele(`${prefix}:Body`)
    .ele(builderText(contract.namespace), operation)
    .end({ prettyPrint, spaceBeforeSlash: true });
}
