import { once } from 'node:events';
import { createServer } from 'node:net';

/** Picks a port of the loopback address on which no program listens. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
