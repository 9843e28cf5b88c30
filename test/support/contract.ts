import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Contract } from '../../src/contract/contract';
import { NAMESPACE } from './bindings';
import { temporaryFolder } from './temporary-folder';

const WSDLS = join(__dirname, '..', '..', 'wsdl');

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

/** The service's contract, but for HelloWorld, which takes what the schema elements in this text say. */
export async function contractWhereHelloWorldTakes(sequence: string): Promise<Contract> {
  const folder = await temporaryFolder();
  try {
    const extended = await readFile(join(WSDLS, 'WebHooks.extended.wsdl'), 'utf8');
    const changed = extended.replace(
      /(<s:element name="HelloWorld">\s*)<s:complexType \/>(\s*<\/s:element>)/,
      `$1<s:complexType><s:sequence>${sequence}</s:sequence></s:complexType>$2`,
    );
    if (changed === extended) throw new Error('the WSDL has no HelloWorld without parameters');
    await writeFile(join(folder.path, 'WebHooks.extended.wsdl'), changed);
    await writeFile(join(folder.path, 'WebHooks.wsdl'), await readFile(join(WSDLS, 'WebHooks.wsdl')));
    return await Contract.load(NAMESPACE, undefined, folder.path);
  } finally {
    await folder.remove();
  }
}
