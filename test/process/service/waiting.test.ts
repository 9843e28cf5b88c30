import { send, type Answer } from '../../support/http';
import { MEASURED, memoryOf } from '../../support/process-memory';
import { killProcesses, startProcess } from '../../support/process';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { getEvents, untilWaiting } from '../../support/waiting';

describe('the service as a process, while calls wait', () => {
  const folder = useTemporaryFolder();
  afterEach(killProcesses);

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
  ])('keeps nothing of %s that they sent', async (_what, calls, call) => {
    const service = await startProcess(MEASURED, folder.path);
    const held = await memoryOf(service);
    for (let i = 0; i < calls; i++) call(service.url).catch(() => undefined);
    await untilWaiting(service.url, calls);
    // They sent 12 to 15 MB. What a call needs while it waits is some 20 KB.
    expect((await memoryOf(service)) - held).toBeLessThan(7_000_000);
    service.child.kill('SIGKILL');
  });
});
