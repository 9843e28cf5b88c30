import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { callsOf } from '../../../src/cli/compare/calls';
import { RECORDED_WSDL, startRecordedService, type Plant, type RecordedAnswer } from '../../support/recorded-service';
import { startService, useService } from '../../support/service';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { runCompareHere } from '../../support/tool-here';

const folder = useTemporaryFolder();
const service = useService();

const run = (...args: readonly string[]) => runCompareHere(args, folder.path);

/** Compares the original with the service. */
async function replaced(...planted: readonly Plant[]) {
  const original = await startRecordedService((answer, request) =>
    planted.reduce((changed, plant) => plant(changed, request), answer),
  );
  const { requests } = original;
  return { ...(await run(original.url, service.url).finally(() => original.stop())), requests };
}

/** Changes the answers of the original to requests that match. */
const plant =
  (part: RegExp, change: (answer: RecordedAnswer) => Partial<RecordedAnswer>): Plant =>
  (answer, request) =>
    part.test(request) ? { ...answer, ...change(answer) } : answer;
const body = (part: RegExp, from: string | RegExp, to: string) =>
  plant(part, (answer) => ({ body: answer.body.replace(from, to) }));
const field = (part: RegExp, name: string, value: string) =>
  plant(part, ({ headers }) => ({ headers: { ...headers, [name]: value } }));

/** What tells the requests apart. */
const HELLO_11 = /HelloWorld" .*xmlsoap\.org\/soap\/envelope\/"><soap:Body><Hello/s;
const NOPE_11 = /org\/Nope"/;

