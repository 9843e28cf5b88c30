import { gzipSync } from 'node:zlib';
import { eventually } from '../../support/eventually';
import { send, type Answer } from '../../support/http';
import { metricsAt } from '../../support/metrics';
import { certificateIn } from '../../support/program.cjs';
import { killProcesses, logLines, peakOf, preloaded, startProcess, type ServiceProcess } from '../../support/process';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { describeWith, itUnless } from '../../support/tools';
import { getEvents, untilWaiting } from '../../support/waiting';
import { openWire, type Wire } from '../../support/wire';

describe('the service as a process, while callers send and take only a part', () => {
  const folder = useTemporaryFolder();
  afterEach(killProcesses);

  /** Starts a service that can be asked for its memory: at SIGUSR2 it collects its garbage and prints what it has. */
  async function startMeasured() {
    const report = `console.log(JSON.stringify({ msg: 'memory', ...process.memoryUsage() }))`;
    const variables = await preloaded(folder.path, `process.on('SIGUSR2', () => { gc(); gc(); ${report}; });`);
    return startProcess({ NODE_OPTIONS: `--expose-gc ${variables.NODE_OPTIONS}` }, folder.path);
  }
  /** Bytes that a process holds, its garbage collected: JavaScript objects and buffers. */
  async function memoryOf(service: ServiceProcess): Promise<number> {
    const lines = () => logLines(service.output()).filter(({ msg }) => msg === 'memory');
    const before = lines().length;
    service.child.kill('SIGUSR2');
    await eventually('it says how much memory it has', () => lines().length > before);
    const { external = NaN, heapUsed = NaN } = lines().at(-1) as Record<string, number>;
    return external + heapUsed;
  }
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
    const service = await startMeasured();
    const before = await memoryOf(service);
    const chunks = '1\r\nx\r\n'.repeat(60_000);
    const beginning = head(service, 'Transfer-Encoding: chunked\r\n') + chunks;
    const callers = await sendBeginnings(service, 20, beginning, '0\r\n\r\n');
    // They are 1.2 MB. With a buffer for each chunk they would take 230 MB.
    expect((await memoryOf(service)) - before).toBeLessThan(7_000_000);
    for (const caller of callers) caller.write('0\r\n\r\n');
    for (const answer of await answersOf(callers)) expect(answer).toMatch(/^HTTP\/1.1 200 /);
  });

  itUnless(
    process.platform === 'linux' ? undefined : 'Linux',
    'decodes those that end at the same moment a few at a time',
    async () => {
      const service = await startProcess({ MAX_CONNECTIONS: '4000' }, folder.path);
      const body = gzipSync('x'.repeat(60_000));
      const fields = `Content-Encoding: gzip\r\nContent-Length: ${String(body.length)}\r\n`;
      const callers = await Promise.all(Array.from({ length: 3000 }, () => openWire(service.url)));
      for (const caller of callers)
        caller.write(Buffer.concat([Buffer.from(head(service, fields)), body.subarray(0, -1)]));
      for (const caller of callers) caller.write(body.subarray(-1));
      for (const answer of await answersOf(callers)) expect(answer).toMatch(/^HTTP\/1.1 (?:200|503) /);
      // Measured 306 to 405 MB; 536 to 573 MB if all are decoded at once.
      expect(await peakOf(service)).toBeLessThan(512_000_000);
    },
    // Of many connections, on a machine that has other things to do.
    60_000,
  );

  const large = 'x'.repeat(1_000_000);
  const medium = large.slice(0, 60_000);
  // Read from the message, so that no part of it may stay for their sake.
  const parameters = { after: '9'.repeat(20), wait: 'PT000000059S' };
  const post = (url: string, type: string, body: string) =>
    send(`${url}/GetEvents`, { method: 'POST', headers: { 'Content-Type': type }, body });
  it.each<[string, number, (url: string) => Promise<Answer>]>([
    ['a large form', 15, (url) => getEvents(url, 'httppost', { ...parameters, x: large })],
    ['a form', 200, (url) => getEvents(url, 'httppost', { ...parameters, x: medium })],
    // A number is cut from the text, where a string is made anew.
    [
      'JSON with a number',
      15,
      (url) => post(url, 'application/json', `{"after":${'9'.repeat(20)},"wait":"59s","x":"${large}"}`),
    ],
    ['a large SOAP message', 15, (url) => getEvents(url, 'soap11', { ...parameters, x: large })],
    ['a SOAP message', 200, (url) => getEvents(url, 'soap12', { ...parameters, x: medium })],
  ])('keeps nothing of %s from calls that wait', async (_what, calls, call) => {
    const service = await startMeasured();
    const held = await memoryOf(service);
    for (let i = 0; i < calls; i++) call(service.url).catch(() => undefined);
    await untilWaiting(service.url, calls);
    // They sent 12 to 15 MB. What a call needs while it waits is some 20 KB.
    expect((await memoryOf(service)) - held).toBeLessThan(7_000_000);
    service.child.kill('SIGKILL');
  });
});

describeWith({ openssl: 'openssl' }, 'connections that bring many requests and take no answers', () => {
  const folder = useTemporaryFolder();
  afterEach(killProcesses);

  it.each(['HTTP', 'HTTPS'])('are ended over %s', async (scheme) => {
    const tls = certificateIn(folder.path);
    const service = await startProcess({ LOG_LEVEL: 'silent', ...(scheme === 'HTTPS' && tls) }, folder.path);
    const requests = `GET ${new URL(service.url).pathname}/HelloWorld HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(2000);
    const callers = await Promise.all(Array.from({ length: 200 }, () => openWire(service.url)));
    for (const caller of callers) {
      caller.socket.pause();
      caller.write(requests);
    }
    // A handshake that falls into the same moment is refused.
    const metrics = () => metricsAt(service.url).catch(() => new Map<string, number>());
    const open = async () => (await metrics()).get('webhook_connections') ?? NaN;
    await eventually('they are closed', async () => (await open()) < callers.length / 2);
    // They take 200 MB; 370 MB if Node goes on reading from the others before it frees those of a connection that is destroyed.
    if (process.platform === 'linux') expect(await peakOf(service)).toBeLessThan(250_000_000);
  });
});
