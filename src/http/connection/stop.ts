import type { Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import { Server as NetServer } from 'node:net';
import type { Connections } from './connections';

/** How long calls in flight may take to finish when the service stops, in milliseconds. */
const STOP_TIMEOUT = 10_000;

/** How often connections without a call are looked for while a server stops, in milliseconds. */
const SWEEP_INTERVAL = 50;

/** The latest time at which a stop that begins now has ended, in the time of `performance.now()`. */
export function stopDeadline(): number {
  return performance.now() + STOP_TIMEOUT;
}

/**
 * Stops accepting connections. Those without a call are ended from `sweepFrom` on, all others at the deadline, both in the
 * time of `performance.now()`. Resolves when no connection is open.
 */
export async function stopListening(
  server: Server | TlsServer,
  connections: Connections,
  sweepFrom: number,
  deadline: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    // http.Server would close idle connections at once.
    NetServer.prototype.close.call(server, () => {
      resolve();
    });
  });
  const sweep = setInterval(() => {
    if (performance.now() < sweepFrom) return;
    server.closeIdleConnections();
    connections.destroyUnused();
  }, SWEEP_INTERVAL);
  const end = setTimeout(() => {
    connections.destroyAll();
  }, deadline - performance.now());
  await closed;
  clearInterval(sweep);
  clearTimeout(end);
  connections.stop();
}
