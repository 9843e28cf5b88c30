import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import type { CommandLineAnswer } from '../config/command-line';
import type { Config } from '../config/config';
import { authority } from '../http/address/authority';
import { shortened } from '../util/shortened';

/** How long the service may take to answer, in milliseconds. */
const TIMEOUT = 5000;

/**
 * Asks the service that runs with this configuration on this machine for `/readyz`, at its operator's address where it has
 * one. Its exit code is 0 if the service is ready, otherwise 1; the text says why it is not.
 */
export async function askReadiness(config: Config): Promise<CommandLineAnswer> {
  const { admin, host, port, tls } = config;
  const isSecure = admin === undefined && tls !== undefined;
  const address = authority(reachable(admin?.host ?? host), admin?.port ?? port);
  const url = `${isSecure ? 'https' : 'http'}://${address}/readyz`;
  try {
    const { status, body } = await get(url, isSecure);
    return { text: shortened(body.trimEnd()), exitCode: status === 200 ? 0 : 1 };
  } catch (error) {
    return { text: `${url} does not answer: ${(error as Error).message}`, exitCode: 1 };
  }
}

/** The address at which this machine reaches a server that listens on `host`. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

function get(url: string, isSecure: boolean): Promise<{ readonly status: number | undefined; readonly body: string }> {
  return new Promise((resolve, reject) => {
    // The certificate has the name that callers use; this is the same machine, and nothing secret is sent.
    const options = { agent: false, timeout: TIMEOUT, rejectUnauthorized: false };
    const request = (isSecure ? httpsRequest : httpRequest)(url, options, (response) => {
      text(response).then((body) => {
        resolve({ status: response.statusCode, body });
      }, reject);
    });
    request.on('timeout', () => {
      request.destroy(new Error(`no answer in ${String(TIMEOUT / 1000)} s`));
    });
    request.on('error', reject);
    request.end();
  });
}
