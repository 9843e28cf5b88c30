import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { send } from '../support/http';
import { freePort } from '../support/program.cjs';
import { adapted, NGINX, startNginx } from '../support/nginx';
import { startService } from '../support/service';
import { useTemporaryFolder } from '../support/temporary-folder';
import { describeWith } from '../support/tools';

const run = promisify(execFile);

const DEPLOY = join(__dirname, '..', '..', 'deploy');

describeWith({ ...NGINX, curl: 'curl' }, 'deploy/nginx.conf', () => {
  const folder = useTemporaryFolder();

  it('serves the service under its outer address, which no caller can state, and neither metrics nor too large bodies', async () => {
    const service = await startService({ TRUST_PROXY: 'loopback' });
    const outer = `https://localhost:${String(await freePort())}/webhooks/Services/WebHooks.asmx`;
    const nginx = await startNginx(folder.path, [service.url], outer);
    try {
      expect((await send(`${outer}/HelloWorld`)).body).toContain('>Hello World</string>');
      for (const path of ['/metrics', '/readyz']) expect((await send(new URL(path, outer).href)).status).toBe(404);
      const stated = ['Forwarded: host=a.example', 'X-Forwarded-Host: a.example', 'X-Forwarded-Prefix: /a'];
      expect(await curl(...stated.flatMap((field) => ['-H', field]), `${outer}?WSDL`)).toContain(`location="${outer}"`);
      expect(await statusOf(outer, 4 * 1024 * 1024)).toBe('200');
      expect(await statusOf(outer, 4 * 1024 * 1024 + 1)).toBe('413');
    } finally {
      await nginx.stop();
      await service.stop();
    }
  });

  const curl = async (...args: readonly string[]) =>
    (await run('curl', ['-s', '--cacert', join(folder.path, 'cert.pem'), ...args])).stdout;

  async function statusOf(outer: string, bytes: number): Promise<string> {
    const file = join(folder.path, 'body');
    await writeFile(file, 'x'.repeat(bytes));
    const body = ['-H', 'Content-Type: text/plain', '--data-binary', `@${file}`];
    const stdout = await curl('-w', '\n%{http_code}', ...body, `${outer}/RecordEvent`);
    return stdout.slice(stdout.lastIndexOf('\n') + 1);
  }
});

const SERVICES = ['webhook.service', 'webhook-forward.service', 'webhook-backup.service'];
const UNITS = [...SERVICES, 'webhook-backup.timer'];

describeWith({ 'systemd-analyze': 'systemd' }, 'the systemd units of deploy/', () => {
  const folder = useTemporaryFolder();

  it('are such that systemd takes them without a remark', async () => {
    const files = UNITS.map((name) => join(folder.path, name));
    for (const name of UNITS) {
      const unit = await readFile(join(DEPLOY, name), 'utf8');
      const values = SERVICES.includes(name) ? { '/usr/bin/node': process.execPath } : {};
      await writeFile(join(folder.path, name), adapted(unit, values));
    }
    expect(await verify(files)).toEqual({ stdout: '', stderr: '' });
    const [file = ''] = files;
    await writeFile(file, (await readFile(file, 'utf8')).replace('Restart=always', 'Restart=perhaps'));
    expect((await verify(files)).stderr).toContain('perhaps');
  });

  it.each(SERVICES)('leave %s an exposure of less than 2.0', async (name) => {
    const { stdout } = await run('systemd-analyze', ['security', '--offline=true', '--no-pager', join(DEPLOY, name)]);
    const [line = '', exposure] = /Overall exposure level for \S+: ([\d.]+) \w+/.exec(stdout) ?? [];
    console.log(line);
    expect(Number(exposure)).toBeLessThan(2);
  });

  function verify(files: readonly string[]): Promise<{ stdout: string; stderr: string }> {
    return run('systemd-analyze', ['verify', '--man=no', ...files]);
  }
});
