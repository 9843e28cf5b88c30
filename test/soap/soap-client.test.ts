import { createClientAsync, type Client } from 'soap';
import { eventsOf } from '../support/bindings';
import { startService, type TestService } from '../support/service';

type Port = Record<
  string,
  (input: object, callback: (error: Error | null, result: Record<string, string>) => void) => void
>;

describe.each([
  ['WebHookSoap', false],
  ['WebHookSoap12', true],
])('a node-soap client made from the live WSDL, on port %s', (portName, forceSoap12Headers) => {
  let service: TestService;
  let client: Client;
  beforeAll(async () => {
    service = await startService();
    client = await createClientAsync(`${service.url}?WSDL`, { forceSoap12Headers });
  });
  afterAll(() => service.stop());

  const call = async (operation: string): Promise<string> => {
    const port = (client as unknown as { WebHook: Record<string, Port> }).WebHook[portName];
    return new Promise((resolve, reject) => {
      port?.[operation]?.({}, (error, result) => {
        if (error) reject(error);
        else resolve(result[`${operation}Result`] ?? '');
      });
    });
  };

  it('gets Hello World', async () => {
    expect(await call('HelloWorld')).toBe('Hello World');
  });

  it('records an event and reads it back', async () => {
    const id = await call('RecordEvent');
    expect(eventsOf(await call('GetEvents')).map((event) => event.id)).toContain(id);
  });
});
