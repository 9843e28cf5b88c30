import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RECORDED_WSDL, startRecordedService } from '../../support/recorded-service';
import { startService } from '../../support/service';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { runCompareHere } from '../../support/tool-here';

const folder = useTemporaryFolder();

const run = (...args: readonly string[]) => runCompareHere(args, folder.path);

describe('the program that compares two services', () => {
  it('ends with 0 where a client sees no difference', async () => {
    const [original, service] = [await startRecordedService(), await startService()];
    const { code, output, errors } = await run(original.url, service.url);
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(output).toContain('HelloWorld over HTTP GET: same\n');
    expect(output).toMatch(/A client sees no difference\.\n$/);
    await original.stop();
  });

  it('ends with 1 where a client sees one, and prints nothing that a terminal obeys', async () => {
    const service = await startService();
    const hostile = await startRecordedService((answer) => ({
      ...answer,
      headers: { ...answer.headers, Location: '\u009b2J' },
      body: answer.body
        .replace('service name="WebHook"', 'service name="&#x202e;&#x9b;2J&#10;A client sees no difference."')
        .replace('>Hello World<', '>\u001b[2J\u202eHello\r<'),
    }));
    const { code, output } = await run(hostile.url, service.url);
    expect(code).toBe(1);
    expect(output).toContain('<wsdl:service name="\\u202e\\u009b2J A client sees no difference.">');
    expect(output).toContain('\\u001b[2J\\u202eHello');
    expect(output).not.toMatch(/[^\P{C}\n]/u);
    await hostile.stop();
  });

  it('ends with 2 where a service cannot be read, and where the arguments make no sense', async () => {
    expect(await run('a.wsdl', 'b.wsdl')).toEqual({
      code: 2,
      output: '',
      errors: 'a.wsdl cannot be read: there is no such file or folder. An address begins with http:// or https://.\n',
    });
  });

  it.each([
    ['a', "Missing required argument 'new'. See --help."],
    ['a b --write .env', "Unknown option '--write'. See --help."],
    ['a b --ca nowhere', 'nowhere cannot be read: there is no such file or folder.'],
  ])('refuses the arguments %j', async (args, errors) => {
    expect(await run(...args.split(' '))).toEqual({ code: 2, output: '', errors: `${errors}\n` });
  });

  it('prints the settings of an old service as an .env file', async () => {
    await writeFile(join(folder.path, 'old.wsdl'), RECORDED_WSDL);
    expect(await run('settings', 'old.wsdl')).toEqual({
      code: 0,
      output: `SERVICE_NAMESPACE=http://tempuri.org/
SERVICE_ROOT=webhooks
# Once callers reach the new service under the old address:
# BASE_URL=http://old.example.com
`,
      errors: '',
    });
  });

  it('leaves the .env file as it is where the old service does not answer, and exits with 2', async () => {
    const file = join(folder.path, '.env');
    await writeFile(file, 'READ_KEYS=0123456789abcdef\n');
    const { code, output } = await run('settings', 'http://127.0.0.1:1/hooks.asmx', '--write', '.env');
    expect({ code, output }).toEqual({ code: 2, output: '' });
    expect(await readFile(file, 'utf8')).toBe('READ_KEYS=0123456789abcdef\n');
    await writeFile(join(folder.path, 'old.wsdl'), RECORDED_WSDL);
    expect((await run('settings', 'old.wsdl', '--write', '.env')).code).toBe(0);
    const again = await run('settings', 'old.wsdl', '--write', '.env');
    expect(again.output).toBe('.env was not changed.\n');
    expect(await readFile(file, 'utf8')).toContain(
      'READ_KEYS=0123456789abcdef\nSERVICE_NAMESPACE=http://tempuri.org/\n',
    );
  });

  it('exits with 1 where no settings make the new service like the old one', async () => {
    await writeFile(join(folder.path, 'old.wsdl'), RECORDED_WSDL.replaceAll('http://tempuri.org/', 'hooks{1}'));
    const { code, output, errors } = await run('settings', 'old.wsdl');
    expect([code, output]).toEqual([
      1,
      expect.stringContaining('# The old namespace is hooks{1}, which cannot be set'),
    ]);
    expect(errors).toContain('do not make the new service like the old one');
  });

  it('says how it is used', async () => {
    const { code, output } = await run('--help');
    expect(code).toBe(0);
    expect(output).toContain('Usage: asmx-webhook compare [options] <old> <new>');
  });
});
