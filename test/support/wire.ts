import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';

/** The path of the endpoint, unless it is set. */
export const PATH = '/webhooks/Services/WebHooks.asmx';

/** The header of a request. */
export const request = (line: string, ...fields: readonly string[]): string =>
  `${[`${line} HTTP/1.1`, 'Host: localhost', ...fields].join('\r\n')}\r\n\r\n`;

const open = new Set<Socket>();

/** Closes the connections of a test that the service has not closed. */
export function destroyWires(): void {
  for (const socket of open) socket.destroy();
}

export type Wire = Awaited<ReturnType<typeof openWire>>;

/** Opens a connection on which a test writes and reads the bytes of HTTP itself. Takes any certificate over HTTPS. */
export async function openWire(url: string) {
  const { hostname, port, protocol } = new URL(url);
  const socket: Socket =
    protocol === 'https:'
      ? connectSecurely({ port: Number(port), host: hostname, rejectUnauthorized: false })
      : connect(Number(port), hostname);
  open.add(socket);
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    socket.emit('news');
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    open.delete(socket);
    socket.emit('news');
  });
  await once(socket, 'connect');
  return {
    socket,
    write(...parts: readonly (string | Uint8Array)[]): void {
      for (const part of parts) socket.write(part);
    },
    /** Resolves to all that came so far, as ISO-8859-1, once it matches; rejects if the peer closes before. */
    async until(pattern: RegExp): Promise<string> {
      while (!pattern.test(received)) {
        if (socket.closed) throw new Error(`the connection was closed after: ${received}`);
        await new Promise((resolve) => socket.once('news', resolve));
      }
      return received;
    },
    /** Resolves to all that came once the peer has closed the connection. */
    async untilClosed(): Promise<string> {
      if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
      return received;
    },
  };
}

/** Opens a connection to the host of a URL, without TLS. */
export async function openConnection(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  return socket;
}

/** Collects what comes on a connection until it is closed. */
export async function untilClosed(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  // A connection that is reset is closed too.
  socket.on('error', () => undefined);
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

/** Sends bytes as they are on a connection of their own and collects the answer until the other side closes it. */
export async function sendRaw(url: string, ...parts: readonly (string | Buffer)[]): Promise<string> {
  const wire = await openWire(url);
  wire.write(...parts);
  return wire.untilClosed();
}
