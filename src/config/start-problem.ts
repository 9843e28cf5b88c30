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
  const failed = (error ?? {}) as ListenError;
  const { code = '', syscall = '' } = failed;
  if (!/^(?:listen|bind|getaddrinfo)/.test(syscall)) return undefined;
  const { host, port, variables } = isAdmin(failed, config)
    ? { ...config.admin, variables: { host: 'ADMIN_HOST', port: 'ADMIN_PORT' } }
    : { host: config.host, port: config.port, variables: { host: 'HOST', port: 'PORT' } };
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${String(port)} on ${String(host)} is taken. Stop that program or set ${variables.port}.`;
    case 'EACCES':
    case 'EPERM':
      return (
        `The user ${userName()} may not listen on port ${String(port)} of ${String(host)}. ` +
        `Set ${variables.port} to 1024 or more, or give that user the right.`
      );
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'ENOTFOUND':
      return `${String(host)} is not an address of this machine. Set ${variables.host}.`;
    default:
      return `It is not possible to listen on port ${String(port)} of ${String(host)} (${code}). Set ${variables.host} or ${variables.port}.`;
  }
}

function isAdmin({ address, hostname, port }: ListenError, { host, port: publicPort, admin }: Config): boolean {
  if (admin === undefined) return false;
  if (port !== undefined && publicPort !== admin.port) return port === admin.port;
  const named = hostname ?? address;
  return named !== host && named === admin.host;
}
