import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Passes bytes on to a port of this machine, until it is told to lose the answers. */
export interface TcpProxy {
  readonly port: number;
  /** From now on answers are lost; resolves when the first was, and then breaks the connections and passes all on again. */
  loseAnswer(): Promise<void>;
  close(): Promise<void>;
}

export async function startTcpProxy(target: number): Promise<TcpProxy> {
  let lose: (() => void) | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((inner) => {
    const outer = connect(target, '127.0.0.1');
    for (const [socket, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    inner.on('data', (chunk) => outer.write(chunk));
    outer.on('data', (chunk) => {
      if (lose === undefined) inner.write(chunk);
      else lose();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    loseAnswer: () =>
      new Promise((resolve) => {
        lose = () => {
          lose = undefined;
          for (const socket of sockets) socket.destroy();
          resolve();
        };
      }),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
