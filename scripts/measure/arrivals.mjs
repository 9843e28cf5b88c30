// Opens many connections at once, each of which calls again and again: how long do they wait to be let in?
import { once } from 'node:events';
import { connect } from 'node:net';

const now = () => performance.timeOrigin + performance.now();

/**
 * Opens so many connections to a server that was started with `first-requests.cjs`, and calls until each has had its first
 * answer. Resolves to the milliseconds from the writing of each first request to its being taken up, in order.
 */
export async function waitsToBeLetIn(server, { method, path, headers, body }, connections) {
  const { hostname, port, host, pathname } = new URL(server.url);
  const fields = Object.entries({ Host: host, 'Content-Length': Buffer.byteLength(body), ...headers });
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const request = Buffer.from(`${method} ${pathname}${path} HTTP/1.1\r\n${head}\r\n${body}`);
  await firstRequests(server);
  const written = new Map();
  const sockets = [];
  const answered = Array.from({ length: connections }, async () => {
    const socket = connect(port, hostname);
    sockets.push(socket);
    socket.on('connect', () => {
      written.set(socket.localPort, now());
      socket.write(request);
    });
    await once(socket, 'data');
    socket.on('data', () => socket.write(request));
    socket.write(request);
  });
  await Promise.all(answered);
  for (const socket of sockets) socket.destroy();
  const taken = await firstRequests(server);
  const waits = taken.filter(([from]) => written.has(from)).map(([from, time]) => time - written.get(from));
  if (waits.length !== connections) throw new Error(`${waits.length} of ${connections} connections were let in.`);
  return waits.sort((one, other) => one - other);
}

async function firstRequests({ child }) {
  child.send('first-requests');
  const [taken] = await once(child, 'message');
  return taken;
}
