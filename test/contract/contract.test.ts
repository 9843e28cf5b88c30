import { Contract } from '../../src/contract/contract';
import { ContractError } from '../../src/contract/schema';
import { ORIGINAL_OPERATIONS } from '../support/contract';
import { contractWith, OPERATIONS } from '../support/operations-with-parameters';

const run = () => Promise.resolve('');

describe('the contract', () => {
  it('reads from the extended WSDL what the operations take', async () => {
    const contract = await Contract.load('http://tempuri.org/');
    const [recordEvent, getEvents, helloWorld] = contract.operations;
    expect(contract.operations.map(({ name }) => name)).toEqual(expect.arrayContaining(ORIGINAL_OPERATIONS));
    expect(recordEvent).toMatchObject({ parameters: [], takesAnyXml: true });
    const parameters = getEvents?.parameters.map(({ name, type }) => `${name}: ${type.name}`);
    expect(parameters?.join()).toBe('after: string,limit: int,id: string,sequence: string,wait: string,type: string');
    expect(getEvents?.parameters.some(({ isRequired }) => isRequired)).toBe(false);
    for (const { documentation } of [...contract.operations, ...(getEvents?.parameters ?? [])])
      expect(documentation).not.toBe('');
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

  const ADD = /<wsdl:operation name="Add">.*?<\/wsdl:operation>/gs;
  /** Where Add stands after something, which is looked for only there. */
  const addAfter = (start: string) => new RegExp(ADD.source.replace('>', `>(?<=${start}.*)`), 's');
  it.each<[string, string | RegExp, string]>([
    ['.extended', /<s:element [^>]*name="b"[^>]*>/, 'The parameter b of the operation Add is in the WSDL but not'],
    ['.extended', ADD, 'The operation Add is in the WSDL but not in the extended WSDL.'],
    ['', ADD, 'The operation Add is in the extended WSDL but not in the WSDL.'],
    ['', addAfter('<wsdl:portType name="WebHookHttpGet"'), 'but not in the port type WebHookHttpGet.'],
    ['', addAfter('<wsdl:binding name="WebHookSoap12"'), 'but not in the binding WebHookSoap12.'],
    ['.extended', 'message="tns:AddSoapIn"', 'of the extended WSDL, the operation Add has no message for its input.'],
    ['', ' name="AddHttpPostOut"', 'WebHookHttpPost of the WSDL, the operation Add has no message for its output.'],
    ['', ' element="tns:Add"', 'WebHookSoap of the WSDL, the operation Add has no element for its input.'],
    ['', / name="AddResponse"/, 'WebHookSoap of the WSDL, the operation Add has no element for its output.'],
    ['', / name="string"/, 'the operation RecordEvent has no element for its output.'],
    ['', /<wsdl:types>.*<\/wsdl:types>/s, 'is missing in the WSDL.'],
    ['.extended', / type="s:int"/, 'has the type ""'],
  ])('refuses two WSDLs that do not fit: WebHooks%s.wsdl without %s', async (file, part, message) => {
    const without = contractWith(OPERATIONS, (wsdl, name) => {
      if (name !== `WebHooks${file}.wsdl`) return wsdl;
      expect(wsdl).toMatch(part);
      return wsdl.replace(part, '');
    });
    await expect(without).rejects.toThrow(message);
  });

  it.each<[string, object]>([
    ['The operation GetEvents is in the WSDL but not in the service object.', { GetEvents: undefined }],
    ['The operation GetEvents of the service object does not say who may call it (access).', { GetEvents: { run } }],
    ['The operation Extra is in the service object but not in the WSDL.', { Extra: { access: 'open', run } }],
  ])('refuses a service object: %s', async (message, changed) => {
    const contract = await Contract.load('http://tempuri.org/');
    const operations = contract.operations.map(({ name }) => [name, { access: 'open', run }] as const);
    const service = Object.entries({ ...Object.fromEntries(operations), ...changed }).filter(
      ([, one]) => one !== undefined,
    );
    expect(() => {
      contract.check(Object.fromEntries(service));
    }).toThrow(new ContractError(message));
  });
});
