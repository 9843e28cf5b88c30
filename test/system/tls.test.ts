import { execFile } from 'node:child_process';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { connect, type ConnectionOptions } from 'node:tls';
import { promisify } from 'node:util';
import { runToEnd, startProcess } from '../support/process';
import { useTemporaryFolder } from '../support/service';
import { describeWith } from '../support/tools';

const run = promisify(execFile);

describeWith({ openssl: 'openssl' }, 'the service over TLS', () => {
  const folder = useTemporaryFolder();
  const file = (name: string) => join(folder.path, name);
  const variables = () => ({ TLS_CERT: file('cert.pem'), TLS_KEY: file('key.pem') });

  beforeEach(async () => {
    await makeCertificate('first');
    await makeCertificate('second');
    await use('first');
  });

  async function makeCertificate(name: string): Promise<void> {
    const files = ['-keyout', file(`${name}-key.pem`), '-out', file(`${name}.pem`)];
    const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
    await run('openssl', ['req', '-x509', ...key, '-nodes', '-days', '2', ...files, ...subject]);
  }

  async function use(name: string): Promise<void> {
    await copyFile(file(`${name}.pem`), file('cert.pem'));
    await copyFile(file(`${name}-key.pem`), file('key.pem'));
  }

  const get = async (url: string, trusted: string, options: ConnectionOptions = {}): Promise<string> => {
    const ca = await readFile(file(`${trusted}.pem`));
    return new Promise((resolve, reject) => {
      request(url, { ca, agent: false, ...options }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => {
          resolve(text);
        });
      })
        .on('error', reject)
        .end();
    });
  };

  it('answers at the https address that it prints, and names it in the WSDL', async () => {
    const service = await startProcess(variables(), folder.path);
    expect(service.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\//);
    expect(await get(`${service.url}/HelloWorld`, 'first')).toContain('Hello World');
    expect(await get(`${service.url}?WSDL`, 'first')).toContain(`location="${service.url}"`);
    expect(await service.end('SIGTERM')).toBe(0);
  });

  it('does not speak TLS 1.1', async () => {
    const service = await startProcess(variables(), folder.path);
    const { hostname, port } = new URL(service.url);
    const handshake = (maxVersion: 'TLSv1.1' | 'TLSv1.2') =>
      new Promise<string>((resolve, reject) => {
        const options = { host: hostname, port: Number(port), rejectUnauthorized: false, minVersion: 'TLSv1' as const };
        const socket = connect({ ...options, maxVersion, ciphers: 'DEFAULT@SECLEVEL=0' }, () => {
          resolve(socket.getProtocol() ?? '');
          socket.destroy();
        }).on('error', reject);
      });
    expect(await handshake('TLSv1.2')).toBe('TLSv1.2');
    await expect(handshake('TLSv1.1')).rejects.toThrow(/protocol version|alert/);
    await service.end('SIGTERM');
  });

  it('reads its files again on SIGHUP, and keeps those from before when they are no good', async () => {
    const service = await startProcess(variables(), folder.path);
    const hello = (trusted: string) => get(`${service.url}/HelloWorld`, trusted);
    await use('second');
    service.child.kill('SIGHUP');
    await service.logged('TLS files read again');
    expect(await hello('second')).toContain('Hello World');
    await expect(hello('first')).rejects.toThrow('self-signed');

    await copyFile(file('first-key.pem'), file('key.pem'));
    service.child.kill('SIGHUP');
    const line = await service.logged('TLS files not usable, those from before stay in use');
    expect(line.reason).toMatch(/^The TLS certificate and key cannot be used\. ---> .*mismatch/);
    expect(await hello('second')).toContain('Hello World');
    await service.end('SIGTERM');
  });

  it('with TLS_CLIENT_CA answers those alone that have a certificate of it', async () => {
    const service = await startProcess({ ...variables(), TLS_CLIENT_CA: file('second.pem') }, folder.path);
    const hello = (options: ConnectionOptions) => get(`${service.url}/HelloWorld`, 'first', options);
    const certificate = async (name: string) => ({
      cert: await readFile(file(`${name}.pem`)),
      key: await readFile(file(`${name}-key.pem`)),
    });
    expect(await hello(await certificate('second'))).toContain('Hello World');
    await expect(hello({})).rejects.toThrow();
    await expect(hello(await certificate('first'))).rejects.toThrow();
    await service.end('SIGTERM');
  });

  it('does not start with a key that is not the certificate’s, nor without its files', async () => {
    await copyFile(file('second-key.pem'), file('key.pem'));
    const mismatch = await runToEnd(variables(), folder.path);
    expect(mismatch).toEqual({
      code: 1,
      output: expect.stringContaining('The TLS certificate and key cannot be used.') as string,
    });
    await writeFile(file('cert.pem'), 'no certificate');
    expect((await runToEnd(variables(), folder.path)).code).toBe(1);
    const missing = await runToEnd({ ...variables(), TLS_CERT: file('nowhere.pem') }, folder.path);
    expect(missing.output).toMatch(/^The TLS file .*nowhere\.pem cannot be read\. ---> ENOENT/);
  });
});
