import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { killProcesses, startProcess, type ServiceProcess } from '../../support/process';
import { MEASURED, memoryOf } from '../../support/process-memory';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { openWire, type Wire } from '../../support/wire';

describe('the service as a process, while the ends of bodies do not come', () => {
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
      const [, peak] =
        /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${String(service.child.pid)}/status`, 'utf8')) ?? [];
      // All at once they take 290,000.
      expect(Number(peak)).toBeLessThan(200_000);
      expect(await service.end('SIGTERM')).toBe(0);
    },
  );
});
