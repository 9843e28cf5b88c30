import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { Config } from '../config/config';
import { localAuthority } from './callers';
import type { AdminPages, AdminServer } from './admin';
import type { HttpRequest } from './request';
import type { ServerOptions } from './request-listener';
import { HttpServer, STOP_TIMEOUT } from './server';
import { reasonOf } from '../util/reason';

/** The public server, and the one for the operator if it has an address of its own. */
export interface Servers {
  /** Scheme, host and port of the public address. */
  readonly url: string;
  readonly adminUrl: string | undefined;
  /** Open connections of the public server. */
  readonly connections: number;
  /** @throws the TLS files cannot be used; then the ones from before stay in use. */
  reloadTls(): Promise<void>;
  /** Finishes what is in flight and takes nothing new. Public connections without a call stay open for `idleTimeout` ms. */
  close(idleTimeout?: number): Promise<void>;
}

/** Maximum connections of the admin address, which have descriptors of their own. */
const ADMIN_CONNECTIONS = 50;

/**
 * Starts to listen.
 *
 * @param served.checkMetricsReader - throws a {@link RequestError} if the caller may not read the metrics on the public address.
 * @throws an address is in use or not one of this machine, or a TLS file cannot be used.
 */
export async function startServers(
  config: Config,
  served: Required<Pick<ServerOptions, 'handler' | 'rate' | 'observer'>> & {
    readonly pages: AdminPages;
    checkMetricsReader(this: void, request: HttpRequest): void;
  },
): Promise<Servers> {
  const { limits, host, tls } = config;
  const { handler, rate, observer, pages, checkMetricsReader } = served;
  // Of several workers the supervisor has the metrics, and the operator's address with them.
  const isAlone = config.workers === 1;
  const adminAddress = isAlone ? config.admin : undefined;
  const server = new HttpServer({
    handler,
    pages: isAlone && config.admin === undefined ? pages.all(checkMetricsReader) : pages.health(),
    limits,
    rate,
    observer,
    tls: tls && (await readTls(tls)),
  });
  const adminLimits = { ...limits, maxConnections: Math.min(limits.maxConnections, ADMIN_CONNECTIONS) };
  let admin: AdminServer | undefined;
  let port: number;
  try {
    // First the one on which nothing is answered but the operator.
    admin = adminAddress && (await pages.listen(adminAddress, { limits: adminLimits, rate, observer }));
    port = await server.listen(config);
  } catch (error) {
    await Promise.all([server.close(), admin?.close()]);
    throw error;
  }
  return {
    url: `${tls ? 'https' : 'http'}://${localAuthority(host, port)}`,
    adminUrl: admin?.url,
    get connections() {
      return server.connections;
    },
    async reloadTls() {
      if (tls) server.replaceTls(await readTls(tls));
    },
    // The admin pages answer until the last call has: `/readyz` says that the service is stopping. One deadline for both.
    async close(idleTimeout) {
      const deadline = performance.now() + STOP_TIMEOUT;
      await server.close(idleTimeout, deadline);
      await admin?.close(deadline);
    },
  };
}

/** A file of PEM, read once, since it may be rewritten meanwhile. Its name has setting and path, for messages. */
interface PemFile {
  readonly name: string;
  readonly text: string;
}

/** Reads and parses all files: with no authority in its file, Node would trust all that it knows. Errors name setting and file. */
async function readTls({ cert, key, clientCa }: NonNullable<Config['tls']>): Promise<SecureContextOptions> {
  const certFile = await pemFile('TLS_CERT', cert);
  const keyFile = await pemFile('TLS_KEY', key);
  const chain = certificates(certFile);
  const privateKey = privateKeyOf(keyFile);
  if (chain[0]?.checkPrivateKey(privateKey) !== true)
    throw new Error(`${keyFile.name} is not the key of the certificate in ${certFile.name}.`);
  const authorities = clientCa === undefined ? undefined : certificates(await pemFile('TLS_CLIENT_CA', clientCa));
  const context: SecureContextOptions = {
    cert: certFile.text,
    key: keyFile.text,
    minVersion: 'TLSv1.2',
    ...(authorities && { ca: authorities.map(String) }),
  };
  try {
    createSecureContext(context);
  } catch {
    throw new Error(
      `TLS cannot be used with ${certFile.name} and ${keyFile.name}. Most likely the key or the signature is too weak: ` +
        'RSA takes 2,048 bits, and SHA-1 is refused.',
    );
  }
  return context;
}

async function pemFile(setting: string, file: string): Promise<PemFile> {
  const name = `${setting} (${file})`;
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new Error(`${name} cannot be read: ${reasonOf(error)}.`);
  });
  // An ASN.1 sequence with a long length, as every DER and PFX file begins.
  if (bytes[0] === 0x30 && (bytes[1] ?? 0) > 0x80)
    throw new Error(
      `${name} is in DER or PFX, and must be in PEM. Convert PFX with: openssl pkcs12 -nodes -in FILE -out FILE.pem ` +
        `(certificate and key in one file, for TLS_CERT and TLS_KEY). Convert DER with: openssl ` +
        `${setting === 'TLS_KEY' ? 'pkey' : 'x509'} -inform DER -in FILE -out FILE.pem`,
    );
  return { name, text: bytes.toString() };
}

const CERTIFICATE = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

function certificates({ name, text }: PemFile): X509Certificate[] {
  const blocks = text.match(CERTIFICATE) ?? [];
  // A block that has only its beginning is of a file that is still being written.
  if (blocks.length === 0 || blocks.length !== text.match(/-----BEGIN [^-]*CERTIFICATE-----/g)?.length)
    throw new Error(`${name} has ${blocks.length === 0 ? 'no certificate' : 'a certificate that is cut off'}.`);
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    throw new Error(`${name} has a certificate that cannot be parsed.`);
  }
}

function privateKeyOf({ name, text }: PemFile): ReturnType<typeof createPrivateKey> {
  if (/ENCRYPTED/.test(text)) throw new Error(`${name} is encrypted. Give a key without a passphrase.`);
  if (!text.includes('PRIVATE KEY-----')) throw new Error(`${name} has no private key.`);
  try {
    return createPrivateKey(text);
  } catch {
    throw new Error(`${name} has a private key that cannot be parsed.`);
  }
}
