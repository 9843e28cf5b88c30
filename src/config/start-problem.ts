import { reasonOf } from '../util/text';
import type { Config } from './config';

/** An error of the system about an address to listen on. */
type ListenError = Partial<NodeJS.ErrnoException & Record<'address' | 'hostname', string> & { port: number }>;

/** Names the address that the service cannot listen on, and the variables that set it; undefined for another error. */
export function listenProblem(error: unknown, config: Config): string | undefined {
  const { syscall = '', address, hostname = address, port } = (error ?? {}) as ListenError;
  if (!/^(?:listen|bind|getaddrinfo)/.test(syscall)) return undefined;
  const { admin } = config;
  const isOther = port === undefined || config.port === admin?.port ? hostname !== config.host : port !== config.port;
  const [failed, prefix] = admin !== undefined && isOther ? [admin, 'ADMIN_'] : [config, ''];
  const where = `${failed.host} at port ${String(failed.port)}`;
  return `${where} cannot be used: ${reasonOf(error)}. Set ${prefix}PORT or ${prefix}HOST.`;
}
