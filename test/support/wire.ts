import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';

/** A connection on which a test writes and reads the bytes of HTTP itself. */
export interface Wire {
  readonly socket: Socket;
  write(...parts: readonly (string | Uint8Array)[]): void;
  /** Resolves to all that came so far, as ISO-8859-1, once it matches; rejects if the peer closes before. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves to all that came once the peer has closed the connection. */
  untilClosed(): Promise<string>;
}

const open = new Set<Socket>();

/** Closes the connections of a test that the service has not closed. */
export function destroyWires(): void {
  for (const socket of open) socket.destroy();
}

/** Connects to the host of a URL. Takes any certificate over HTTPS. */
export async function openWire(url: string): Promise<Wire> {
  const { hostname, port, protocol } = new URL(url);
  const socket: Socket =
    protocol === 'https:'
      ? connectSecurely({ port: Number(port), host: hostname, rejectUnauthorized: false })
      : connect(Number(port), hostname);
  open.add(socket);
  let received = '';
  let closed = false;
  const watchers = new Set<() => void>();
  const tell = (): void => {
    for (const watcher of watchers) watcher();
  };
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
    tell();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    closed = true;
    open.delete(socket);
    tell();
  });
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));

  const when = (done: () => boolean): Promise<string> =>
    new Promise((resolve, reject) => {
      const watch = (): void => {
        if (done()) resolve(received);
        else if (closed) reject(new Error(`the connection was closed after: ${received}`));
        else return;
        watchers.delete(watch);
      };
      watchers.add(watch);
      watch();
    });
  return {
    socket,
    write(...parts) {
      for (const part of parts) socket.write(part);
    },
    until: (pattern) => when(() => pattern.test(received)),
    untilClosed: () => when(() => closed),
  };
}
