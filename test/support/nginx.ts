import { execFile } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { adapted } from './adapted';
import { eventually, succeeds } from './eventually';
import { send } from './http';
import { run as start } from './program.cjs';

const run = promisify(execFile);

const DEPLOYED = join(__dirname, '..', '..', 'deploy', 'nginx.conf');

const TEMPORARY_FILES = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** The programs that a test with nginx needs, with the packages that provide them. */
export const NGINX = { nginx: 'nginx-light', openssl: 'openssl' };

/**
 * Starts nginx with deploy/nginx.conf in front of a service and waits until it answers at an address for which
 * {@link makeCertificate} made the certificate. Its files are in the folder.
 *
 * @param changes - texts of the file, and what comes in their place beside the ports and files of this machine.
 */
export async function startNginx(
  folder: string,
  service: string,
  url: string,
  changes: Readonly<Record<string, string>> = {},
): Promise<{ stop(): Promise<void> }> {
  const http = adapted(await readFile(DEPLOYED, 'utf8'), {
    '127.0.0.1:8080': new URL(service).host,
    'listen 443 ssl': `listen 127.0.0.1:${new URL(url).port} ssl`,
    '/etc/ssl/hooks.pem': join(folder, 'certificate.pem'),
    '/etc/ssl/hooks.key': join(folder, 'certificate-key.pem'),
    ...changes,
  });
  const configuration = join(folder, 'nginx.conf');
  // If root starts it, its workers run as another user.
  await chmod(folder, 0o755);
  const paths = TEMPORARY_FILES.map((name) => `${name}_temp_path ${join(folder, name)};`);
  await writeFile(
    configuration,
    `daemon off; pid ${join(folder, 'nginx.pid')}; error_log stderr crit; events { }
     http { access_log off; ${paths.join(' ')}\n${http}\n}`,
  );
  const nginx = start(['nginx', '-c', configuration, '-e', 'stderr']);
  const stop = async (): Promise<void> => {
    await nginx.end();
  };
  try {
    await eventually('nginx answers', () => succeeds(send(url)));
  } catch (error) {
    await stop();
    throw new Error(nginx.output(), { cause: error });
  }
  return { stop };
}

/** Makes `NAME.pem` and `NAME-key.pem` in a folder, signed by another of its certificates, or by itself. */
export async function makeCertificate(
  folder: string,
  name = 'certificate',
  { signer, names = 'DNS:localhost,IP:127.0.0.1' }: { readonly signer?: string; readonly names?: string } = {},
): Promise<{ readonly cert: string; readonly key: string }> {
  const filesOf = (one: string) => ({ cert: join(folder, `${one}.pem`), key: join(folder, `${one}-key.pem`) });
  const made = filesOf(name);
  const by = filesOf(signer ?? '');
  const signed = signer === undefined ? [] : ['-CA', by.cert, '-CAkey', by.key];
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${names}`];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  await run('openssl', ['req', '-x509', ...kind, ...signed, '-keyout', made.key, '-out', made.cert, ...subject]);
  return made;
}
