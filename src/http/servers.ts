import type { Config } from '../config/config';
import { localAuthority } from './callers';
import { withIndex, type AdminPages } from './admin';
import { stopDeadline } from './connection/connections';
import { noHandler, type Handler } from './reception';
import type { ServerObserver } from './reception';
import { HttpServer } from './server';
import { readTls } from './tls';

/** What the servers of one process answer. */
export interface ServersOptions {
  /** Answers what is not an admin page. */
  readonly handler: Handler;
  readonly observer: ServerObserver;
  readonly health: AdminPages;
  readonly publicMetrics: AdminPages;
  readonly adminMetrics: AdminPages;
}

/** The public server, and the one for the operator where it has an address of its own. */
export interface Servers {
  /** Scheme, host and port of the public address. */
  readonly url: string;
  readonly adminUrl: string | undefined;
  /** Open connections of the public server. */
  readonly connections: number;
  /** @throws the TLS files cannot be used; then the ones from before stay in use. */
  reloadTls(): Promise<void>;
  /** Finishes what is in flight and takes nothing new. */
  close(): Promise<void>;
  /** As {@link close}, where another process takes over the port. */
  handOver(): Promise<void>;
}

/**
 * Starts to listen.
 *
 * @throws an address is in use or not one of this machine, or a TLS file cannot be used.
 */
export async function startServers(config: Config, options: ServersOptions): Promise<Servers> {
  const { limits, host, tls } = config;
  const { handler, observer, health, publicMetrics, adminMetrics } = options;
  // Of several workers the supervisor has the metrics, and the operator's address with them.
  const isAlone = config.workers === 1;
  const adminAddress = isAlone ? config.admin : undefined;
  const server = new HttpServer(handler, {
    pages: isAlone && config.admin === undefined ? new Map([...health, ...publicMetrics]) : health,
    limits,
    observer,
    tls: tls && (await readTls(tls)),
  });
  const admin =
    adminAddress &&
    new HttpServer(noHandler, { pages: withIndex(new Map([...health, ...adminMetrics])), limits, observer });
  let port: number;
  let adminPort: number | undefined;
  try {
    // First the one on which nothing is answered but the operator.
    adminPort = adminAddress && (await admin?.listen(adminAddress));
    port = await server.listen(config);
  } catch (error) {
    await Promise.all([server.close(), admin?.close()]);
    throw error;
  }
  return {
    url: `${tls ? 'https' : 'http'}://${localAuthority(host, port)}`,
    adminUrl:
      adminAddress && adminPort !== undefined ? `http://${localAuthority(adminAddress.host, adminPort)}/` : undefined,
    get connections() {
      return server.connections;
    },
    async reloadTls() {
      if (tls) server.replaceTls(await readTls(tls));
    },
    // The admin pages answer until the last call has: `/readyz` says that the service is stopping. One deadline for both.
    async close() {
      const deadline = stopDeadline();
      await server.close(deadline);
      await admin?.close(deadline);
    },
    async handOver() {
      const deadline = stopDeadline();
      await server.handOver(deadline);
      await admin?.close(deadline);
    },
  };
}
