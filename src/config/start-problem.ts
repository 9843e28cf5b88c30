import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { reasonOf, userName } from '../util/reason';
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
  const isLogError = error instanceof Error && error.name === 'EventLogError';
  return listenProblem(error, config) ?? (isLogError ? await logProblem(config) : undefined);
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
      return `${String(host)} is not an address of this machine. Set ${variables.host}.`;
    case 'EAFNOSUPPORT':
      return `This machine has no addresses of the kind of ${String(host)}. Set ${variables.host}.`;
    default:
      if (code === 'ENOTFOUND' || code.startsWith('EAI_'))
        return `No host ${String(host)} is known. Set ${variables.host}.`;
      return `It is not possible to listen on port ${String(port)} of ${String(host)} (${code}). Set ${variables.host} or ${variables.port}.`;
  }
}

function isAdmin({ address, hostname, port }: ListenError, { host, port: publicPort, admin }: Config): boolean {
  if (admin === undefined) return false;
  if (port !== undefined && publicPort !== admin.port) return port === admin.port;
  const named = hostname ?? address;
  return named !== host && named === admin.host;
}

/**
 * Says what keeps this process from opening the event log in a file, to read it or to write it too.
 *
 * @returns undefined if it is no error of the file system.
 */
export async function logProblem({ eventLog }: Config, to: 'read' | 'write' = 'write'): Promise<string | undefined> {
  if (eventLog.engine !== 'sqlite') return undefined;
  const { file } = eventLog;
  const problem = await fileAccessProblem(file, to);
  return problem && `The event log ${file} cannot be opened: ${problem}`;
}

async function fileAccessProblem(file: string, to: 'read' | 'write'): Promise<string | undefined> {
  const set = 'Set EVENT_LOG to sqlite: and the path of a file.';
  const found = await stat(file).catch((error: unknown) => error as NodeJS.ErrnoException);
  if ('isDirectory' in found) {
    if (found.isDirectory()) return `it is a folder. ${set}`;
    if (to === 'read') return readProblem(file);
    return (await writeProblem(file, 'it')) ?? (await writeProblem(dirname(file), `its folder ${dirname(file)}`));
  }
  if (found.code !== 'ENOENT') return `${reasonOf(found)}. ${set}`;
  const folder = await nearestFolder(dirname(file));
  return writeProblem(folder, `the folder ${folder}`);
}

async function readProblem(file: string): Promise<string | undefined> {
  return access(file, constants.R_OK).then(
    () => undefined,
    (error: unknown) => `${reasonOf(error)} to read it. Run this as the user of the service.`,
  );
}

async function writeProblem(path: string, what: string): Promise<string | undefined> {
  try {
    await access(path, constants.R_OK | constants.W_OK);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EROFS') return `${what} is on a file system that cannot be written. Set EVENT_LOG.`;
    return `${what} cannot be written by the user ${userName()}. Give that user the right, or set EVENT_LOG.`;
  }
}

/** The folder, or the one nearest above it that exists. */
async function nearestFolder(folder: string): Promise<string> {
  const above = dirname(folder);
  if (above === folder) return folder;
  return stat(folder).then(
    () => folder,
    () => nearestFolder(above),
  );
}
