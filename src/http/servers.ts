import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Config } from '../config/config';
import { Proxies } from './proxies';
import type { AdminPages } from './admin';
import type { HttpRequest } from './request';
import type { ServerOptions } from './request-listener';
import { HttpServer, STOP_TIMEOUT } from './server';
import { reasonOf } from '../util/errors';

/** Checks that throw why a request is refused: to the metrics on the public address, and to any page on the operator's. */
type Checks = Readonly<Record<'metricsReader' | 'operator', (request: HttpRequest) => void>>;

/** Listens on the public address, and on that of the operator if there is one. Throws if it cannot, or a TLS file cannot be used. */
export async function startServers(
  config: Config,
  served: Required<Pick<ServerOptions, 'handler' | 'rate' | 'observer'>>,
  pages: AdminPages,
  checks: Checks,
) {
  const { limits, host } = config;
  const tls = config.tls && (await readTls(config.tls));
  const { rate, observer } = served;
  // Of several workers the supervisor has the metrics, and the operator's address.
  const isAlone = config.workers === 1;
  const admin =
    isAlone && config.admin ? await pages.listen(config.admin, { limits, rate, observer }, checks.operator) : undefined;
  const publicPages = pages.ofPublicAddress(isAlone && !admin ? checks.metricsReader : undefined);
  const server = new HttpServer({ ...served, pages: publicPages, limits, tls });
  const port = await server.listen(config).catch(async (error: unknown) => {
    await admin?.close();
    throw error;
  });
  return {
    /** Scheme, host and port of the public address. */
    url: `${tls ? 'https' : 'http'}://${Proxies.localAuthority(host, port)}`,
    adminUrl: admin?.url,
    connections: () => server.connections,
    /** Uses these TLS files, or throws and keeps the earlier ones. Whether there is TLS, and callers need a certificate, stays as it was. */
    async reloadTls(next = config.tls): Promise<void> {
      if (!config.tls || !next) return;
      const { clientCa } = config.tls;
      server.replaceTls(await readTls({ ...next, clientCa: clientCa && (next.clientCa ?? clientCa) }));
    },
    /**
     * Finishes what is in flight. Public connections without a call stay open for `idleTimeout` ms. The admin pages answer until the last
     * call has: `/readyz` says that the service is stopping.
     */
    async close(idleTimeout?: number): Promise<void> {
      const deadline = performance.now() + STOP_TIMEOUT;
      await server.close(idleTimeout, deadline);
      await admin?.close(deadline);
    },
  };
}

/** Reads and parses all files: given a CA file without a certificate, Node would trust its built-in authorities. */
async function readTls({ cert, key, clientCa }: NonNullable<Config['tls']>) {
  const certFile = await readPem('TLS_CERT', cert, (text) => {
    // Checks the whole chain, and that no key or signature in it is too weak.
    createSecureContext({ cert: text });
    return new X509Certificate(text);
  });
  const keyFile = await readPem('TLS_KEY', key, createPrivateKey);
  if (!certFile.value.checkPrivateKey(keyFile.value))
    throw new Error(`${keyFile.name} is not the key of the certificate in ${certFile.name}.`);
  return {
    cert: certFile.text,
    key: keyFile.text,
    minVersion: 'TLSv1.2' as const,
    ...(clientCa !== undefined && { ca: (await readPem('TLS_CLIENT_CA', clientCa, certificates)).value }),
  };
}

/** Reads a file once, since it may be rewritten meanwhile. Its name, in errors too, is setting and path. */
async function readPem<Value>(setting: string, file: string, parse: (text: string) => Value) {
  const name = `${setting} (${file})`;
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new Error(`${name} cannot be read: ${reasonOf(error)}.`);
  });
  const parsing = Promise.resolve(text).then(parse);
  const value = await parsing.catch(({ message, reason = message }: Error & { reason?: string }) => {
    throw new Error(
      `${name} cannot be used: ${reason}. Certificates and keys must be whole, in PEM and not too weak (RSA takes 2,048 bits), and keys ` +
        'without a passphrase. Convert PFX with: openssl pkcs12 -nodes -in FILE -out FILE.pem (certificate and key in one file, for ' +
        'TLS_CERT and TLS_KEY). Convert DER with: openssl x509 -inform DER -in FILE -out FILE.pem, a key with openssl pkey.',
    );
  });
  return { name, text, value };
}

/** The certificates in a text. One that has only its beginning, as in a file that is still being written, cannot be parsed. */
function certificates(text: string): string[] {
  const blocks = text.match(/-----BEGIN [^-]*CERTIFICATE-----[^-]*(?:-----END [^-]*-----)?/g);
  if (blocks === null) throw new Error('it has no certificate');
  return blocks.map((block) => new X509Certificate(block).toString());
}
