import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

const endings: (() => void)[] = [];
export function closeServers(): void {
  for (const end of endings.splice(0)) end();
}
afterEach(closeServers);

async function urlOf(server: Server): Promise<URL> {
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => sockets.push(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  endings.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return new URL(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`);
}

/** Serves HTTP until the end of the test; resolves to the address. */
export const serving = (answer: RequestListener) => urlOf(createHttpServer(answer));

/** Serves what a function does with each connection, until the end of the test; resolves to the address. */
export const servingBytes = (connected: (socket: Socket) => void) => urlOf(createServer(connected));
