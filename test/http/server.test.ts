import { EventEmitter } from 'node:events';
import http from 'node:http';
import type { Socket } from 'node:net';
import { Connection, Connections } from '../../src/http/connections';
import { readConfig } from '../../src/config/config';
import { HttpServer } from '../../src/http/server';
import { eventually } from '../support/eventually';
import { send } from '../support/http';
import { openWire, request } from '../support/wire';

afterEach(() => jest.useRealTimers());

describe('an HTTP server', () => {
  let server: HttpServer;
  afterEach(() => server.close());

  it('goes on after a connection that could not be accepted', async () => {
    const create = jest.spyOn(http, 'createServer');
    const refused = jest.fn();
    const { limits } = readConfig({ REQUEST_TIMEOUT: '2m', KEEP_ALIVE_TIMEOUT: '7s' });
    server = new HttpServer({ pages: new Map(), limits, observer: { refused } });
    expect(create.mock.calls).toMatchObject([[{ requestTimeout: 120_000, keepAliveTimeout: 7000 }, expect.anything()]]);
    const port = await server.listen({ port: 0, host: '127.0.0.1' });
    (create.mock.results[0]?.value as http.Server).emit('error', new Error('accept EMFILE'));
    expect(refused.mock.calls).toMatchObject([
      [{ category: 'busy', message: 'A connection could not be accepted: accept EMFILE' }, undefined, undefined],
    ]);
    expect((await send(`http://127.0.0.1:${String(port)}`)).status).toBe(404);
  });

  it('that stops lets callers of idle connections send for a time, and ends what is still in flight after 10 s', async () => {
    const begun = jest.fn(() => new Promise<void>(() => undefined));
    server = new HttpServer({ pages: new Map([['/endless', begun]]), limits: readConfig({}).limits });
    const url = `http://127.0.0.1:${String(await server.listen({ port: 0, host: '127.0.0.1' }))}`;
    const [idle, busy] = await Promise.all([openWire(url), openWire(url)]);
    idle.write(request('GET /'));
    await idle.until(/ 404 /);
    busy.write(request('GET /endless'));
    await eventually('the call is in flight', () => begun.mock.calls.length === 1);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    const closed = server.close(5000);
    await jest.advanceTimersByTimeAsync(4900);
    idle.write(request('GET /'));
    expect(await idle.untilClosed()).toMatch(/Connection: keep-alive[^]*Connection: close/);
    await jest.advanceTimersByTimeAsync(5000);
    expect(busy.socket.closed).toBe(false);
    await jest.advanceTimersByTimeAsync(100);
    expect([await closed, await busy.untilClosed()]).toEqual([undefined, '']);
  });

  it.each([
    ['192.0.2.1', 'it is not an address of this machine'],
    ['nowhere.invalid', 'its name is unknown'],
  ])('says why it cannot listen on %s, and which settings to change', async (host, reason) => {
    server = new HttpServer({ pages: new Map(), limits: readConfig({}).limits });
    const problem = `${host} at port 0 cannot be used: ${reason}. Set ADMIN_PORT or ADMIN_HOST.`;
    await expect(server.listen({ port: 0, host }, 'ADMIN_')).rejects.toThrow(problem);
  });
});

it.each([
  ['nothing', 0],
  ['drops', 1],
])('a connection whose peer takes %s is closed in time, though the clock is set', (_what, taken) => {
  jest.useFakeTimers();
  const refused = jest.fn();
  const state = { writableLength: 10, bytesWritten: 10, destroyed: false, destroy: () => undefined };
  const socket = Object.assign(new EventEmitter(), state);
  new Connections(4000, refused).add(socket as unknown as Socket, false);
  for (const year of ['2000', '2100', '2000']) {
    jest.setSystemTime(new Date(year));
    jest.advanceTimersByTime(1500);
    socket.writableLength -= taken;
  }
  expect(refused).not.toHaveBeenCalled();
  jest.setSystemTime(new Date('1990'));
  jest.advanceTimersByTime(2000);
  expect(refused).toHaveBeenCalledTimes(1);
});

it('a connection that has ended is closed after a second, though its peer keeps its side open', () => {
  jest.useFakeTimers();
  const socket = Object.assign(new EventEmitter(), { writable: true, end: jest.fn(), destroy: jest.fn() });
  const connection = new Connection(socket as unknown as Socket, { waiting: 0 });
  connection.open(socket as unknown as Socket);
  connection.close();
  jest.advanceTimersByTime(1000);
  expect([socket.end.mock.calls.length, socket.destroy.mock.calls.length]).toEqual([1, 1]);
});
