import { checkOperations, ContractError, loadContract } from '../../src/asmx/contract';
import type { Operation } from '../../src/service/call';

const operation = { access: 'open', run: () => Promise.resolve('') } as const;

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

  it.each(['http://example.com/a$$b/', "http://example.com/$&$'/", 'http://example.com/$1/'])(
    'fills in the namespace %s as it stands',
    async (namespace) => {
      const contract = await loadContract(namespace);
      const escaped = namespace.replaceAll('&', '&amp;');
      expect(contract.wsdl('http://host/')).toContain(`targetNamespace="${escaped}"`);
      expect(contract.action(`${namespace}HelloWorld`)).toBe('HelloWorld');
    },
  );

  it('refuses an operation that only the WSDL has', async () => {
    const contract = await loadContract('http://tempuri.org/');
    expect(() => {
      checkOperations(contract, { RecordEvent: operation, HelloWorld: operation });
    }).toThrow(new ContractError('The operation GetEvents is in the WSDL but not in the service object.'));
  });

  it('refuses an operation that does not say who may call it', async () => {
    const contract = await loadContract('http://tempuri.org/');
    const open = { run: operation.run } as unknown as Operation;
    expect(() => {
      checkOperations(contract, { RecordEvent: operation, GetEvents: open, HelloWorld: operation });
    }).toThrow(
      new ContractError('The operation GetEvents of the service object does not say who may call it (access).'),
    );
  });

  it('refuses an operation that only the service object has', async () => {
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
