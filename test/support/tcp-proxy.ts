import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What a proxy does beside passing bytes on. */
interface TcpProxyOptions {
  /** Whether a connection loses all that follows an answer of the server, and stays open. */
  readonly mutes?: (answer: Buffer) => boolean;
  /** Breaks the connections when this many bytes of requests have been passed on, and refuses others from then on. */
  readonly cutAfter?: number;
}

/** Passes bytes on to a port of this machine, until it has to lose the answers. */
export async function startTcpProxy(target: number, { mutes, cutAfter = Infinity }: TcpProxyOptions = {}) {
  let passed = 0;
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
    inner.on('data', (chunk) => {
      if (passed + chunk.length <= cutAfter) outer.write(chunk);
      else outer.end(chunk.subarray(0, Math.max(0, cutAfter - passed)), () => inner.destroy());
      passed += chunk.length;
    });
    let isMute = false;
    outer.on('data', (chunk) => {
      if (lose !== undefined) lose();
      else if (!isMute) inner.write(chunk);
      isMute ||= mutes?.(chunk) === true;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    /** Loses answers. Resolves when the first is lost, then breaks the connections and passes everything on again. */
    loseAnswer: () =>
      new Promise<void>((resolve) => {
        lose = () => {
          lose = undefined;
          for (const socket of sockets) socket.destroy();
          resolve();
        };
      }),
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
