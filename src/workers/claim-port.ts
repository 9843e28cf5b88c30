import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * Checks that workers can listen on an address, and picks the port if that is 0: with a port of their own choice, workers that
 * start after all others have ended would listen on another one. Resolves to the port. One that was picked is kept for as long
 * as this process runs: a program that asks the system for any free port gets another one.
 *
 * @throws the address is in use, or is not one of this machine.
 */
export async function claimPort({ host, port }: { readonly host: string; readonly port: number }): Promise<number> {
  const server = createServer();
  server.listen({ host, port, exclusive: true });
  await once(server, 'listening');
  const claimed = (server.address() as AddressInfo).port;
  if (port === 0) await keepInUse(server, { host, port: claimed });
  // It stops listening at once; it emits `close` only when the connection, too, has ended.
  server.close();
  return claimed;
}

/** Keeps a port in use with a connection to itself. Workers can listen there all the same: they ask for this very port. */
function keepInUse(server: Server, address: { readonly host: string; readonly port: number }): Promise<void> {
  return new Promise((resolve) => {
    const keep = (socket: Socket) => socket.on('error', () => undefined).unref();
    server.once('connection', (far: Socket) => {
      keep(far);
      resolve();
    });
    // Without it the workers start as well, unless another program is given the port before they listen.
    keep(connect(address)).once('error', () => {
      resolve();
    });
  });
}
