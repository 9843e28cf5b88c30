import { BUILD } from '../../src/util/program';
import { BINDINGS, callOperation, newestEvents } from '../support/bindings';
import { eventually } from '../support/eventually';
import { runToEnd, startProcess } from '../support/process';
import { useTemporaryFolder } from '../support/temporary-folder';
import { runTool } from '../support/tool';

/** The most important of what `npm run test:process` tests. */
describe('the service as a process', () => {
  const folder = useTemporaryFolder();
  const idsAt = async (url: string) => (await newestEvents(url)).map(({ id }) => id);

  it('replaces a worker that dies, has what it answered after it was killed, answers over every binding, logs each refusal, shares its log with the tool and stops', async () => {
    const killed = await startProcess({ WORKERS: '2' }, folder.path);
    const id = await callOperation(killed.url, 'soap12', 'RecordEvent');
    const { pid: worker } = await killed.logged('started');
    process.kill(Number(worker), 'SIGKILL');
    const ended = await killed.logged('a worker ended, another one takes its place');
    expect(ended).toMatchObject({ worker, cause: 'SIGKILL' });
    await eventually('a new worker answers', () => killed.output().match(/"started"/g)?.length === 3);
    expect(await idsAt(killed.url)).toEqual([id]);
    expect(await killed.end('SIGKILL')).toBe('SIGKILL');
    const service = await startProcess({ ACCESS_LOG: 'true' }, folder.path);
    for (const binding of BINDINGS) expect(await callOperation(service.url, binding, 'HelloWorld')).toBe('Hello World');
    expect(await idsAt(service.url)).toEqual([id]);
    await fetch(`${service.url}/Nothing?private`);
    expect((await runTool(['print'], {}, folder.path)).output).toContain(id);
    expect(await service.end('SIGTERM')).toBe(0);
    const [first, ...lines] = service.output().trim().split('\n');
    expect(first).toBe(`WebHook answers at ${service.url}`);
    const messages = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
    const started = { level: 'info', url: service.url, pid: service.child.pid, version: BUILD.version };
    expect(JSON.parse(lines[0] ?? '')).toMatchObject(started);
    const answered = Array<string>(5).fill('answered');
    expect(messages).toEqual(['started', ...answered, 'refused', 'answered', 'stopping', 'stopped']);
    const path = new URL(`${service.url}/Nothing`).pathname;
    for (const line of lines.slice(6, 8)) expect(JSON.parse(line)).toMatchObject({ path, binding: 'httpget' });
    // Processes start in four rounds.
  }, 60_000);

  it('does not start with a value that is not allowed, and names it', async () => {
    const { code, output } = await runToEnd({ ACCESS_LOG: 'x' }, folder.path);
    expect([code, output]).toEqual([1, expect.stringContaining('ACCESS_LOG=x: must be true or false')]);
  });
});
