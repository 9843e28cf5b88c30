import { connect } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { send } from '../../support/http';
import { metricsAt } from '../../support/metrics';
import { logLines, startProcess } from '../../support/process';
import { useTemporaryFolder } from '../../support/temporary-folder';

const KEY = 'record-key-0123456789';

describe('the log lines of the service', () => {
  const folder = useTemporaryFolder();

  it('warn of a new, empty log once, and of missing keys on an address that is not loopback', async () => {
    for (const made of [[`New, empty log made at ${join(folder.path, 'data', 'events.db')}`], []]) {
      const open = await startProcess({ HOST: '0.0.0.0', RECORD_KEYS: KEY }, folder.path);
      await open.end('SIGTERM');
      const warnings = logLines(open.output()).filter(({ level }) => level === 'warn');
      const keys: unknown = expect.stringMatching(/read events and metrics: set READ_KEYS/);
      expect(warnings.map(({ msg }) => msg)).toEqual([...made, keys]);
    }
  });
});

describe('a service that stops', () => {
  const folder = useTemporaryFolder();

  it('is alive and not ready on ADMIN_PORT until the last call is answered', async () => {
    const service = await startProcess({ ADMIN_PORT: '0' }, folder.path);
    const admin = String((await service.logged('started')).adminUrl);
    const { hostname, port, pathname } = new URL(service.url);
    const call = connect(Number(port), hostname);
    await once(call, 'connect');
    call.write(
      `POST ${pathname}/RecordEvent HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`,
    );
    await once(call, 'data');
    expect((await metricsAt(admin)).get('webhook_connections')).toBe(1);
    const ended = service.end('SIGTERM');
    await service.logged('stopping');
    expect((await send(new URL('/healthz', admin).href)).status).toBe(200);
    const ready = await send(new URL('/readyz', admin).href);
    expect([ready.status, ready.body]).toEqual([503, 'stopping\n']);
    call.write('12');
    const [answer] = (await once(call, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 200 OK/);
    expect(await ended).toBe(0);
  });
});
