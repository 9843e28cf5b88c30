import type { Socket } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import { openConnection, untilClosed } from '../../support/raw';
import { send } from '../../support/http';
import { KEY, type Attack } from './attack';

const PATH = '/webhooks/Services/WebHooks.asmx';
const CONNECTIONS = 200;

/** Opens many connections at once, treats each of them badly, and tells what comes before the last is closed. */
function many(name: string, answer: RegExp, mistreat: (socket: Socket) => () => void): Attack {
  return {
    name: `${name}, ${String(CONNECTIONS)} connections`,
    answer,
    parallel: 0,
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

/** What the bombs become: more than any message may have. */
const BOMB = Buffer.alloc(10_000_000, 'x');
const GZIP_BOMB = gzipSync(BOMB);

/** Sends a compressed body up to its last bytes, which come one by one, and more slowly than they may. */
function slowBomb(name: string, coding: string, bytes: Buffer): Attack {
  const sent = bytes.length - 100;
  const head = `${HEAD}Content-Encoding: ${coding}\r\nContent-Length: ${String(bytes.length)}\r\n\r\n`;
  const first = Buffer.concat([Buffer.from(head), bytes.subarray(0, sent)]);
  return many(
    name,
    /^408 /,
    drip(first, (i) => bytes.subarray(sent + i, sent + i + 1)),
  );
}

/** Attacks with time: many connections that give or take next to nothing. They end by the service's time-outs. */
export const SLOW_ATTACKS: readonly Attack[] = [
  many(
    'slow headers',
    /^408 /,
    drip('GET / HTTP/1.1\r\n', () => 'X: y\r\n'),
  ),
  many(
    'slow bodies',
    /^408 /,
    drip(`${HEAD}Content-Length: 100000\r\n\r\n`, () => 'x'),
  ),
  many(
    'slow chunks',
    /^408 /,
    drip(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`, () => '1\r\nx\r\n'),
  ),
  slowBomb('slow bombs, gzip', 'gzip', GZIP_BOMB),
  slowBomb('slow bombs, deflate', 'deflate', deflateSync(BOMB)),
  many(
    'slow bombs, gzip in chunks',
    /^408 /,
    drip(`${HEAD}Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n`, (i) =>
      Buffer.concat([Buffer.from('1\r\n'), GZIP_BOMB.subarray(i, i + 1), Buffer.from('\r\n')]),
    ),
  ),
  many(
    'slow bodies that are not gzip',
    /^408 /,
    drip(`${HEAD}Content-Encoding: gzip\r\nContent-Length: 100000\r\n\r\n`, () => '\x1f'),
  ),
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
    parallel: 0,
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
    parallel: 0,
    async once(url) {
      for (let i = 0; i < 20; i++) {
        const sockets = await Promise.all(Array.from({ length: 100 }, () => openConnection(url)));
        for (const socket of sockets) socket.resetAndDestroy();
      }
      return String((await send(`${url}/HelloWorld`)).status);
    },
  },
];
