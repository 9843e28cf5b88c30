import { Contract } from '../../src/contract/contract';
import { ContractError } from '../../src/contract/schema';
import { ORIGINAL_OPERATIONS } from '../support/contract';

const run = () => Promise.resolve('');

describe('the contract', () => {
  it('reads from the extended WSDL what the operations take', async () => {
    const contract = await Contract.load('http://tempuri.org/');
    const [recordEvent, getEvents, helloWorld] = contract.operations;
    expect(contract.operations.map(({ name }) => name)).toEqual(expect.arrayContaining(ORIGINAL_OPERATIONS));
    expect(recordEvent).toMatchObject({ parameters: [], takesAnyXml: true });
    const parameters = getEvents?.parameters.map(({ name, type }) => `${name}: ${type}`);
    expect(parameters?.join()).toBe('after: string,limit: int,id: string,sequence: string,wait: string,type: string');
    expect(getEvents?.parameters.some(({ isRequired }) => isRequired)).toBe(false);
    for (const { documentation } of [...contract.operations, ...(getEvents?.parameters ?? [])])
      expect(documentation).not.toBe('');
    expect(helloWorld).toMatchObject({ parameters: [], takesAnyXml: false });
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

  it.each<[string, object]>([
    ['The operation GetEvents is in the WSDL but not in the service object.', { GetEvents: undefined }],
    ['The operation Extra is in the service object but not in the WSDL.', { Extra: { access: 'open', run } }],
  ])('refuses a service object: %s', async (message, changed) => {
    const contract = await Contract.load('http://tempuri.org/');
    const operations = contract.operations.map(({ name }) => [name, { access: 'open', run }] as const);
    const service = Object.entries({ ...Object.fromEntries(operations), ...changed }).filter(
      ([, one]) => one !== undefined,
    );
    expect(() => {
      contract.operationsOf(Object.fromEntries(service));
    }).toThrow(new ContractError(message));
  });
});
