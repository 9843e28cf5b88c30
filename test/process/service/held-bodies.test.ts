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
});
