import type { Socket } from 'node:net';
import { Connection } from './connection';
import type { Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import { Server as NetServer } from 'node:net';

/** How often during SEND_TIMEOUT the connections are looked at. */
const SWEEPS_PER_TIMEOUT = 4;

/**
 * The open connections of a server. Closes those whose peers do not take what they are sent: it looks at all of them now and
 * then, so that no request needs a timer of its own.
 */
export class Connections {
  readonly #open = new Set<Connection>();
  readonly #byHttpSocket = new WeakMap<Socket, Connection>();
  /** Connections in their TLS handshake, by the address and port of the peer. */
  readonly #handshakes = new Map<string, Connection>();
  readonly #sweep: NodeJS.Timeout;

  /**
   * @param sendTimeout - how long a peer may take for what it was sent, in milliseconds
   * @param closed - is called for each connection that is about to be closed because its peer took longer
   */
  constructor(sendTimeout: number, closed: (connection: Connection) => void) {
    this.#sweep = setInterval(() => {
      const now = Date.now();
      for (const connection of this.#open) {
        if (!connection.isStuck(now, sendTimeout)) continue;
        closed(connection);
        connection.destroy();
      }
    }, sendTimeout / SWEEPS_PER_TIMEOUT).unref();
  }

  /** How many connections are open. */
  get count(): number {
    return this.#open.size;
  }

  /** Adds a connection that was accepted. It carries HTTP from its {@link Connections.opened} on. */
  accepted(socket: Socket): Connection {
    const connection = new Connection(socket);
    const peer = peerOf(socket);
    this.#open.add(connection);
    this.#handshakes.set(peer, connection);
    socket.once('close', () => {
      this.#open.delete(connection);
      if (this.#handshakes.get(peer) === connection) this.#handshakes.delete(peer);
    });
    return connection;
  }

  /** From now on a socket carries HTTP: the accepted one, or the TLS socket on top of it. */
  opened(socket: Socket): void {
    const peer = peerOf(socket);
    const connection = this.#handshakes.get(peer) ?? new Connection(socket);
    this.#handshakes.delete(peer);
    this.#byHttpSocket.set(socket, connection);
    connection.open(socket);
  }

  /** The connection of a socket that carries HTTP; undefined: its TLS handshake is not over. */
  of(socket: Socket): Connection | undefined {
    return this.#byHttpSocket.get(socket);
  }

  /** Has the answers that are still to come say that their connections end with them. */
  announceEnd(): void {
    for (const connection of this.#open) connection.announceEnd();
  }

  /** Closes at once the connections on which no request has begun, or the last answer is sent. */
  destroyUnused(): void {
    for (const connection of this.#open) if (connection.isUnused) connection.destroy();
  }

  destroyAll(): void {
    for (const connection of this.#open) connection.destroy();
  }

  /** Ends the supervision. */
  stop(): void {
    clearInterval(this.#sweep);
  }
}

/** Node does not tell which accepted socket a TLS socket stands on; both have the same peer. */
function peerOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${String(remotePort)}`;
}

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
  const sweep = () => {
    if (performance.now() < sweepFrom) return;
    server.closeIdleConnections();
    connections.destroyUnused();
  };
  // The first sweep leaves one turn of the event loop to requests that have arrived.
  setImmediate(() => setImmediate(sweep));
  const sweeping = setInterval(sweep, SWEEP_INTERVAL);
  const end = setTimeout(() => {
    connections.destroyAll();
  }, deadline - performance.now());
  await closed;
  clearInterval(sweeping);
  clearTimeout(end);
  connections.stop();
}
