import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Contract } from '../../../src/contract/contract';
import { wsdlWith } from '../../../src/contract/protocols';
import { addSettings, settingsFor } from '../../../src/cli/compare/settings';
import { readWsdl, type Wsdl } from '../../../src/cli/compare/wsdl';
import { readConfig } from '../../../src/config/config';
import { EnvFile } from '../../../src/config/environment';
import { protocols } from '../../../src/config/values';
import { RECORDED_WSDL } from '../../support/recorded-service';
import { useTemporaryFolder } from '../../support/temporary-folder';

const folder = useTemporaryFolder();

let contract: Contract;
beforeAll(async () => {
  contract = await Contract.load(undefined);
});
const settingsOf = (wsdl: Wsdl) => settingsFor(wsdl, contract);

function settings(namespace: string, address: string) {
  const text = RECORDED_WSDL.replaceAll('http://tempuri.org/', namespace);
  return settingsOf(readWsdl(text.replace(/(address location=")[^"]*/g, `$1${address}`)));
}

describe('the settings that an old WSDL asks for', () => {
  it.each([
    { namespace: 'http://tempuri.org/', address: 'http://host/webhooks/Services/WebHooks.asmx' },
    { namespace: 'http://example.com/hooks/', address: 'https://host:8443/Hooks/services/webhooks.ASMX' },
    { namespace: "urn:it's#1", address: 'http://host/a/b/hooks/Services/WebHooks.asmx', prefix: '/a/b' },
    { namespace: "'hooks", address: 'http://host/webhooks/Services/WebHooks.asmx' },
    { namespace: 'QTrack Service', address: 'http://host/webhooks/Services/WebHooks.asmx' },
  ])('make the service answer as $namespace at $address', async ({ namespace, address, prefix = '' }) => {
    const file = join(folder.path, '.env');
    const { lines, isComplete } = settings(namespace, address);
    expect(isComplete).toBe(true);
    await writeFile(file, lines.join('\n').replace('# BASE_URL', 'BASE_URL'));
    const config = readConfig(EnvFile.read(file).texts);
    expect(config.namespace).toBe(namespace);
    expect(config.baseUrl).toBe(new URL(address).origin + prefix);
    expect(`${config.baseUrl ?? ''}${config.path}`.toLowerCase()).toBe(address.toLowerCase());
  });

  it('are comments where the service cannot have what the old one had', () => {
    const { lines, isComplete } = settings('urn:{hooks}', 'http://host/hooks.asmx?a=1');
    expect(isComplete).toBe(false);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('# The old namespace is urn:{hooks}, which cannot be set');
    expect(lines[1]).toContain('# The old address is http://host/hooks.asmx?a=1.');
  });

  it.each([
    { ports: 'soap11,soap12,httpget,httppost' },
    { ports: 'soap12,httppost', setting: 'soap12,httppost' },
    { ports: 'soap11,soap12,httpget', comment: 'soap11,soap12,httpget' },
    { ports: 'soap11,soap12', setting: 'soap11,soap12,httppost', comment: 'soap11,soap12' },
  ])('switch off what a WSDL with $ports lacks, and HTTP POST only in a comment', ({ ports, setting, comment }) => {
    const { lines } = settingsOf(readWsdl(wsdlWith(RECORDED_WSDL, protocols(ports))));
    const set = (prefix: string) => lines.find((line) => line.startsWith(prefix))?.slice(prefix.length);
    expect([set('PROTOCOLS='), set('# PROTOCOLS=')]).toEqual([setting, comment]);
    if (setting !== undefined) expect(readConfig({ PROTOCOLS: setting }).protocols).toEqual(protocols(setting));
  });

  it('are comments for what the old service has besides', () => {
    const operation = '$&<wsdl:operation name="Ping&#10;X"/>';
    const text = RECORDED_WSDL.replace('service name="WebHook"', 'service name="Orders"');
    const { lines, isComplete } = settingsOf(readWsdl(text.replaceAll(/<wsdl:portType [^>]*>/g, operation)));
    expect(isComplete).toBe(false);
    expect(lines.slice(-2)).toEqual([
      '# The old service is named Orders, this one WebHook: is it the one to replace?',
      '# The old service has the operation Ping\\nX, this one does not. docs/architecture.md says how to add one.',
    ]);
  });

  it('say that no protocol can be told from a WSDL without ports', () => {
    const { lines } = settingsOf(readWsdl(RECORDED_WSDL.replace(/<wsdl:port [\s\S]*<\/wsdl:port>/, '')));
    expect(lines.at(-1)).toContain('set PROTOCOLS yourself');
  });
});

describe('the settings that are added to an .env file', () => {
  const LINES = ['SERVICE_ROOT=hooks', '# Later:', "# BASE_URL='http://old'", 'PROTOCOLS=soap11,httppost'];
  const file = () => join(folder.path, '.env');

  it('make the file where there is none', async () => {
    expect(await addSettings(file(), LINES)).toEqual({ added: LINES, conflicts: [] });
    expect(await readFile(file(), 'utf8')).toBe(`${LINES.join('\n')}\n`);
    expect(await readdir(folder.path)).toEqual(['.env']);
  });

  it('leave what the file has, its mode included, and are added once', async () => {
    const mine = '# PROTOCOLS=soap11,httppost,soap12\nREAD_KEYS=0123456789abcdef\nSERVICE_ROOT=hooks';
    await writeFile(file(), mine, { mode: 0o600 });
    for (let run = 0; run < 2; run++) {
      expect(await addSettings(file(), LINES)).toEqual({ added: run === 0 ? LINES.slice(1) : [], conflicts: [] });
      expect(await readFile(file(), 'utf8')).toBe([mine, ...LINES.slice(1), ''].join('\n'));
    }
    expect((await stat(file())).mode & 0o777).toBe(0o600);
  });

  it('do not replace another value, which is named', async () => {
    await writeFile(file(), 'SERVICE_ROOT=mine\n');
    expect((await addSettings(file(), LINES)).conflicts).toEqual([
      `${file()}, line 1, keeps its SERVICE_ROOT (old service: hooks).`,
    ]);
    expect(EnvFile.read(file()).texts.SERVICE_ROOT).toBe('mine');
    expect(EnvFile.read(file()).texts.PROTOCOLS).toBe('soap11,httppost');
  });

  it('leave a file alone that is not valid', async () => {
    await writeFile(file(), 'half a line\n');
    await expect(addSettings(file(), LINES)).rejects.toThrow('line 1: must be NAME=VALUE');
    expect(await readFile(file(), 'utf8')).toBe('half a line\n');
  });
});
