import type { Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import { Server as NetServer, type Socket } from 'node:net';
import { Connection } from './connection';

/** How often during SEND_TIMEOUT the connections are checked. */
const SWEEPS_PER_TIMEOUT = 4;

/**
 * The open connections of a server. Closes those whose peers do not take what they are sent: one timer checks all of them, so
 * that no request needs its own.
 */
export class Connections {
  readonly #all = new Set<Connection>();
  readonly #byHttpSocket = new WeakMap<Socket, Connection>();
  /** Connections in their TLS handshake, by the address and port of the peer. */
  readonly #handshakes = new Map<string, Connection>();
  readonly #sweep: NodeJS.Timeout;

  /**
   * @param sendTimeout - how long a peer may take for what it was sent, in milliseconds
   * @param closed - called for each connection that is about to be closed because its peer took longer
   */
  constructor(sendTimeout: number, closed: (connection: Connection) => void) {
    this.#sweep = setInterval(() => {
      const now = performance.now();
      for (const connection of this.#all) {
        if (!connection.isStuck(now, sendTimeout)) continue;
        closed(connection);
        connection.destroy();
      }
    }, sendTimeout / SWEEPS_PER_TIMEOUT).unref();
  }

  /** How many connections are open. */
  get count(): number {
    return this.#all.size;
  }

  /** Adds an accepted connection that carries HTTP. */
  accepted(socket: Socket): void {
    this.#open(this.#add(socket), socket);
  }

  /** Adds an accepted connection that carries HTTP once TLS is agreed: {@link Connections.secured}. */
  handshaking(socket: Socket): void {
    const connection = this.#add(socket);
    const peer = peerOf(socket);
    if (peer === undefined) {
      socket.destroy();
      return;
    }
    this.#handshakes.set(peer, connection);
    socket.once('close', () => {
      if (this.#handshakes.get(peer) === connection) this.#handshakes.delete(peer);
    });
  }

  /** Carries HTTP over a TLS socket. Closes the socket of a peer that has reset its connection, since nothing else would. */
  secured(socket: Socket): void {
    const peer = peerOf(socket) ?? '';
    const connection = this.#handshakes.get(peer);
    if (connection === undefined) {
      socket.destroy();
      return;
    }
    this.#handshakes.delete(peer);
    this.#open(connection, socket);
  }

  #add(socket: Socket): Connection {
    const connection = new Connection(socket);
    this.#all.add(connection);
    socket.once('close', () => this.#all.delete(connection));
    return connection;
  }

  #open(connection: Connection, socket: Socket): void {
    this.#byHttpSocket.set(socket, connection);
    connection.open(socket);
  }

  /** The connection of a socket that carries HTTP; undefined before and without that. */
  of(socket: Socket): Connection | undefined {
    return this.#byHttpSocket.get(socket);
  }

  /** Has the answers that are still to come say that their connections end with them. */
  announceEnd(): void {
    for (const connection of this.#all) connection.announceEnd();
  }

  /** Closes at once the connections on which no request has begun, or the last answer is sent. */
  destroyUnused(): void {
    for (const connection of this.#all) if (connection.isUnused) connection.destroy();
  }

  destroyAll(): void {
    for (const connection of this.#all) connection.destroy();
  }

  /** Ends the supervision. */
  stop(): void {
    clearInterval(this.#sweep);
  }
}

/** Node does not tell which accepted socket a TLS socket stands on; both have the same peer, as long as it has not gone. */
function peerOf({ remoteAddress, remotePort }: Socket): string | undefined {
  return remoteAddress === undefined ? undefined : `${remoteAddress} ${String(remotePort)}`;
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
    // http.Server would close idle connections at once. Calls back also where it did not listen.
    NetServer.prototype.close.call(server, () => {
      resolve();
    });
  });
  const sweep = () => {
    if (performance.now() < sweepFrom) return;
    server.closeIdleConnections();
    connections.destroyUnused();
  };
  // At once, but for one turn of the event loop for requests that have arrived. A caller that has only just connected is about
  // to send one, and gets until the next sweep.
  if (sweepFrom <= performance.now()) setImmediate(() => setImmediate(() => server.closeIdleConnections()));
  const sweeping = setInterval(sweep, SWEEP_INTERVAL);
  const end = setTimeout(() => {
    connections.destroyAll();
  }, deadline - performance.now());
  await closed;
  clearInterval(sweeping);
  clearTimeout(end);
  connections.stop();
  // Ends the interval in which Node looks for slow requests; nothing is left to close.
  server.close();
}

/** The length of a turn in milliseconds, as long as there are both connections and calls. */
const SLICE = 100;

/** Deferred calls made in one iteration of the event loop: all at once, they would be more than may be in flight. */
const CALLS_AT_ONCE = 64;

/**
 * Makes calls and new connections take turns. Node accepts one connection in each iteration of its event loop
 * (https://github.com/libuv/libuv/pull/3696), and an iteration takes as long as the calls in it: the last of a thousand
 * connections that arrive at once would wait for seconds. So calls are deferred while connections arrive, for up to 100 ms at a
 * time.
 */
export class AcceptTurns {
  #accepted = 0;
  #areConnections = false;
  #waiting: (() => void)[] = [];

  /** Whether connections have their turn. Calls then wait: {@link AcceptTurns.defer}. */
  get areConnections(): boolean {
    return this.#areConnections;
  }

  /** Notes that a connection was accepted. */
  accepted(): void {
    this.#accepted++;
    if (this.#areConnections) return;
    this.#areConnections = true;
    this.#letIn(performance.now() + SLICE);
  }

  /** Makes a call once connections have had their turn or no more arrive, in the order of the calls. */
  defer(call: () => void): void {
    this.#waiting.push(call);
  }

  /** Accepts connections until then, or until two iterations of the event loop bring none. */
  #letIn(until: number): void {
    const before = this.#accepted;
    setImmediate(() => {
      setImmediate(() => {
        const now = performance.now();
        if (this.#accepted > before && now < until) this.#letIn(until);
        else this.#makeCalls(now + SLICE);
      });
    });
  }

  /** Makes the calls that were deferred, and those that arrive meanwhile. */
  #makeCalls(until: number): void {
    const before = this.#accepted;
    for (const call of this.#waiting.splice(0, CALLS_AT_ONCE)) call();
    // A call that arrives meanwhile is made after those before it.
    this.#areConnections = this.#waiting.length > 0;
    if (!this.#areConnections) return;
    setImmediate(() => {
      const now = performance.now();
      if (this.#accepted > before && now >= until) this.#letIn(now + SLICE);
      else this.#makeCalls(until);
    });
  }
}
