import { setTimeout } from 'node:timers/promises';
import { eventually } from '../support/eventually';
import { send } from '../support/http';
import { slowLog } from '../support/slow-log';
import { startService } from '../support/service';
import { openWire, PATH, request } from '../support/wire';

describe('a service that stops', () => {
  it('closes silent and idle connections on both its ports', async () => {
    const service = await startService({ ADMIN_PORT: '0' });
    const adminUrl = service.adminUrl ?? '';
    const silent = [await openWire(service.url), await openWire(adminUrl)];
    const idle = await openWire(service.url);
    idle.write(request(`GET ${PATH}/HelloWorld`));
    await idle.until(/Hello World/);
    // Connections that never were used are accepted by then.
    await send(`${adminUrl}healthz`);
    const began = performance.now();
    await service.stop();
    await Promise.all([...silent, idle].map((wire) => wire.untilClosed()));
    expect(performance.now() - began).toBeLessThan(2000);
  });

  it('answers a caller that had connected and needs half a second to send', async () => {
    const service = await startService();
    const wire = await openWire(service.url);
    await send(`${service.url}/HelloWorld`);
    const stopped = service.stop();
    await setTimeout(500);
    wire.write(request(`GET ${PATH}/HelloWorld`));
    expect(await wire.untilClosed()).toMatch(/^HTTP\/1.1 200 OK[^]*Connection: close[^]*Hello World/i);
    await stopped;
  });

  it('answers what is in flight first, and is alive and not ready on ADMIN_PORT meanwhile', async () => {
    const { log, answer, events } = slowLog();
    const service = await startService({ ADMIN_PORT: '0' }, log);
    const wire = await openWire(service.url);
    wire.write(request(`GET ${PATH}/RecordEvent`));
    await eventually('the call is in flight', () => events() === 1);
    const stopped = service.stop();
    const admin = (page: string) => send(`${service.adminUrl ?? ''}${page}`);
    expect(await admin('healthz')).toMatchObject({ status: 200 });
    expect(await admin('readyz')).toMatchObject({ status: 503, body: 'stopping\n' });
    answer();
    expect(await wire.untilClosed()).toContain('the-id');
    await stopped;
  });
});
