import { EventEmitter } from 'node:events';
import http from 'node:http';
import type { Socket } from 'node:net';
import { Connections } from '../../src/http/connections';
import { readConfig } from '../../src/config/config';
import { HttpServer } from '../../src/http/server';
import { send } from '../support/http';

afterEach(() => {
  jest.restoreAllMocks();
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

it.each([
  ['forwards', 1],
  ['back', -1],
])('a connection whose peer takes nothing is closed in time, though the clock is set %s', async (_way, sign) => {
  let hours = 0;
  jest.spyOn(Date, 'now').mockImplementation(() => sign * ++hours * 3_600_000);
  const state = { writableLength: 10, bytesWritten: 10, destroyed: false, setMaxListeners: () => undefined };
  const socket = Object.assign(new EventEmitter(), state, { destroy: () => undefined });
  const started = performance.now();
  await new Promise<void>((resolve) => {
    const connections = new Connections(80, () => {
      connections.stop();
      resolve();
    });
    connections.accepted(socket as unknown as Socket, false);
    // The interval alone does not keep the process alive.
    setTimeout(() => undefined, 1000).unref();
  });
  expect(performance.now() - started).toBeGreaterThan(80);
});
