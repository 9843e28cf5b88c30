import { Contract } from '../../src/contract/contract';
import { NAMESPACE } from './bindings';

/** The operations of the service that this one replaces. */
export const ORIGINAL_OPERATIONS = ['RecordEvent', 'GetEvents', 'HelloWorld'];

/** Removes from a WSDL of this service the operations that the replaced one does not have. */
export async function withoutAddedOperations(wsdl: string): Promise<string> {
  const { operations } = await Contract.load(NAMESPACE);
  const added = operations.map(({ name }) => name).filter((name) => !ORIGINAL_OPERATIONS.includes(name));
  if (added.length === 0) return wsdl;
  const names = `(?:${added.join('|')})(?:Response|(?:Soap|HttpGet|HttpPost)(?:In|Out))?`;
  return wsdl.replace(new RegExp(`(\\n *)<(\\S+) name="${names}"[^>]*?(?:/>|>.*?\\1</\\2>)`, 'gs'), '');
}
