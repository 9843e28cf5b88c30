import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { eventually } from '../../support/eventually';
import { metricsAt } from '../../support/metrics';
import { killProcesses, startProcess, type ServiceProcess } from '../../support/process';
import { MEASURED, memoryOf } from '../../support/process-memory';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { openWire, type Wire } from '../../support/wire';

describe('the service as a process, while callers send and take only a part', () => {
  const folder = useTemporaryFolder();
  afterEach(killProcesses);

  /** Sends the beginning of a request on many connections, and then a whole one, which is read after them. */
  async function sendBeginnings(service: ServiceProcess, count: number, beginning: string, end: string) {
    const callers = await Promise.all(Array.from({ length: count }, () => openWire(service.url)));
    for (const caller of callers) caller.write(beginning);
    const last = await openWire(service.url);
    last.write(beginning, end);
    await last.until(/^HTTP\/1.1 \d/);
    return callers;
  }
  const head = (service: ServiceProcess, fields: string): string =>
    `POST ${new URL(service.url).pathname}/RecordEvent HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n`;
  const answersOf = (callers: readonly Wire[]) =>
    Promise.all(callers.map((caller) => caller.until(/^HTTP\/1.1 \d{3} /)));

  it('holds little more than their bytes, even if they come in chunks of one byte', async () => {
    const service = await startProcess(MEASURED, folder.path);
    const before = await memoryOf(service);
    const chunks = '1\r\nx\r\n'.repeat(60_000);
    const beginning = head(service, 'Transfer-Encoding: chunked\r\n') + chunks;
    const callers = await sendBeginnings(service, 20, beginning, '0\r\n\r\n');
    // They are 1.2 MB. With a buffer for each chunk they would take 230 MB.
    expect((await memoryOf(service)) - before).toBeLessThan(7_000_000);
    for (const caller of callers) caller.write('0\r\n\r\n');
    for (const answer of await answersOf(callers)) expect(answer).toMatch(/^HTTP\/1.1 200 /);
    expect(await service.end('SIGTERM')).toBe(0);
  });

  (process.platform === 'linux' ? it : it.skip)(
    'decodes those that end at the same moment a few at a time',
    async () => {
      const service = await startProcess({}, folder.path);
      const body = gzipSync('x'.repeat(60_000));
      const fields = `Content-Encoding: gzip\r\nContent-Length: ${String(body.length)}\r\n`;
      const callers = await Promise.all(Array.from({ length: 700 }, () => openWire(service.url)));
      for (const caller of callers)
        caller.write(Buffer.concat([Buffer.from(head(service, fields)), body.subarray(0, -1)]));
      for (const caller of callers) caller.write(body.subarray(-1));
      for (const answer of await answersOf(callers)) expect(answer).toMatch(/^HTTP\/1.1 200 /);
      // All at once they take 290,000.
      expect(await peakOf(service)).toBeLessThan(200_000);
      expect(await service.end('SIGTERM')).toBe(0);
    },
  );

  (process.platform === 'linux' ? it : it.skip)(
    'ends connections that bring many requests and take no answers',
    async () => {
      const service = await startProcess({ LOG_LEVEL: 'silent' }, folder.path);
      const { hostname, port, pathname } = new URL(service.url);
      const requests = `GET ${pathname}/HelloWorld HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(2000);
      const callers = Array.from({ length: 200 }, () => connect(Number(port), hostname).pause());
      for (const caller of callers) caller.on('error', () => undefined).write(requests);
      const open = async () => (await metricsAt(service.url)).get('webhook_connections') ?? NaN;
      await eventually('they are closed', async () => (await open()) < callers.length / 2);
      // With 4,096 requests on each connection that the service had begun to end, they took 770,000.
      expect(await peakOf(service)).toBeLessThan(512_000);
      expect(await service.end('SIGTERM')).toBe(0);
    },
  );
});

/** The most memory that a process has had, in kB. */
async function peakOf({ child }: ServiceProcess): Promise<number> {
  const status = await readFile(`/proc/${String(child.pid)}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]);
}
