import { readConfig } from '../../src/config/config';
import { AdminPages } from '../../src/http/admin';
import { send } from '../support/http';
import { openWire, request } from '../support/wire';

it("the operator's address takes 50 connections, however many the service takes", async () => {
  const pages = new AdminPages(() => Promise.resolve(), {
    contentType: 'text/plain',
    metrics: () => Promise.resolve(''),
  });
  const { limits } = readConfig({});
  const { url, close } = await pages.listen({ host: '127.0.0.1', port: 0 }, { limits }, () => undefined);
  const wires = await Promise.all(Array.from({ length: 50 }, () => openWire(url)));
  for (const wire of wires) wire.write(request('GET /healthz'));
  await Promise.all(wires.map((wire) => wire.until(/200 OK/)));
  const refused = await send(url).catch(() => ({ status: undefined }));
  for (const wire of wires) wire.socket.destroy();
  await close();
  expect(refused.status).not.toBe(200);
});
