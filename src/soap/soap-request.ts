import { create } from 'xmlbuilder2';
import { builderText } from '../xml/characters';
import type { Contract } from '../contract/contract';
import { SCHEMA_NAMESPACES, SOAP_12, type SoapVersion } from './soap-version';

/** The texts of an operation's arguments, in order, by the name of the parameter. */
export type ArgumentTexts = ReadonlyMap<string, readonly string[]>;

/**
 * Writes an operation's request as the interface document shows it, indented if a person will read it; the arguments in the
 * order of the schema, whatever theirs is. Where the operation takes any XML, those that the schema does not name follow.
 */
export function soapRequest(
  operation: string,
  contract: Contract,
  version: SoapVersion,
  prettyPrint: boolean,
  given: ArgumentTexts = NONE,
): string {
  const prefix = version === SOAP_12 ? 'soap12' : 'soap';
  const element = create({ version: '1.0', encoding: 'utf-8' })
    .ele(version.namespace, `${prefix}:Envelope`)
    .att(SCHEMA_NAMESPACES)
    .ele(`${prefix}:Body`)
    .ele(builderText(contract.namespace), operation);
  const { parameters = [], takesAnyXml = false } = contract.describe(operation) ?? {};
  const names = new Set(parameters.map(({ name }) => name));
  for (const name of takesAnyXml ? new Set([...names, ...given.keys()]) : names) {
    for (const text of given.get(name) ?? []) element.ele(name).txt(builderText(text));
  }
  return element.end({ prettyPrint, spaceBeforeSlash: true });
}

const NONE: ArgumentTexts = new Map();
