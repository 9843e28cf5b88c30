import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of which at most this many bytes are unread keep their connection: the bytes are read and dropped. */
const MAX_DROPPED = 65_536;

/** How many bytes of a larger request are read and dropped, so that a sender that only writes gets to read the answer. */
const MAX_DISCARDED = 4 * 1024 * 1024;

/** How long a peer may take to read the last answer and to close its side, in milliseconds. */
const LINGER = 1000;

/** Whether so much of a request may still arrive that its connection is better closed than kept. */
export function hasMuchToCome({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  const length = headers['content-length'];
  return length === undefined ? headers['transfer-encoding'] !== undefined : Number(length) > MAX_DROPPED;
}

/**
 * Makes the connection of an answered request close without reading the rest of the request. Bytes that are unread when a
 * socket is closed make it reset the connection, and the peer may lose the answer: so a little more is read, and the socket
 * is closed in two steps (RFC 9112, section 9.6).
 */
export function stopReading(request: IncomingMessage): void {
  let left = MAX_DISCARDED;
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.pause();
  });
  request.on('error', () => undefined);
  // Node would otherwise drop all of it once the answer is sent.
  request.resume().read(0);
  request.socket.destroySoon = () => {
    closeInSteps(request.socket);
  };
}

/** Ends the sending side of a socket after what was written to it, and closes it when its peer has had time to read that. */
export function closeInSteps(socket: Socket): void {
  socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER).unref();
  socket.once('close', () => {
    clearTimeout(timer);
  });
}
