import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { BINDINGS, callOperation, eventsOf } from '../support/bindings';
import { send } from '../support/http';
import { killProcesses, runToEnd, startProcess } from '../support/process';
import { useTemporaryFolder } from '../support/service';
import { describeUnless } from '../support/tools';

describe('the service as a process', () => {
  const folder = useTemporaryFolder();

  it('prints its address once it answers there, over every binding', async () => {
    const service = await startProcess({}, folder.path);
    expect(service.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/webhooks\/Services\/WebHooks\.asmx$/);
    for (const binding of BINDINGS) expect(await callOperation(service.url, binding, 'HelloWorld')).toBe('Hello World');
    const ready = await send(new URL('/readyz', service.url).href);
    expect([ready.status, ready.body]).toEqual([200, 'ready\n']);
    expect(await service.end('SIGTERM')).toBe(0);
  });

  it('reads a .env file in the working directory, over which the environment wins', async () => {
    await writeFile(join(folder.path, '.env'), 'SERVICE_ROOT=hooks\nEVENT_TYPE=from.file\n');
    const service = await startProcess({ EVENT_TYPE: 'from.environment' }, folder.path);
    expect(new URL(service.url).pathname).toBe('/hooks/Services/WebHooks.asmx');
    await callOperation(service.url, 'httpget', 'RecordEvent');
    const [event] = eventsOf(await callOperation(service.url, 'httpget', 'GetEvents'));
    expect(event?.type).toBe('from.environment');
    await service.end('SIGTERM');
  });

  it('forgets what RETENTION_MAX_EVENTS says', async () => {
    const service = await startProcess({ RETENTION_MAX_EVENTS: '5' }, folder.path);
    const ids: string[] = [];
    for (let i = 0; i < 12; i++) ids.push(await callOperation(service.url, 'httpget', 'RecordEvent'));
    const kept = async () => eventsOf(await callOperation(service.url, 'httpget', 'GetEvents')).map(({ id }) => id);
    while ((await kept()).length > 5) await setTimeout(20);
    expect(await kept()).toEqual(ids.slice(-5));
    await service.end('SIGTERM');
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('on %s finishes what is in flight and exits with 0', async (signal) => {
    const service = await startProcess({}, folder.path);
    const calls = Array.from({ length: 40 }, (_, i) =>
      callOperation(service.url, BINDINGS[i % 4] ?? 'soap11', 'RecordEvent'),
    );
    await Promise.race(calls);
    const ended = service.end(signal);
    const settled = await Promise.allSettled(calls);
    expect(await ended).toBe(0);

    const again = await startProcess({}, folder.path);
    const events = eventsOf(await callOperation(again.url, 'httpget', 'GetEvents')).map(({ id }) => id);
    const answered = settled.flatMap((call) => (call.status === 'fulfilled' ? [call.value] : []));
    expect(answered.length).toBeGreaterThan(0);
    expect(events).toEqual(expect.arrayContaining(answered));
    await again.end('SIGTERM');
  });

  it('does not start with SERVICE_NAMESPACE=urn:x, and says that it must end with a slash', async () => {
    const { code, output } = await runToEnd({ SERVICE_NAMESPACE: 'urn:x' }, folder.path);
    expect(code).toBe(1);
    expect(output).toBe(
      'The configuration is wrong.\nSERVICE_NAMESPACE=urn:x: must end with a slash, as in http://tempuri.org/\n',
    );
  });

  it('does not start on a text file in place of the database, and leaves it as it was', async () => {
    const file = join(folder.path, 'notes.txt');
    const notes = 'not a database\n'.repeat(100);
    await writeFile(file, notes);
    const { code, output } = await runToEnd({ EVENT_LOG: 'sqlite:notes.txt' }, folder.path);
    expect(code).toBe(1);
    expect(output).toBe('The event log notes.txt cannot be opened. ---> file is not a database\n');
    expect(await readFile(file, 'utf8')).toBe(notes);
  });

  it('does not start on a path that cannot be created', async () => {
    await writeFile(join(folder.path, 'file'), '');
    const { code, output } = await runToEnd({ EVENT_LOG: 'sqlite:file/events.db' }, folder.path);
    expect(code).toBe(1);
    expect(output).toMatch(/^The event log file\/events\.db cannot be opened\. ---> /);
  });

  it('does not start on a port that is taken', async () => {
    const service = await startProcess({}, folder.path);
    const { code, output } = await runToEnd({ PORT: new URL(service.url).port }, folder.path);
    expect(code).toBe(1);
    expect(output).toContain('EADDRINUSE');
    await service.end('SIGTERM');
  });
});

const SOMAXCONN = '/proc/sys/net/core/somaxconn';
const enough = existsSync(SOMAXCONN) && Number(readFileSync(SOMAXCONN, 'utf8')) >= 1000;

describeUnless(enough ? undefined : 'Linux with net.core.somaxconn of 1000', 'connections that come at once', () => {
  const folder = useTemporaryFolder();
  afterEach(killProcesses);

  it('wait by the thousand until they are accepted', async () => {
    const service = await startProcess({}, folder.path);
    const { port } = new URL(service.url);
    // While it is stopped the system takes connections for it, as many as it may.
    service.child.kill('SIGSTOP');
    const sockets = Array.from({ length: 1000 }, () => connect(Number(port), '127.0.0.1'));
    const connected = Promise.all(sockets.map((socket) => once(socket, 'connect'))).then(() => 'all');
    const outcome = await Promise.race([connected, setTimeout(5000, 'not all in 5 s')]);
    for (const socket of sockets) socket.destroy();
    service.child.kill('SIGCONT');
    expect(outcome).toBe('all');
    expect(await service.end('SIGTERM')).toBe(0);
  });
});
