import { readConfig } from '../../src/config/config';
import { AdminPages } from '../../src/http/admin';
import { send } from '../support/http';
import { openWire, request } from '../support/wire';

it("the operator's address takes 50 connections, however many the service takes, and reports one more", async () => {
  const pages = new AdminPages(() => Promise.resolve(), {
    contentType: 'text/plain; version=0.0.4',
    metrics: () => Promise.resolve('up 1'),
  });
  const refused = jest.fn();
  const options = { limits: readConfig({}).limits, observer: { refused } };
  const { url, close } = await pages.listen({ host: '127.0.0.1', port: 0 }, options, () => undefined);
  const wires = await Promise.all(Array.from({ length: 50 }, () => openWire(url)));
  for (const wire of wires) wire.write(request('GET /healthz'));
  await Promise.all(wires.map((wire) => wire.until(/200 OK/)));
  await send(url).catch(() => undefined);
  wires[0]?.write(request('GET /metrics'));
  await wires[0]?.until(/Content-Type: text\/plain; version=0\.0\.4\r\n[^]*up 1/);
  for (const wire of wires) wire.socket.destroy();
  await close();
  expect(refused.mock.calls).toMatchObject([[{ category: 'busy' }, 503, '127.0.0.1']]);
});
