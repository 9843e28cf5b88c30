import { EventLogError } from '../log/engine';
import { userName } from '../util/reason';
import type { Config } from './config';

/** An error of the system about an address to listen on. */
type ListenError = NodeJS.ErrnoException & {
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
};

/**
 * Says what keeps the service from starting, and what to do about it.
 *
 * @returns undefined if the error says it best.
 */
export async function startProblem(error: unknown, config: Config): Promise<string | undefined> {
  return listenProblem(error, config) ?? (error instanceof EventLogError ? config.eventLog.problem?.() : undefined);
}

/**
 * Says what keeps the service from listening: the address and the variable that sets it.
 *
 * @returns undefined for another error.
 */
export function listenProblem(error: unknown, config: Config): string | undefined {
  const { code = '', syscall = '', address, hostname = address, port } = (error ?? {}) as ListenError;
  if (!/^(?:listen|bind|getaddrinfo)/.test(syscall)) return undefined;
  const { admin } = config;
  const isOther = port === undefined || config.port === admin?.port ? hostname !== config.host : port !== config.port;
  const [failed, prefix] = admin !== undefined && isOther ? [admin, 'ADMIN_'] : [config, ''];
  const where = `port ${String(failed.port)} of ${failed.host}`;
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${String(failed.port)} on ${failed.host} is taken. Stop that program or set ${prefix}PORT.`;
    case 'EACCES':
    case 'EPERM':
      return (
        `The user ${userName()} may not listen on ${where}. ` +
        `Set ${prefix}PORT to 1024 or more, or give that user the right.`
      );
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'ENOTFOUND':
      return `${failed.host} is not an address of this machine. Set ${prefix}HOST.`;
    default:
      return `It is not possible to listen on ${where} (${code}). Set ${prefix}HOST or ${prefix}PORT.`;
  }
}
