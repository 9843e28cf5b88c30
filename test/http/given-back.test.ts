import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { readConfig } from '../../src/config/config';
import { HttpServer } from '../../src/http/server';
import { eventually, succeeds } from '../support/eventually';
import { expectNothingHeldAfterEach } from '../support/nothing-held';
import { startService } from '../support/service';
import { openWire, PATH, request, sendRaw } from '../support/wire';

expectNothingHeldAfterEach();

it.each([0, 1])('a server that is closed, or cannot listen (%i), has no timer left', async (isTaken) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const port = isTaken * (other.address() as AddressInfo).port;
  const timers = new Set<number>();
  let isServing = true;
  const hook = createHook({
    init: (id, type) => isServing && type === 'Timeout' && timers.add(id),
    destroy: (id) => timers.delete(id),
  }).enable();
  const server = new HttpServer({ pages: new Map(), limits: readConfig({}).limits });
  expect(timers.size).toBeGreaterThan(0);
  const isListening = await succeeds(server.listen({ port, host: '127.0.0.1' }));
  expect(isListening).toBe(isTaken === 0);
  if (isListening) await server.close();
  isServing = false;
  await eventually('the timers are gone', () => timers.size === 0);
  hook.disable();
  await new Promise((resolve) => other.close(resolve));
});

it.each([0, 1])('a service of whose two ports one is taken (%i) leaves the other closed', async (taken) => {
  const servers = [0, 1].map(() => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const [PORT = '', ADMIN_PORT = ''] = servers.map((server) => String((server.address() as AddressInfo).port));
  await new Promise((resolve) => servers[1 - taken]?.close(resolve));
  await expect(startService({ PORT, ADMIN_PORT })).rejects.toThrow('another program uses it');
  const free = [PORT, ADMIN_PORT][1 - taken] ?? '';
  await expect(openWire(`http://127.0.0.1:${free}`)).rejects.toThrow('ECONNREFUSED');
  await new Promise((resolve) => servers[taken]?.close(resolve));
});

it.each([`OPTIONS ${PATH}/RecordEvent`, 'OPTIONS *'])(
  '%s with a huge body is answered and closed, and the body not read',
  async (line) => {
    const answer = await sendRaw((await startService()).url, `${request(line, 'Content-Length: 1000000000')}x`);
    expect(answer).toMatch(/^HTTP\/1\.1 204 [\s\S]*Connection: close\r\n/);
  },
);

it.each([
  ['gzip', '\x1f\x8b\x08\x00\xff'],
  ['deflate', '\x1f\x8b\x08'],
])('a body whose %s cannot be decoded is refused, and the connection kept', async (coding, body) => {
  const wire = await openWire((await startService()).url);
  const fields = [`Content-Encoding: ${coding}`, `Content-Length: ${String(body.length)}`];
  wire.write(request(`POST ${PATH}/RecordEvent`, ...fields), Buffer.from(body, 'latin1'));
  expect(await wire.until(/it is not valid/)).toMatch(/^HTTP\/1\.1 400 /);
  wire.write(request(`GET ${PATH}/HelloWorld`));
  await wire.until(/Hello World/);
});

it.each(['GET', 'POST'])('%s that expects 100-continue without a body keeps its connection', async (method) => {
  const wire = await openWire((await startService()).url);
  const length = method === 'POST' ? ['Content-Length: 0'] : [];
  wire.write(request(`${method} ${PATH}/HelloWorld`, 'Expect: 100-continue', ...length));
  await wire.until(/Hello World/);
  wire.write(request(`GET ${PATH}/HelloWorld`, 'Connection: close'));
  expect((await wire.untilClosed()).match(/Hello World/g)).toHaveLength(2);
});

it('a request that is aborted in any state gives back what it held', async () => {
  const service = await startService({ REQUEST_TIMEOUT: '1s' });
  const body = 'x'.repeat(100_000);
  const head = request(`POST ${PATH}/RecordEvent`, 'Content-Length: 100000');
  const starts = [
    ...['POS', head, head + body.slice(1), head + body, head.replace('\r\n', '\r\nExpect: 100-continue\r\n') + body],
    request(`GET ${PATH}/GetEvents?after=999&wait=60s`).repeat(3),
    request(`GET ${PATH}?events`).repeat(5),
  ];
  for (let round = 0; round < 3; round++) {
    for (const start of starts) {
      const wire = await openWire(service.url);
      wire.write(start);
      await new Promise((resolve) => setTimeout(resolve, round * 10));
      wire.socket.resetAndDestroy();
      await wire.untilClosed();
    }
  }
});
