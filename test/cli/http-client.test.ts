import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { HttpClient, type HttpAnswer, type Reach } from '../../src/cli/http-client';
import { eventually } from '../support/eventually';
import { startTarget, type Reaction, type Target } from '../support/target';
import { servingBytes } from './serving';

describe('the HTTP client of the tool', () => {
  const ended: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ended.splice(0)) await end();
  });

  const startServer = async (react?: () => Reaction): Promise<Target> => {
    const server = await startTarget(react);
    ended.push(() => server.close());
    return server;
  };
  /** Serves what a function writes to each socket once it has a request. */
  const startSocketServer = async (write: (socket: Socket) => unknown): Promise<string> => {
    const { origin } = await servingBytes((socket) => void socket.once('data', () => write(socket)));
    return origin;
  };
  const clientOf = (options: Partial<Reach> = {}): HttpClient => new HttpClient({ timeout: 5000, ...options });
  const post = (client: HttpClient, url: string, body = 'x') =>
    client.send(new URL(url), { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body });
  const ask = (client: HttpClient, url: string) => client.ask(new URL(url), { method: 'GET' });
  /** That there is no answer, and why. */
  const none = (message: unknown) => expect.objectContaining({ name: 'NoAnswerError', message }) as unknown;

  it.each(['101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket', '099 Odd\r\nContent-Length: 0'])(
    'takes no answer with a status below 200 for one: %j',
    async (answer) => {
      const url = await startSocketServer((socket) => socket.write(`HTTP/1.1 ${answer}\r\n\r\n`));
      const status = answer.slice(0, 3);
      expect(await post(clientOf(), url)).toEqual(none(`its answer has the status ${status}, not one from 200 on`));
    },
  );

  it.each(['end', 'resetAndDestroy'] as const)('survives a connection that ends unread (%s)', async (ends) => {
    let socket: Socket | undefined;
    const url = await startSocketServer((opened) => {
      socket = opened;
      socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 999999\r\n\r\nbegin');
    });
    const { body } = await clientOf().open(new URL(url), { method: 'GET' }, new AbortController().signal, 0);
    const reading = (async () => {
      for await (const chunk of body) {
        expect(String(chunk)).toBe('begin');
        socket?.write('x'.repeat(65_536));
        await eventually('the rest waits', () => body.readableLength >= 65_536);
        socket?.[ends]();
        await once(socket as Socket, 'close');
      }
    })();
    await expect(reading).rejects.toThrow('aborted');
  });

  it('waits as long for a reader as that needs, and for the sender no longer than it may be silent', async () => {
    const url = await startSocketServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n${'x'.repeat(200_000)}`);
    });
    const { body } = await clientOf().open(new URL(url), { method: 'GET' }, new AbortController().signal, 100);
    await delay(300);
    await expect(body.forEach(() => undefined)).rejects.toThrow('no answer in time');
  });

  it('reads no more of a body than its limit, and loses the connection then', async () => {
    const server = await startServer(() => ({ status: 200, body: 'x'.repeat(10_000_000) }));
    const client = clientOf();
    for (let i = 1; i < 3; i++) {
      const answer = await post(client, server.url);
      expect(answer).toMatchObject({ status: 200, cutOff: 'the answer is longer than 4096 KiB' });
      expect((answer as HttpAnswer).body.length).toBeLessThan(5_000_000);
      expect(server.connections()).toBe(i);
    }
    expect(await ask(client, server.url)).toEqual(none('the answer is longer than 4096 KiB'));
  });

  describe('with a proxy in the environment', () => {
    afterEach(() => {
      for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']) Reflect.deleteProperty(process.env, name);
    });

    it('asks it, but not for this machine, nor for what NO_PROXY names', async () => {
      const proxy = await startServer(() => ({ status: 200, body: 'proxied' }));
      process.env.HTTP_PROXY = proxy.url.replace('//', '//us%40er:pass@');
      process.env.NO_PROXY = 'direct.invalid';
      const url = 'http://target.invalid:8080/a?b=c';
      expect(await ask(clientOf(), url.replace('//', '//m%40e:own@'))).toMatchObject({ body: Buffer.from('proxied') });
      const basic = (user: string) => `Basic ${Buffer.from(user).toString('base64')}`;
      const headers = { authorization: basic('m@e:own'), 'proxy-authorization': basic('us@er:pass') };
      expect(proxy.received).toMatchObject([{ method: 'GET', path: url, headers }]);
      const unknown = none(expect.stringMatching(/name (?:is unknown|cannot be looked up)/));
      expect(await post(clientOf(), 'http://direct.invalid')).toEqual(unknown);
      expect(await post(clientOf({ isDirect: true }), url)).toEqual(unknown);
      const here = await startServer(() => ({ status: 200, body: 'here' }));
      for (const name of ['127.0.0.1', 'localhost'])
        expect(await post(clientOf(), here.url.replace('127.0.0.1', name))).toMatchObject({
          body: Buffer.from('here'),
        });
    });

    it('names a proxy that makes no tunnel to a target with TLS', async () => {
      const address = await startSocketServer((socket) => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
      process.env.HTTPS_PROXY = address;
      const refused = none(`through the proxy ${address} of HTTPS_PROXY: its answer was 502 Bad Gateway`);
      expect(await post(clientOf(), 'https://target.invalid')).toEqual(refused);
    });

    it.each([
      ['http://127.0.0.1:1', 'http://127.0.0.1:1 of HTTP_PROXY: nothing listens at 127.0.0.1 on port 1'],
      ['http://user:secret@:80', 'of HTTP_PROXY: Invalid URL'],
      ['socks5://127.0.0.1:1', /^through the proxy socks5:\/\/127\.0\.0\.1:1 of HTTP_PROXY: .*socks5/],
    ])('names a proxy that cannot be asked: %s', async (address, said) => {
      process.env.HTTP_PROXY = address;
      const message: unknown = typeof said === 'string' ? `through the proxy ${said}` : expect.stringMatching(said);
      expect(await post(clientOf(), 'http://target.invalid')).toEqual(none(message));
    });
  });

  it('fails where there is no answer, later for a large request', async () => {
    const silent = await startServer(() => 'silence');
    const hasty = clientOf({ timeout: 100 });
    expect(await post(hasty, silent.url)).toEqual(none('there was no answer within 0.1 s'));
    expect(await post(hasty, silent.url, 'x'.repeat(65_536))).toEqual(none('there was no answer within 1.1 s'));
  });

  it.each([
    ['its length', 'Content-Length: 9\r\n\r\nhalf'],
    ['the end of the connection', 'Connection: close\r\n\r\nhalf'],
  ])('tells a body with %s that the time-out cut off from a whole one', async (_how, rest) => {
    const url = await startSocketServer((socket) => socket.write(`HTTP/1.1 201 Created\r\n${rest}`));
    const client = clientOf({ timeout: 200 });
    const cutOff = 'the answer was not complete within 0.2 s';
    expect(await post(client, url)).toMatchObject({ status: 201, cutOff });
    expect(await ask(client, url)).toEqual(none(cutOff));
  });
});
