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

export type Wire = ReturnType<typeof wireOn>;

/** Opens a connection on which a test writes and reads the bytes of HTTP itself. Takes any certificate over HTTPS. */
export async function openWire(url: string): Promise<Wire> {
  const { hostname, port, protocol } = new URL(url);
  const wire = wireOn(
    protocol === 'https:'
      ? connectSecurely({ port: Number(port), host: hostname, rejectUnauthorized: false })
      : connect(Number(port), hostname),
  );
  await once(wire.socket, 'connect');
  return wire;
}

/** As {@link openWire}, on a connection that a test has begun. */
export function wireOn(socket: Socket) {
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

/** Sends bytes as they are on a connection of their own and collects the answer until the other side closes it. */
export async function sendRaw(url: string, ...parts: readonly (string | Buffer)[]): Promise<string> {
  const wire = await openWire(url);
  wire.write(...parts);
  return wire.untilClosed();
}
