import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { BINDINGS, requestOf, resultOf } from '../support/bindings';
import { everyEvent } from '../support/load';
import { killProcesses, runToEnd, startProcess, type ServiceProcess } from '../support/process';
import { useTemporaryFolder } from '../support/service';

const folder = useTemporaryFolder();
afterEach(killProcesses);

/** Starts the service and waits for both workers: a port that is picked is given up with the last worker on it. */
async function start(): Promise<ServiceProcess> {
  const service = await startProcess({ WORKERS: '2' }, folder.path);
  await until(() => service.output().match(/"started"/g)?.length === 2);
  return service;
}

/** Records over all bindings on connections that are kept, until `stop` says so; resolves to the ids. */
async function record(url: string, stop: () => boolean, failed: (error: unknown) => void): Promise<string[]> {
  const ids: string[] = [];
  const caller = async (_value: unknown, first: number): Promise<void> => {
    for (let i = first; !stop(); i++) {
      const { path, ...question } = requestOf(BINDINGS[i % BINDINGS.length] ?? 'soap11', 'RecordEvent');
      try {
        const answer = await fetch(url + path, question);
        const body = await answer.text();
        if (answer.status !== 200) throw new Error(body);
        ids.push(resultOf({ status: answer.status, headers: {}, body }));
      } catch (error) {
        failed(error);
        await setImmediate();
      }
    }
  };
  await Promise.all(Array.from({ length: 20 }, caller));
  return ids;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setImmediate();
}

describe('with several workers', () => {
  it('a restart of each of them on SIGHUP drops no request', async () => {
    const service = await start();
    const failures: unknown[] = [];
    let done = false;
    const recording = record(
      service.url,
      () => done,
      (error) => failures.push(error),
    );
    service.child.kill('SIGHUP');
    await until(() => service.output().match(/a worker hands over/g)?.length === 2);
    await until(() => service.output().match(/"stopped"/g)?.length === 2);
    done = true;
    const ids = await recording;
    expect(failures).toEqual([]);
    const events = await everyEvent(service.url);
    expect(events.map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(await service.end('SIGTERM')).toBe(0);
  });

  it('one that dies is replaced, and nothing that was answered is lost', async () => {
    const service = await start();
    const [victim = 0] = await childrenOf(service);
    let calls = 0;
    const recording = record(
      service.url,
      () => calls++ > 2000,
      () => undefined,
    );
    await until(() => calls > 500);
    process.kill(victim, 'SIGKILL');
    const ids = await recording;
    const lost = await service.logged('a worker ended, another one takes its place');
    expect(lost).toMatchObject({ worker: victim, cause: 'SIGKILL' });
    await until(() => service.output().match(/"started"/g)?.length === 3);
    expect(await childrenOf(service)).toHaveLength(2);
    const logged = (await everyEvent(service.url)).map(({ id }) => id);
    expect(ids.filter((id) => !logged.includes(id))).toEqual([]);
    expect(new Set(logged).size).toBe(logged.length);
    expect(await service.end('SIGINT')).toBe(0);
  });

  it('a taken port ends all of them with exit code 1 and the reason', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const port = String((taken.address() as { port: number }).port);
    const { code, output } = await runToEnd({ WORKERS: '2', PORT: port }, folder.path);
    taken.close();
    expect(output).toContain('EADDRINUSE');
    expect(code).toBe(1);
  });
});

/** The processes that a process has started (Linux). */
async function childrenOf({ child }: ServiceProcess): Promise<number[]> {
  const pid = String(child.pid);
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return list.trim().split(/\s+/).filter(Boolean).map(Number);
}
