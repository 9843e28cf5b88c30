import { BasicAuthSecurity, BearerSecurity, createClientAsync, WSSecurity, type ISecurity } from 'soap';
import { startService, type TestService } from '../support/service';

const KEY = 'record-key-0123456789';
const WRONG = 'wrong-key-0123456789';

let service: TestService;
beforeAll(async () => {
  service = await startService({ RECORD_KEYS: KEY, READ_KEYS: KEY });
});
afterAll(() => service.stop());

describe.each([
  ['SOAP 1.1', false],
  ['SOAP 1.2', true],
])('node-soap over %s', (_version, forceSoap12Headers) => {
  const record = async (security?: ISecurity): Promise<string> => {
    const client = await createClientAsync(`${service.url}?WSDL`, { forceSoap12Headers });
    if (security !== undefined) client.setSecurity(security);
    const port = client as unknown as { RecordEventAsync(input: object): Promise<[{ RecordEventResult: string }]> };
    const [result] = await port.RecordEventAsync({});
    return result.RecordEventResult;
  };

  it.each([
    ['BasicAuthSecurity', (key: string) => new BasicAuthSecurity('me', key, {})],
    ['BearerSecurity', (key: string) => new BearerSecurity(key, {})],
    ['WSSecurity', (key: string) => new WSSecurity('me', key, { hasTimeStamp: true, mustUnderstand: true })],
  ])('records with the key in %s, and shows the fault where it is wrong', async (_name, security) => {
    expect(await record(security(KEY))).toMatch(/^[0-9a-f-]{36}$/);
    await expect(record(security(WRONG))).rejects.toThrow('This key may not record events.');
  });
});
