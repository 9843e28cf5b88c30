import { checkOperations, ContractError, loadContract } from '../../src/asmx/contract';

const operation = () => Promise.resolve('');

describe('the contract', () => {
  it('reads the operations and their documentation from the WSDL', async () => {
    const contract = await loadContract('http://tempuri.org/');
    expect(contract.serviceName).toBe('WebHook');
    expect(contract.operations.map(({ name }) => name)).toEqual(['RecordEvent', 'GetEvents', 'HelloWorld']);
    for (const { documentation } of contract.operations) expect(documentation).not.toBe('');
  });

  it('fills in namespace and address, escaped', async () => {
    const contract = await loadContract('http://example.com/a&b/');
    const wsdl = contract.wsdl('http://host/"<');
    expect(wsdl).toContain('targetNamespace="http://example.com/a&amp;b/"');
    expect(wsdl.match(/location="http:\/\/host\/&quot;&lt;"/g)).toHaveLength(4);
    expect(wsdl).not.toMatch(/\{namespace\}|\{address\}/);
  });

  it('does not start with an operation that only the WSDL has', async () => {
    const contract = await loadContract('http://tempuri.org/');
    expect(() => {
      checkOperations(contract, { RecordEvent: operation, HelloWorld: operation });
    }).toThrow(new ContractError('The operation GetEvents is in the WSDL but not in the service object.'));
  });

  it('does not start with an operation that only the service object has', async () => {
    const contract = await loadContract('http://tempuri.org/');
    expect(() => {
      checkOperations(contract, {
        RecordEvent: operation,
        GetEvents: operation,
        HelloWorld: operation,
        Ping: operation,
      });
    }).toThrow(new ContractError('The operation Ping is in the service object but not in the WSDL.'));
  });
});
