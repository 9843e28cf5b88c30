import { createServer, type AddressInfo } from 'node:net';

/**
 * Checks that workers can listen on an address, and picks the port if that is 0: with a port of their own choice, workers that
 * start after all others have ended would listen on another one. Resolves to the port.
 *
 * @throws the address is in use, or is not one of this machine.
 */
export function claimPort({ host, port }: { readonly host: string; readonly port: number }): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      const claimed = (server.address() as AddressInfo).port;
      server.close(() => {
        resolve(claimed);
      });
    });
  });
}
