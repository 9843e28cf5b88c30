import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { TlsFiles } from '../config/config';

/**
 * Reads certificate and key of a TLS server, which does not speak TLS 1.0 and 1.1 (RFC 8996).
 *
 * @throws a file cannot be read, or certificate and key do not belong together.
 */
export async function readTls({ cert, key, clientCa }: TlsFiles): Promise<SecureContextOptions> {
  const context: SecureContextOptions = {
    cert: await pem(cert),
    key: await pem(key),
    minVersion: 'TLSv1.2',
    ...(clientCa === undefined ? {} : { ca: await pem(clientCa) }),
  };
  try {
    createSecureContext(context);
  } catch (cause) {
    throw new Error('The TLS certificate and key cannot be used.', { cause });
  }
  return context;
}

async function pem(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new Error(`The TLS file ${file} cannot be read.`, { cause });
  }
}
