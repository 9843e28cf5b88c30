import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BasicAuthSecurity, BearerSecurity, createClientAsync, WSSecurity, type ISecurity } from 'soap';
import { startService, type TestService } from '../support/service';
import { useTemporaryFolder } from '../support/temporary-folder';
import { describeWith } from '../support/tools';

const run = promisify(execFile);
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

const ZEEP = `
import sys
import requests, zeep
from zeep.transports import Transport
from zeep.wsse.username import UsernameToken

wsdl, key, wrong = sys.argv[1:4]

def basic(password):
    session = requests.Session()
    session.auth = ("me", password)
    return dict(transport=Transport(session=session))

clients = {
    "none": {},
    "UsernameToken": dict(wsse=UsernameToken("me", key)),
    "UsernameToken wrong": dict(wsse=UsernameToken("me", wrong)),
    "UsernameToken digest": dict(wsse=UsernameToken("me", key, use_digest=True)),
    "Basic": basic(key),
    "Basic wrong": basic(wrong),
}
for name, options in clients.items():
    for port in "WebHookSoap", "WebHookSoap12", "WebHookHttpGet", "WebHookHttpPost":
        if "Http" in port and "UsernameToken" in name:
            continue
        proxy = zeep.Client(wsdl, **options).bind("WebHook", port)
        try:
            print(name, port, len(proxy.RecordEvent()), sep="\\t")
        except zeep.exceptions.Error as error:
            print(name, port, type(error).__name__, str(error), sep="\\t")
`;

describeWith({ '/usr/lib/python3/dist-packages/zeep': 'python3-zeep' }, 'zeep', () => {
  const folder = useTemporaryFolder();

  it('records with the key over every binding, and shows why not without', async () => {
    const script = join(folder.path, 'client.py');
    await writeFile(script, ZEEP);
    const { stdout } = await run('/usr/bin/python3', [script, `${service.url}?WSDL`, KEY, WRONG]);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => line.split('\t'));
    const outcome = (name: string, port: string) =>
      lines
        .find(([n, p]) => n === name && p === port)
        ?.slice(2)
        .join(' ');
    for (const port of ['WebHookSoap', 'WebHookSoap12']) {
      expect(outcome('none', port)).toContain('Fault RecordEvent needs a record key.');
      expect(outcome('UsernameToken', port)).toBe('36');
      expect(outcome('UsernameToken wrong', port)).toContain('Fault This key may not record events.');
      expect(outcome('UsernameToken digest', port)).toContain('no PasswordDigest');
      expect(outcome('Basic', port)).toBe('36');
      expect(outcome('Basic wrong', port)).toContain('Fault This key may not record events.');
    }
    for (const port of ['WebHookHttpGet', 'WebHookHttpPost']) {
      expect(outcome('none', port)).toContain('RecordEvent needs a record key.');
      expect(outcome('Basic', port)).toBe('36');
      expect(outcome('Basic wrong', port)).toContain('This key may not record events.');
    }
  });
});