describe('the program that compares two services', () => {
  it('ends with 0 where a client sees no difference, and records and reads no event', async () => {
    const { code, output, errors, requests } = await replaced();
    expect([code, errors]).toEqual([0, '']);
    expect(output).toContain('WSDL: a generated client sees no difference\n');
    expect(output.match(/: same$/gm)).toHaveLength(14);
    expect(output).toMatch(/A client sees no difference\.\n$/);
    expect(requests.filter((request) => /RecordEvent|GetEvents/.test(request))).toEqual([]);
    expect((await service.log.stats()).events).toBe(0);
  });

  it('ends with 1 and shows the differences that a client sees, and no others', async () => {
    const { code, output } = await replaced(
      plant(/GET {3}/, () => ({ status: 403 })),
      field(/POST \/HelloWorld/, 'Content-Type', 'application/xml'),
      field(/^GET \/HelloWorld/, 'Cache-Control', 'no-store'),
      field(/^GET \/Nope/, 'WWW-Authenticate', 'Negotiate'),
      body(HELLO_11, '"http://tempuri.org/"', '"urn:x"'),
      body(NOPE_11, 'soap:Client', 'soap:Server'),
      plant(/POST \/Nope/, () => ({ body: '' })),
    );
    expect([code, output.match(/A client sees .*/)?.[0]]).toEqual([1, 'A client sees 7 differences.']);
    expect(output).toMatch(/- +<{urn:x}HelloWorldResponse>[^]* \+ +<{http:\/\/tempuri.org\/}HelloWorldResponse>/);
    const others = output.match(/^ {2}[-+] .*$/gm)?.filter((line) => !line.includes('HelloWorldRes'));
    expect(others?.join('\n').replace(/ +/g, ' ')).toBe(` - Cache-Control: no-store
 + Cache-Control: private, max-age=0
 - Content-Type: application/xml
 + Content-Type: text/xml; charset=utf-8
 - <faultcode>soap:Server</faultcode>
 + <faultcode>soap:Client</faultcode>
 - WWW-Authenticate: Negotiate
 - (no body)
 + Nope Web Service method name is not valid.
 - 403 Forbidden
 + 200 OK`);
  });

  it('sees no difference in prefixes, in the caching of a fault, and in a field that is different each time', async () => {
    const { code } = await replaced(
      body(HELLO_11, /soap(?=:(?!\/\/))|(?<=:)soap(?==)/g, 's'),
      field(NOPE_11, 'Cache-Control', 'private'),
      field(HELLO_11, 'Date', 'Mon, 01 Jan 2024 00:00:00 GMT'),
    );
    expect(code).toBe(0);
  });

  it('names differences in the WSDL as well, and calls what both have', async () => {
    const { output } = await replaced(body(/\?WSDL/, /<wsdl:port name="WebHookHttp.*?<\/wsdl:port>/gs, ''));
    expect(output).toContain('  +     <wsdl:port binding="tns:WebHookHttpGet" name="WebHookHttpGet"/>');
    expect(output).not.toContain('over HTTP GET');
    expect(output).toContain('A client sees 1 difference.\n');
  });

  it('prints nothing that a terminal obeys', async () => {
    const { code, output } = await replaced((answer) => ({
      ...answer,
      headers: { ...answer.headers, Location: '\u009b2J' },
      body: answer.body
        .replace('service name="WebHook"', 'service name="&#x202e;&#x9b;2J&#10;A client sees no difference."')
        .replace('>Hello World<', '>\u001b[2J\u202eHello\r<'),
    }));
    expect(code).toBe(1);
    expect(output).toContain('<wsdl:service name="\\u202e\\u009b2J A client sees no difference.">');
    expect(output).toContain('\\u001b[2J\\u202eHello');
    expect(output).not.toMatch(/[^\P{C}\n]/u);
  });

  it('ends with 2 where both services refuse the caller, and where one does not answer', async () => {
    const services = await Promise.all([1, 2].map(() => startService({ RATE_LIMIT: '1/1h' })));
    const refused = await run(...services.map(({ url }) => url));
    expect(refused.output).toContain('the new service refuses the caller: 429 Too Many Requests');
    const { code, output } = await replaced(plant(/POST \/HelloWorld/, () => ({ body: ' '.repeat(5 * 1024 * 1024) })));
    expect([refused.code, code]).toEqual([2, 2]);
    expect(output).toContain('the old service: the answer is longer than 4096 KiB');
    expect(output).toContain('A client sees no difference; 1 of 14 calls could not be compared');
  });

  it.each([
    ['a.wsdl b', 'a.wsdl cannot be read: there is no such file or folder. An address begins with http:// or https://.'],
    ['a', "Missing required argument 'new'. See --help."],
    ['a b --write .env', "Unknown option '--write'. See --help."],
    ['a b --ca nowhere', 'nowhere cannot be read: there is no such file or folder.'],
  ])('ends with 2 and one line for the arguments %j', async (args, errors) => {
    expect(await run(...args.split(' '))).toEqual({ code: 2, output: '', errors: `${errors}\n` });
  });
});

it('a namespace of any characters is sent in header fields that HTTP allows', () => {
  const calls = callsOf('urn:"ü\ud83d\ude00', new Set(['SOAP 1.1', 'SOAP 1.2']));
  expect(JSON.stringify(calls.map(({ headers }) => headers))).toMatch(/^[ -~]*$/);
});

describe('the settings of an old service', () => {
  const file = () => join(folder.path, '.env');

  it('are printed as an .env file, with exit code 1 where they do not make the new service like the old one', async () => {
    await writeFile(join(folder.path, 'old.wsdl'), RECORDED_WSDL);
    const output = `SERVICE_NAMESPACE=http://tempuri.org/
SERVICE_ROOT=webhooks
# Once callers reach the new service under the old address:
# BASE_URL=http://old.example.com
`;
    expect(await run('settings', 'old.wsdl')).toEqual({ code: 0, output, errors: '' });
    await writeFile(join(folder.path, 'old.wsdl'), RECORDED_WSDL.replaceAll('http://tempuri.org/', 'hooks{1}'));
    const other = await run('settings', 'old.wsdl');
    expect(other).toMatchObject({ code: 1, errors: expect.stringContaining('do not make the new service') as string });
  });

  it('leave the .env file as it is where the old service does not answer, with exit code 2', async () => {
    await writeFile(file(), 'READ_KEYS=0123456789abcdef\n');
    const write = (old: string) => run('settings', old, '--write', '.env');
    expect(await write('http://127.0.0.1:1/hooks.asmx')).toMatchObject({ code: 2, output: '' });
    expect(await readFile(file(), 'utf8')).toBe('READ_KEYS=0123456789abcdef\n');
    await writeFile(join(folder.path, 'old.wsdl'), RECORDED_WSDL);
    expect((await write('old.wsdl')).code).toBe(0);
    expect((await write('old.wsdl')).output).toBe('.env was not changed.\n');
    expect(await readFile(file(), 'utf8')).toMatch(/^READ_KEYS=.*\nSERVICE_NAMESPACE=http:\/\/tempuri\.org\/\n/);
  });
});
