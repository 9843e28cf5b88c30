import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually, succeeds } from './eventually';
import { send } from './http';
import { certificateIn, run } from './program.cjs';

const DEPLOYED = join(__dirname, '..', '..', 'deploy', 'nginx.conf');

const TEMPORARY_FILES = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** The programs that a test with nginx needs, with the packages that provide them. */
export const NGINX = { nginx: 'nginx-light', openssl: 'openssl' };

/** Puts what is on this machine in the place of what a file of deploy/ names, wherever it names it; each must be in it. */
export function adapted(text: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((result, [from, to]) => {
    expect(result).toContain(from);
    return result.replaceAll(from, () => to);
  }, text);
}

/**
 * Starts nginx with deploy/nginx.conf in front of services, with a certificate of its own, and waits until it answers at an address. Its
 * files are in the folder, the certificate in `cert.pem`.
 *
 * @param changes - texts of the file, and what comes in their place beside the ports and files of this machine.
 */
export async function startNginx(
  folder: string,
  services: readonly string[],
  url: string,
  changes: Readonly<Record<string, string>> = {},
): Promise<ReturnType<typeof run>> {
  const { TLS_CERT, TLS_KEY } = certificateIn(folder);
  const http = adapted(await readFile(DEPLOYED, 'utf8'), {
    '127.0.0.1:8080': services.map((address) => new URL(address).host).join(' max_fails=1 fail_timeout=1s;\n  server '),
    'listen 443 ssl': `listen 127.0.0.1:${new URL(url).port} ssl`,
    '/etc/ssl/hooks.pem': TLS_CERT,
    '/etc/ssl/hooks.key': TLS_KEY,
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
  const nginx = run(['nginx', '-c', configuration, '-e', 'stderr']);
  try {
    await eventually('nginx answers', () => succeeds(send(url)));
  } catch (cause) {
    throw new Error(nginx.output(), { cause });
  }
  return nginx;
}
