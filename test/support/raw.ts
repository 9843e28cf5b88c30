import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Opens a connection to the host of a URL. */
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
  await new Promise<void>((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', resolve);
  });
  return text;
}

/** Sends bytes as they are on a connection of their own and collects the answer until the other side closes it. */
export async function sendRaw(url: string, ...parts: readonly (string | Buffer)[]): Promise<string> {
  const socket = await openConnection(url);
  const answer = untilClosed(socket);
  for (const part of parts) socket.write(part);
  return answer;
}
