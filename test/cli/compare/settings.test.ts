import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { offeredWsdl } from '../../../src/contract/offered-wsdl';
import { settingsFor } from '../../../src/cli/compare/settings';
import { Wsdl } from '../../../src/cli/compare/wsdl';
import { endpointPath, readConfig } from '../../../src/config/config';
import { readEnvFile } from '../../../src/config/environment';
import { protocols } from '../../../src/config/values';
import { RECORDED_WSDL } from '../../support/recorded-service';
import { useTemporaryFolder } from '../../support/temporary-folder';

const folder = useTemporaryFolder();

function settings(namespace: string, address: string): string[] {
  const text = RECORDED_WSDL.replaceAll('http://tempuri.org/', namespace);
  return settingsFor(new Wsdl(text.replace(/(address location=")[^"]*/g, `$1${address}`)));
}

describe('the settings that an old WSDL asks for', () => {
  it.each([
    ['http://tempuri.org/', 'http://host/webhooks/Services/WebHooks.asmx', ''],
    ['http://example.com/hooks/', 'https://host:8443/Hooks/services/webhooks.ASMX', ''],
    ["urn:it's#1/", 'http://host/a/b/hooks/Services/WebHooks.asmx', '/a/b'],
  ])('make the service answer as %s at %s', async (namespace, address, prefix) => {
    const file = join(folder.path, '.env');
    await writeFile(file, settings(namespace, address).join('\n').replace('# BASE_URL', 'BASE_URL'));
    const values = [...readEnvFile(file)].map(([name, { text }]) => [name, text]);
    const config = readConfig(Object.fromEntries(values) as Record<string, string>);
    expect(config.namespace).toBe(namespace);
    expect(config.baseUrl).toBe(new URL(address).origin + prefix);
    expect(`${config.baseUrl ?? ''}${endpointPath(config)}`.toLowerCase()).toBe(address.toLowerCase());
  });

  it('are comments where the service cannot have what the old one had', () => {
    const lines = settings('urn:hooks', 'http://host/hooks.asmx?a=1');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('# urn:hooks is the namespace of the old service, which cannot be set');
    expect(lines[1]).toContain('# The old address is http://host/hooks.asmx?a=1.');
  });

  it.each([
    ['soap11,soap12,httpget,httppost', undefined, undefined],
    ['soap12,httppost', 'soap12,httppost', undefined],
    ['soap11,soap12,httpget', undefined, 'soap11,soap12,httpget'],
    ['soap11,soap12', 'soap11,soap12,httppost', 'soap11,soap12'],
  ])('switch off what a WSDL with %s lacks, and HTTP POST only in a comment', (ports, setting, comment) => {
    const lines = settingsFor(new Wsdl(offeredWsdl(RECORDED_WSDL, protocols(ports))));
    const set = (prefix: string) => lines.find((line) => line.startsWith(prefix))?.slice(prefix.length);
    expect([set('PROTOCOLS='), set('# PROTOCOLS=')]).toEqual([setting, comment]);
    if (setting !== undefined) expect(readConfig({ PROTOCOLS: setting }).protocols).toEqual(protocols(setting));
  });

  it('say that no protocol can be told from a WSDL without ports', () => {
    const lines = settingsFor(new Wsdl(RECORDED_WSDL.replace(/<wsdl:port [\s\S]*<\/wsdl:port>/, '')));
    expect(lines.at(-1)).toContain('set PROTOCOLS yourself');
  });
});
