import { EventEmitter } from 'node:events';
import http from 'node:http';
import type { Socket } from 'node:net';
import { Connections } from '../../src/http/connections';
import { readConfig } from '../../src/config/config';
import { HttpServer } from '../../src/http/server';
import { send } from '../support/http';

afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

describe('an HTTP server', () => {
  let server: HttpServer;
  afterEach(() => server.close());

  it('goes on after a connection that could not be accepted', async () => {
    const create = jest.spyOn(http, 'createServer');
    const refused = jest.fn();
    server = new HttpServer({ pages: new Map(), limits: readConfig({}).limits, observer: { refused } });
    const port = await server.listen({ port: 0, host: '127.0.0.1' });
    (create.mock.results[0]?.value as http.Server).emit('error', new Error('accept EMFILE'));
    expect(refused.mock.calls).toMatchObject([
      [{ refusal: 'busy', message: 'A connection could not be accepted: accept EMFILE' }, undefined, undefined],
    ]);
    expect((await send(`http://127.0.0.1:${String(port)}`)).status).toBe(404);
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

it('a connection whose peer takes nothing is closed in time, though the clock is set', () => {
  jest.useFakeTimers();
  const refused = jest.fn();
  const state = { writableLength: 10, bytesWritten: 10, destroyed: false, destroy: () => undefined };
  new Connections(4000, refused).accepted(Object.assign(new EventEmitter(), state) as unknown as Socket, false);
  for (const year of ['2000', '2100', '2000']) {
    jest.setSystemTime(new Date(year));
    jest.advanceTimersByTime(1500);
  }
  expect(refused).not.toHaveBeenCalled();
  jest.setSystemTime(new Date('1990'));
  jest.advanceTimersByTime(2000);
  expect(refused).toHaveBeenCalledTimes(1);
});
