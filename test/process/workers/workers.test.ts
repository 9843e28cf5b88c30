import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { callOperation } from '../../support/bindings';
import { eventually, succeeds } from '../../support/eventually';
import { send } from '../../support/http';
import { readEveryEvent, Load, verdict, WHOLE } from '../../support/load';
import { metricsAt } from '../../support/metrics';
import { childrenOf, kill, killProcesses, preloaded, startProcess, type ServiceProcess } from '../../support/process';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { openWire, request } from '../../support/wire';

const folder = useTemporaryFolder();
afterEach(killProcesses);

/** Starts the service with two workers. */
function start(variables: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
  return startProcess({ WORKERS: '2', ...variables }, folder.path);
}

describe('with several workers', () => {
  it('they finish their calls when the service stops, also where signals end a process at once, as under Windows', async () => {
    const code = `if (require('node:cluster').isWorker) process.on('SIGTERM', () => process.kill(process.pid, 'SIGKILL'));`;
    const service = await start(await preloaded(folder.path, code));
    const wire = await openWire(service.url);
    const line = `POST ${new URL(service.url).pathname}/RecordEvent`;
    wire.write(request(line, 'Content-Length: 1', 'Expect: 100-continue'));
    await wire.until(/100 Continue/);
    const ended = service.end('SIGTERM');
    await service.logged('stopping');
    wire.write('a');
    expect(await wire.untilClosed()).toContain('HTTP/1.1 200 OK');
    expect(await ended).toBe(0);
  });

  it('a worker that starts while the folder of the log is moved away makes no second log', async () => {
    const service = await start();
    const data = join(folder.path, 'data');
    await rename(data, `${data}-away`);
    const [worker = 0] = await childrenOf(service);
    process.kill(worker, 'SIGKILL');
    await eventually('another ends', () => service.output().includes(`There is no event log at ${data}`));
    await rename(`${data}-away`, data);
    await eventually('another has started', () => count(service, '"started"') === 3);
    await eventually('all record', async () => (await send(`${service.url}/RecordEvent?type=a`)).status === 200);
  });

  it('one line says that the files of the log are lost, and one that they are back, as does /readyz of both ports', async () => {
    const service = await start({ ADMIN_PORT: '0' });
    const { adminUrl } = await service.logged('supervising');
    const addresses = [service.url, String(adminUrl)].map((url) => new URL('/readyz', url).href);
    const statuses = async () => (await Promise.all(addresses.map((url) => send(url)))).map(({ status }) => status);
    const file = join(folder.path, 'data', 'events.db');
    const lines = () => ['was lost', 'are back'].map((words) => count(service, words));
    await rename(file, `${file}-away`);
    // Each worker notices within a second: that is the promise.
    await setTimeout(1000);
    expect([lines(), await statuses()]).toEqual([
      [1, 0],
      [503, 503],
    ]);
    await rename(`${file}-away`, file);
    await eventually('they are back', () => count(service, 'are back') > 0);
    expect(lines()).toEqual([1, 1]);
    await eventually('both are ready', async () => (await statuses()).every((status) => status === 200));
  });

  it('what they record is in the log once after their supervisor was killed, and none of them lives on', async () => {
    const service = await start();
    const workers = await childrenOf(service);
    const load = new Load(() => service.url, { callers: 50 });
    await load.goesOn(500);
    await service.end('SIGKILL');
    await load.stop();
    await eventually('the workers have ended', () => !workers.some((pid) => kill(pid, 0)));
    const again = await start();
    expect(verdict(load, await readEveryEvent(again.url))).toEqual(WHOLE);
    expect(await again.end('SIGTERM')).toBe(0);
  });

  it('any of them shows what all of them refused, also those that are gone', async () => {
    const service = await start();
    const refuse = async (name: string): Promise<void> => {
      await send(`${service.url}/Nope${name}`);
    };
    // Each connection is accepted by either worker.
    for (let i = 0; i < 20; i++) await refuse(`-first-${String(i)}.`);
    service.child.kill('SIGHUP');
    await eventually('both have stopped', () => count(service, '"stopped"') === 2);
    for (let i = 0; i < 20; i++) await refuse(`-second-${String(i)}.`);
    for (let i = 0; i < 10; i++) {
      const { body } = await send(`${service.url}?events=refusals`);
      const shown = [...body.matchAll(/Nope(-\w+-\d+)\. Web Service method name/g)].map(([, name]) => name);
      expect(new Set(shown).size).toBe(40);
      expect((await send(`${service.url}?events`)).body).toContain('>40 refused in the last hour<');
    }
  });

  it('what the admin port refuses is counted, limited and listed with what the workers refuse', async () => {
    const service = await start({ ADMIN_PORT: '0', RATE_LIMIT: '20/1h' });
    const admin = String((await service.logged('supervising')).adminUrl);
    const statuses = [];
    for (let i = 0; i < 22; i++) statuses.push((await send(new URL('/nothing', admin).href)).status);
    expect(statuses).toEqual([...Array<number>(20).fill(404), 429, 429]);
    expect((await metricsAt(admin)).get('webhook_refusals_total{reason="rate"}')).toBe(2);
    expect((await send(`${service.url}?events=refusals`)).body).toContain('/nothing');
  });

  it('SIGHUP and the death of an old one at the same time leave the supervisor running', async () => {
    const service = await start();
    for (const first of [0, 1]) {
      const old = await childrenOf(service);
      const handedOver = count(service, 'a worker hands over');
      service.child.kill('SIGHUP');
      if (first === 1)
        await eventually('a worker hands over', () => count(service, 'a worker hands over') > handedOver);
      for (const pid of old) kill(pid, 'SIGKILL');
      await eventually(
        'two others run',
        async () => (await childrenOf(service)).filter((pid) => !old.includes(pid)).length === 2,
      );
      await eventually('two new workers are ready', () => answers(service.url));
    }
    expect(service.child.exitCode).toBe(null);
    expect(await service.end('SIGTERM')).toBe(0);
    // Processes start in four rounds, each of which takes up to 8 seconds beside programs that want all of the machine.
  }, 90_000);

  it('a new one for which there is no process leaves the old ones running', async () => {
    const fail = join(folder.path, 'fail');
    const code = `const processes = require('node:child_process');
      const { fork } = processes;
      processes.fork = (...given) =>
        require('node:fs').existsSync('${fail}') ? processes.spawn('/is/not/there', [], { stdio: 'ignore' }) : fork(...given);`;
    const service = await start(await preloaded(folder.path, code));
    const old = await childrenOf(service);
    await writeFile(fail, '');
    service.child.kill('SIGHUP');
    const { cause } = await service.logged('the workers were not replaced');
    expect(cause).toMatch(/^no process could be started \(.*ENOENT/);
    expect(await childrenOf(service)).toEqual(old);
    kill(old[0] ?? 0, 'SIGKILL');
    await eventually('two have ended', () => count(service, 'a worker ended, another one takes its place') >= 2);
    expect(await answers(service.url)).toBe(true);
    await rm(fail);
    await eventually('two run', async () => (await childrenOf(service)).length === 2);
  });

  it('one that hangs is counted as silent, with what it last reported', async () => {
    const service = await start({ ADMIN_PORT: '0' });
    const admin = String((await service.logged('supervising')).adminUrl);
    for (let i = 0; i < 10; i++) expect((await send(`${service.url}/RecordEvent`)).status).toBe(200);
    const figures = async () => {
      const metrics = await metricsAt(admin);
      const names = ['events_recorded_total', 'workers{state="answering"}', 'workers{state="silent"}'];
      return names.map((name) => metrics.get(`webhook_${name}`));
    };
    expect(await figures()).toEqual([10, 2, 0]);
    const [stopped = 0] = await childrenOf(service);
    kill(stopped, 'SIGSTOP');
    expect(await figures()).toEqual([10, 1, 1]);
    kill(stopped, 'SIGCONT');
    await eventually('both workers answer', async () => (await figures())[1] === 2);
  });
});

function count(service: ServiceProcess, text: string): number {
  return service.output().split(text).length - 1;
}

function answers(url: string): Promise<boolean> {
  return succeeds(callOperation(url, 'httpget', 'HelloWorld'));
}
