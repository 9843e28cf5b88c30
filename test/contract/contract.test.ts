import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Contract } from '../../src/contract/contract';
import { ContractError } from '../../src/contract/schema';
import type { Operation, Service } from '../../src/service/call';
import { ORIGINAL_OPERATIONS } from '../support/contract';
import { WSDL_FOLDER } from '../support/operations-with-parameters';
import { temporaryFolder } from '../support/temporary-folder';

const operation = { access: 'open', run: () => Promise.resolve('') } as const;

/** The service's contract, and a service object with its operations. */
async function contractAndService(): Promise<readonly [contract: Contract, service: Service]> {
  const contract = await Contract.load('http://tempuri.org/');
  return [contract, Object.fromEntries(contract.operations.map(({ name }) => [name, operation]))];
}

describe('the contract', () => {
  it('reads the operations and their documentation from the WSDL', async () => {
    const contract = await Contract.load('http://tempuri.org/');
    expect(contract.serviceName).toBe('WebHook');
    expect(contract.operations.map(({ name }) => name)).toEqual(expect.arrayContaining(ORIGINAL_OPERATIONS));
    for (const { documentation } of contract.operations) expect(documentation).not.toBe('');
  });

  it('reads from the extended WSDL what the operations take', async () => {
    const contract = await Contract.load('http://tempuri.org/');
    const [recordEvent, getEvents, helloWorld] = contract.operations;
    expect(recordEvent).toMatchObject({ parameters: [], takesAnyXml: true });
    expect(getEvents?.parameters.map(({ name, type, isRequired }) => [name, type.name, isRequired])).toEqual([
      ['after', 'string', false],
      ['limit', 'int', false],
      ['id', 'string', false],
      ['sequence', 'string', false],
      ['wait', 'string', false],
      ['type', 'string', false],
    ]);
    for (const { documentation } of getEvents?.parameters ?? []) expect(documentation).not.toBe('');
    expect(helloWorld).toMatchObject({ parameters: [], takesAnyXml: false });
    expect(contract.describe('GetEvents')).toBe(getEvents);
    for (const name of ['getevents', 'toString', '']) expect(contract.describe(name)).toBeUndefined();
  });

  it('differs in its two WSDLs only in what RecordEvent and GetEvents take', async () => {
    const contract = await Contract.load('http://tempuri.org/');
    let extended = contract.extendedWsdl('http://host/');
    for (const name of ['RecordEvent', 'GetEvents']) {
      const type = new RegExp(`(?<=<s:element name="${name}">\\s*)<s:complexType>.*?</s:complexType>`, 's');
      expect(extended).toMatch(type);
      extended = extended.replace(type, '<s:complexType />');
    }
    expect(extended).toBe(contract.wsdl('http://host/'));
  });

  it('fills in namespace and address, escaped', async () => {
    const contract = await Contract.load('http://example.com/a&b/');
    const wsdl = contract.wsdl('http://host/"<');
    expect(wsdl).toContain('targetNamespace="http://example.com/a&amp;b/"');
    expect(wsdl.match(/location="http:\/\/host\/&quot;&lt;"/g)).toHaveLength(4);
    expect(wsdl).not.toMatch(/\{namespace\}|\{address\}/);
  });

  it.each(['http://example.com/a$$b/', "http://example.com/$&$'/", 'http://example.com/$1/'])(
    'fills in the namespace %s as it stands',
    async (namespace) => {
      const contract = await Contract.load(namespace);
      const escaped = namespace.replaceAll('&', '&amp;');
      expect(contract.wsdl('http://host/')).toContain(`targetNamespace="${escaped}"`);
      expect(contract.action(`${namespace}HelloWorld`)).toBe('HelloWorld');
    },
  );

  it.each([
    {
      file: 'WebHooks.extended.wsdl',
      part: '<s:element minOccurs="1" maxOccurs="1" name="b" type="s:int" />',
      other: '',
      message: 'The parameter b of the operation Add is in the WSDL but not in the extended WSDL.',
    },
    {
      file: 'WebHooks.extended.wsdl',
      part: /<wsdl:operation name="Add">.*?<\/wsdl:operation>/gs,
      other: '',
      message: 'The operation Add is in the WSDL but not in the extended WSDL.',
    },
    {
      file: 'WebHooks.wsdl',
      part: /<wsdl:operation name="Add">.*?<\/wsdl:operation>/gs,
      other: '',
      message: 'The operation Add is in the extended WSDL but not in the WSDL.',
    },
    {
      file: 'WebHooks.wsdl',
      part: /<wsdl:operation name="Add">\s*<wsdl:input message="tns:AddHttpGetIn".*?<\/wsdl:operation>/s,
      other: '',
      message: 'The operation Add is in the port type WebHookSoap but not in the port type WebHookHttpGet.',
    },
    { file: 'WebHooks.wsdl', part: /<wsdl:types>.*<\/wsdl:types>/s, other: '', message: 'is missing in the WSDL.' },
    {
      file: 'WebHooks.extended.wsdl',
      part: 'name="a" type="s:int"',
      other: 'name="a" type="s:float"',
      message: 'has the type s:float',
    },
  ])('refuses two WSDLs that do not fit: $file without $part', async ({ file, part, other, message }) => {
    const folder = await temporaryFolder();
    for (const name of ['WebHooks.wsdl', 'WebHooks.extended.wsdl']) {
      const text = await readFile(join(WSDL_FOLDER, name), 'utf8');
      const changed = name === file ? text.replace(part, other) : text;
      expect(changed === text).toBe(name !== file);
      await writeFile(join(folder.path, name), changed);
    }
    await expect(Contract.load('http://tempuri.org/', undefined, folder.path)).rejects.toThrow(message);
    await folder.remove();
  });

  it('refuses an operation that only the WSDL has', async () => {
    const [contract, service] = await contractAndService();
    const others = Object.entries(service).filter(([name]) => name !== 'GetEvents');
    expect(() => {
      contract.check(Object.fromEntries(others));
    }).toThrow(new ContractError('The operation GetEvents is in the WSDL but not in the service object.'));
  });

  it('refuses an operation that does not say who may call it', async () => {
    const [contract, service] = await contractAndService();
    const open = { run: operation.run } as unknown as Operation;
    expect(() => {
      contract.check({ ...service, GetEvents: open });
    }).toThrow(
      new ContractError('The operation GetEvents of the service object does not say who may call it (access).'),
    );
  });

  it('refuses an operation that only the service object has', async () => {
    const [contract, service] = await contractAndService();
    expect(() => {
      contract.check({ ...service, Ping: operation });
    }).toThrow(new ContractError('The operation Ping is in the service object but not in the WSDL.'));
  });
});
