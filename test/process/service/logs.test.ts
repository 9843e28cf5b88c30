import { connect } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { BUILD } from '../../../src/config/package-info';
import { callOperation } from '../../support/bindings';
import { send } from '../../support/http';
import { metricsAt } from '../../support/metrics';
import { logLines, startProcess } from '../../support/process';
import { useTemporaryFolder } from '../../support/temporary-folder';

const KEY = 'record-key-0123456789';

describe('the log lines of the service', () => {
  const folder = useTemporaryFolder();

  it('are JSON after the line with the address: one for the start, each refusal and the stop', async () => {
    const service = await startProcess({ RECORD_KEYS: KEY }, folder.path);
    const headers = { 'X-API-Key': `wrong ${KEY}`, 'X-Request-Id': 'id-1' };
    expect((await send(`${service.url}/RecordEvent?secret=1`, { headers })).status).toBe(401);
    await callOperation(service.url, 'httpget', 'RecordEvent', '', { 'X-API-Key': KEY });
    expect(await service.end('SIGTERM')).toBe(0);

    const [first, ...others] = service.output().trim().split('\n');
    expect(first).toBe(`WebHook answers at ${service.url}`);
    expect(others.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      `New, empty log made at ${join(folder.path, 'data', 'events.db')}`,
      'started',
      'refused',
      'stopping',
      'stopped',
    ]);
    const [made, started, refused] = logLines(service.output());
    expect(made).toMatchObject({ level: 'warn' });
    expect(started).toMatchObject({ level: 'info', url: service.url, pid: service.child.pid, version: BUILD.version });
    expect(refused).toMatchObject({ level: 'warn', requestId: 'id-1', operation: 'RecordEvent', refusal: 'key' });
    expect(service.output()).not.toContain(KEY);
    expect(service.output()).not.toContain('secret=1');
  });

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
