import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { globalAgent } from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, get, makeCertificate, NGINX, startNginx } from '../support/nginx';
import { startService } from '../support/service';
import { useTemporaryFolder } from '../support/temporary-folder';
import { describeWith } from '../support/tools';

const run = promisify(execFile);

/** The first example of a section of docs/operations.md. */
async function exampleOf(section: string, first: string): Promise<string> {
  const page = await readFile(join(__dirname, '..', '..', 'docs', 'operations.md'), 'utf8');
  const [, text = ''] = page.split(`\n## ${section}\n`);
  const lines = text.split('\n');
  const start = lines.indexOf(`    ${first}`);
  const end = lines.findIndex((line, i) => i > start && line !== '' && !line.startsWith('    '));
  return lines
    .slice(start, end)
    .map((line) => line.slice(4))
    .join('\n');
}

/** Puts what is on this machine in the place of what the example names; each must be in it. */
function adapted(example: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((text, [from, to]) => {
    expect(text).toContain(from);
    return text.replace(from, to);
  }, example);
}

describeWith({ ...NGINX, curl: 'curl' }, 'the nginx configuration of docs/operations.md', () => {
  const folder = useTemporaryFolder();

  it('serves the service under its outer address, and neither metrics nor too large bodies', async () => {
    const service = await startService({ TRUST_PROXY: 'loopback' });
    const port = String(await freePort());
    const outer = `https://localhost:${port}/webhooks/Services/WebHooks.asmx`;
    await makeCertificate(folder.path);
    globalAgent.options.ca = await readFile(join(folder.path, 'certificate.pem'));
    const configuration = adapted(await exampleOf('Behind nginx', 'upstream webhook {'), {
      '127.0.0.1:8080': `127.0.0.1:${new URL(service.url).port}`,
      'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
      '/etc/ssl/hooks.pem': join(folder.path, 'certificate.pem'),
      '/etc/ssl/hooks.key': join(folder.path, 'key.pem'),
    });
    const nginx = await startNginx(folder.path, configuration, outer);
    try {
      expect((await get(`${outer}/HelloWorld`)).text).toContain('>Hello World</string>');
      expect((await get(`${outer}?WSDL`)).text).toContain(`location="${outer}"`);
      for (const path of ['/metrics', '/readyz']) expect((await get(new URL(path, outer).href)).status).toBe(404);
      expect(await statusOf(outer, 4 * 1024 * 1024)).toBe('200');
      expect(await statusOf(outer, 4 * 1024 * 1024 + 1)).toBe('413');
    } finally {
      await nginx.stop();
      globalAgent.destroy();
      await service.stop();
    }
  });

  async function statusOf(outer: string, bytes: number): Promise<string> {
    const file = join(folder.path, 'body');
    await writeFile(file, 'x'.repeat(bytes));
    const certificate = ['--cacert', join(folder.path, 'certificate.pem')];
    const body = ['-H', 'Content-Type: text/plain', '--data-binary', `@${file}`];
    const { stdout } = await run('curl', [
      '-s',
      '-w',
      '\n%{http_code}',
      ...certificate,
      ...body,
      `${outer}/RecordEvent`,
    ]);
    return stdout.slice(stdout.lastIndexOf('\n') + 1);
  }
});

describeWith({ 'systemd-analyze': 'systemd' }, 'the systemd units of docs/operations.md', () => {
  const folder = useTemporaryFolder();

  it.each(['Under systemd', 'Forwarding events'])(
    'are such that systemd takes them without a remark: %s',
    async (section) => {
      const unit = adapted(await exampleOf(section, '[Unit]'), { '/usr/bin/node': process.execPath });
      const file = join(folder.path, 'example.service');
      await writeFile(file, unit);
      expect(await run('systemd-analyze', ['verify', '--man=no', file])).toEqual({ stdout: '', stderr: '' });
      await writeFile(file, unit.replace('Restart=always', 'Restart=perhaps'));
      const { stderr } = await run('systemd-analyze', ['verify', '--man=no', file]);
      expect(stderr).toContain('perhaps');
    },
  );
});
