import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { TlsFiles } from '../config/config';
import { reasonOf } from '../util/reason';

type TlsSetting = 'TLS_CERT' | 'TLS_KEY' | 'TLS_CLIENT_CA';

/** A file of PEM, read once: it may be in the middle of being rewritten. */
interface PemFile {
  /** The setting and the file, for messages. */
  readonly name: string;
  readonly text: string;
}

/**
 * Reads certificate, key and client authorities of a TLS server, which does not speak TLS 1.0 and 1.1 (RFC 8996). All of them
 * are parsed here: where a file of authorities is empty, Node would trust every one that it knows.
 *
 * @throws a file cannot be read or used, or certificate and key do not belong together. The message names setting and file.
 */
export async function readTls({ cert, key, clientCa }: TlsFiles): Promise<SecureContextOptions> {
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
  } catch (cause) {
    throw new Error(`TLS cannot be used with ${certFile.name} and ${keyFile.name}.`, { cause });
  }
  return context;
}

async function pemFile(setting: TlsSetting, file: string): Promise<PemFile> {
  const name = `${setting} (${file})`;
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new Error(`${name} cannot be read: ${reasonOf(error)}.`);
  });
  return { name, text };
}

const CERTIFICATE = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

function certificates({ name, text }: PemFile): X509Certificate[] {
  const blocks = text.match(CERTIFICATE) ?? [];
  // A block that has only its beginning is of a file that is still being written.
  if (blocks.length === 0 || blocks.length !== text.match(/-----BEGIN [^-]*CERTIFICATE-----/g)?.length)
    throw new Error(`${name} has ${blocks.length === 0 ? 'no certificate' : 'a certificate that is cut off'}.`);
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (cause) {
    throw new Error(`${name} has a certificate that cannot be parsed.`, { cause });
  }
}

function privateKeyOf({ name, text }: PemFile): ReturnType<typeof createPrivateKey> {
  if (/ENCRYPTED/.test(text)) throw new Error(`${name} is encrypted. Give a key without a passphrase.`);
  if (!text.includes('PRIVATE KEY-----')) throw new Error(`${name} has no private key.`);
  try {
    return createPrivateKey(text);
  } catch (cause) {
    throw new Error(`${name} has a private key that cannot be parsed.`, { cause });
  }
}
