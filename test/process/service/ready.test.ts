import { runToEnd, startProcess } from '../../support/process';
import { startTarget } from '../../support/target';
import { useTemporaryFolder } from '../../support/temporary-folder';

const folder = useTemporaryFolder();

function ready(variables: Readonly<Record<string, string>>) {
  return runToEnd(variables, folder.path, ['--ready']);
}

describe('--ready', () => {
  it('exits with 0 while the service answers that it is ready, and with 1 when it is gone', async () => {
    const service = await startProcess({ HOST: '0.0.0.0' }, folder.path);
    const PORT = new URL(service.url).port;
    const HTTP_PROXY = 'http://127.0.0.1:9';
    expect(await ready({ HOST: '0.0.0.0', PORT, HTTP_PROXY })).toEqual({ code: 0, output: 'ready\n' });
    await service.end('SIGTERM');
    expect(await ready({ PORT })).toEqual({
      code: 1,
      output: expect.stringContaining(`http://127.0.0.1:${PORT}/readyz does not answer: `) as string,
    });
  });

  it("exits with 1 and the reason when the service is not ready, which it asks at the operator's address", async () => {
    const target = await startTarget(({ path }) => ({ status: 503, body: `no room at ${String(path)}` }));
    const { port } = new URL(target.url);
    const settings = { ADMIN_PORT: port, TLS_CERT: 'cert', TLS_KEY: 'key' };
    expect(await ready(settings)).toEqual({ code: 1, output: 'no room at /readyz\n' });
    await target.close();
  });

  it('says what is wrong with the settings', async () => {
    const { code, output } = await ready({ PORT: 'http' });
    expect([code, output]).toEqual([1, expect.stringContaining('PORT')]);
  });
});
