import type { Socket } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import { openConnection, untilClosed } from '../../support/wire';
import { send } from '../../support/http';
import { KEY, type Attack } from './attack';

const PATH = '/webhooks/Services/WebHooks.asmx';
const CONNECTIONS = 200;

/** Opens many connections at once, treats each of them badly, and tells what comes before the last is closed. */
function many(name: string, answer: RegExp, mistreat: (socket: Socket) => () => void): Attack {
  return {
    name: `${name}, ${String(CONNECTIONS)} connections`,
    answer,
    async once(url) {
      const each = async (): Promise<string> => {
        const socket = await openConnection(url);
        const closed = untilClosed(socket);
        const stop = mistreat(socket);
        const text = await closed;
        stop();
        return /^HTTP\/1\.1 (\d{3}[^\r]*)/.exec(text)?.[1] ?? 'closed';
      };
      const answers = await Promise.all(Array.from({ length: CONNECTIONS }, each));
      return [...new Set(answers)].join(', ');
    },
  };
}

/** Writes one part, and then something small again and again. */
const drip = (first: string | Buffer, again: (i: number) => string | Buffer) => (socket: Socket) => {
  socket.write(first);
  let i = 0;
  const timer = setInterval(() => {
    if (socket.writable) socket.write(again(i++));
  }, 100);
  return () => {
    clearInterval(timer);
  };
};
const nothing = (): void => undefined;

const HEAD = `POST ${PATH}/RecordEvent HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${KEY}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked';

/** Sends one part, and then something small again and again, more slowly than it may. */
const slow = (name: string, field: string, again: (i: number) => string | Buffer, first: string | Buffer = '') =>
  many(name, /^408 /, drip(Buffer.concat([Buffer.from(`${HEAD}${field}\r\n\r\n`), Buffer.from(first)]), again));

/** Sends a compressed body up to its last bytes, which come one by one. What it becomes is more than any message may have. */
function slowBomb(coding: string, bytes: Buffer): Attack {
  const sent = bytes.length - 100;
  const field = `Content-Encoding: ${coding}\r\nContent-Length: ${String(bytes.length)}`;
  const again = (i: number) => bytes.subarray(sent + i, sent + i + 1);
  return slow(`slow bombs, ${coding}`, field, again, bytes.subarray(0, sent));
}

const BOMB = Buffer.alloc(10_000_000, 'x');
const GZIP_BOMB = gzipSync(BOMB);
const chunk = (i: number) => Buffer.from(`1\r\n${String.fromCharCode(GZIP_BOMB[i] ?? 0)}\r\n`, 'latin1');

/** Attacks with time: many connections that give or take next to nothing. They end by the service's time-outs. */
export const SLOW_ATTACKS: readonly Attack[] = [
  many(
    'slow headers',
    /^408 /,
    drip('GET / HTTP/1.1\r\n', () => 'X: y\r\n'),
  ),
  slow('slow bodies', 'Content-Length: 100000', () => 'x'),
  slow('slow chunks', CHUNKED, () => '1\r\nx\r\n'),
  slowBomb('gzip', GZIP_BOMB),
  slowBomb('deflate', deflateSync(BOMB)),
  slow('slow bombs, gzip in chunks', `Content-Encoding: gzip\r\n${CHUNKED}`, chunk),
  slow('slow bodies that are not gzip', 'Content-Encoding: gzip\r\nContent-Length: 100000', () => '\x1f'),
  many('nothing sent', /^408 /, () => nothing),
  many('half-open', /^closed$|^408 |^400 /, (socket) => {
    socket.write(`${HEAD}Content-Length: 10\r\n\r\nx`);
    socket.end();
    return nothing;
  }),
  many('slow readers', /^closed$|^200 /, (socket) => {
    // Far more answers are asked for than the buffers of the system hold.
    socket.pause();
    socket.write(`GET ${PATH} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(2000));
    // When the time-out is long over, what was sent before is looked at, and the end of the connection seen.
    const timer = setTimeout(() => socket.resume(), 5000);
    return () => {
      clearTimeout(timer);
    };
  }),
  {
    name: 'large bodies that stop short, 100 connections',
    answer: /503/,
    async once(url) {
      const body = Buffer.alloc(4_000_000, 'x');
      const each = async (): Promise<string> => {
        const socket = await openConnection(url);
        const closed = untilClosed(socket);
        socket.write(`${HEAD}Content-Length: 4000001\r\n\r\n`);
        socket.write(body);
        return /^HTTP\/1\.1 (\d{3})/.exec(await closed)?.[1] ?? 'closed';
      };
      const answers = await Promise.all(Array.from({ length: 100 }, each));
      return [...new Set(answers)].sort().join(', ');
    },
  },
  {
    name: 'connections opened and reset, 2,000',
    answer: /^200$/,
    async once(url) {
      for (let i = 0; i < 20; i++) {
        const sockets = await Promise.all(Array.from({ length: 100 }, () => openConnection(url)));
        for (const socket of sockets) socket.resetAndDestroy();
      }
      return String((await send(`${url}/HelloWorld`)).status);
    },
  },
];
