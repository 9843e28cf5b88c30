import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { variablesOf } from '../../../src/config/variable';
import { VARIABLES } from '../../../src/config/variables';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import { BINDINGS, callOperation, eventsOf } from '../../support/bindings';
import { eventually } from '../../support/eventually';
import { send } from '../../support/http';
import { killProcesses, logLines, runToEnd, startProcess } from '../../support/process';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { describeUnless } from '../../support/tools';

describe('the service as a process', () => {
  const folder = useTemporaryFolder();

  it('keeps events in memory where EVENT_LOG says so, and that they are lost at its end', async () => {
    const variables = { EVENT_LOG: 'memory:', RETENTION_MAX_EVENTS: '1' };
    const service = await startProcess(variables, folder.path);
    for (const binding of BINDINGS) await callOperation(service.url, binding, 'RecordEvent');
    const kept = async () => eventsOf(await callOperation(service.url, 'soap11', 'GetEvents'));
    await eventually('the others are forgotten', async () => (await kept()).length === 1);
    expect(await service.end('SIGTERM')).toBe(0);
    const warnings = logLines(service.output()).map(({ msg }) => msg);
    expect(warnings).toContain('Events are lost when the service ends, as EVENT_LOG=memory: says');
    expect(existsSync(join(folder.path, 'data'))).toBe(false);
  });

  it('reads a .env file in the working directory; the environment wins over it', async () => {
    await writeFile(join(folder.path, '.env'), 'SERVICE_ROOT=hooks\nEVENT_TYPE=from.file\n');
    const service = await startProcess({ SERVICE_ROOT: undefined, EVENT_TYPE: 'from.environment' }, folder.path);
    expect(new URL(service.url).pathname).toBe('/hooks/Services/WebHooks.asmx');
    await callOperation(service.url, 'httpget', 'RecordEvent');
    const [event] = eventsOf(await callOperation(service.url, 'httpget', 'GetEvents'));
    expect(event?.type).toBe('from.environment');
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

    const log = await openSqliteLog({ file: join(folder.path, 'data', 'events.db') });
    const events = (await log.scan({ after: 0, limit: 100 })).map(({ id }) => id);
    await log.close();
    const answered = settled.flatMap((call) => (call.status === 'fulfilled' ? [call.value] : []));
    expect(answered.length).toBeGreaterThan(0);
    expect(events).toEqual(expect.arrayContaining(answered));
  });

  it.each(['SIGTERM', 'SIGINT'])('ends with 0 on %s while it starts, also as process 1', async (signal) => {
    const preload = join(folder.path, 'preload.cjs');
    // The first moment in which a program that is still starting hears of a signal.
    await writeFile(preload, `setTimeout(() => process.kill(process.pid, '${signal}'), 0);`);
    const { code, output } = await runToEnd({ NODE_OPTIONS: `--require=${preload}` }, folder.path);
    expect([code, output]).toEqual([0, '']);
  });

  it.each(['SIGHUP', 'SIGBREAK'])(
    'stops on %s under Windows: its console closes, or somebody typed Ctrl-Break',
    async (name) => {
      const preload = join(folder.path, 'preload.cjs');
      const windows = `Object.defineProperty(process, 'platform', { value: 'win32' })`;
      await writeFile(preload, `process.on('SIGUSR2', () => { ${windows}; process.emit('${name}', '${name}'); });`);
      const service = await startProcess({ NODE_OPTIONS: `--require=${preload}` }, folder.path);
      expect(await service.end('SIGUSR2')).toBe(0);
      expect(service.output()).toContain('"stopped"');
    },
  );

  it('says in PEM what to convert where TLS_CERT is in DER', async () => {
    const file = join(folder.path, 'cert.der');
    await writeFile(file, Buffer.from([0x30, 0x82, 3, 3, 0x30, 0x82]));
    const { code, output } = await runToEnd({ TLS_CERT: file, TLS_KEY: file, WORKERS: '2' }, folder.path);
    expect(code).toBe(1);
    expect(output).toMatch(/^TLS_CERT \(.*cert\.der\) cannot be used: .* in PEM .*Convert DER with: openssl x509/m);
  });

  it('does not start with a log in a folder that cannot be created, and says what to set', async () => {
    const { code, output } = await runToEnd({ EVENT_LOG: 'sqlite:/proc/none/events.db' }, folder.path);
    expect(code).toBe(1);
    expect(output).toMatch(
      /^The event log \/proc\/none\/events\.db cannot be opened: there is no such file or folder\. Set EVENT_LOG.*\.\n$/,
    );
  });

  describe.each([{}, { WORKERS: '2' }])('with %j', (workers) => {
    const host = '127.0.0.1';

    it('does not start on an address that is taken, and names the variable', async () => {
      const taken = createServer();
      await new Promise<void>((resolve) => taken.listen(0, host, resolve));
      const port = String((taken.address() as AddressInfo).port);
      const start = (variables: Record<string, string>) => runToEnd({ ...workers, ...variables }, folder.path);
      const text = `${host} at port ${port} cannot be used: another program uses it. Set`;
      for (const name of ['PORT', 'ADMIN_PORT']) {
        const { code, output } = await start({ [name]: port });
        expect([code, output.match(/^127.*$/gm)]).toEqual([1, [`${text} ${name} or ${name.replace('PORT', 'HOST')}.`]]);
      }
      taken.close();
    });
  });

  it.each([
    ['a line that is no variable', 'RECORD_KEYS\nREAD_KEYS=x', '.env, line 1: must be NAME=VALUE'],
    ['a value that is not allowed', '\nACCESS_LOG=x', 'ACCESS_LOG=x: must be true or false (.env, line 2)'],
  ])('does not start with %s in .env', async (_what, content, message) => {
    await writeFile(join(folder.path, '.env'), content);
    const result = await runToEnd({}, folder.path);
    expect(result).toEqual({ code: 1, output: expect.stringContaining(message) as string });
    expect(result.output.split('\n').length).toBe(3);
  });

  it('warns of a name in .env that is no setting, and of one in the environment that resembles one, and starts', async () => {
    await writeFile(join(folder.path, '.env'), 'RETENTION_DAYS=30\nNODE_ENV=production\n');
    const variables = {
      GITHUB_SECRETS: 'x',
      LOG_LVL: 'debug',
      API_KEY: 'x',
      DATABASE_URL: 'x',
      AWS_SECRET_ACCESS_KEY: 'x',
    };
    const service = await startProcess(variables, folder.path);
    await service.end('SIGTERM');
    const warnings = logLines(service.output()).filter(({ level }) => level === 'warn');
    expect(warnings.map(({ msg }) => msg)).toEqual([
      expect.stringContaining('New, empty log'),
      'RETENTION_DAYS: there is no such setting; did you mean RETENTION_MAX_AGE? (.env, line 1)',
      expect.stringMatching(
        /^GITHUB_SECRETS: there is no such setting; did you mean WEBHOOK_SECRETS or .*SLACK_SECRETS or/,
      ),
      'LOG_LVL: there is no such setting; did you mean LOG_LEVEL?',
      'API_KEY: there is no such setting; did you mean RECORD_KEYS or READ_KEYS?',
    ]);
  });

  it('answers --help and --version, and knows no other argument', async () => {
    const help = await runToEnd({}, folder.path, ['--help']);
    expect(help.code).toBe(0);
    for (const { name } of variablesOf(VARIABLES)) expect(help.output).toContain(`  ${name} `);
    const { version } = JSON.parse(await readFile(join(__dirname, '..', '..', '..', 'package.json'), 'utf8')) as Record<
      string,
      string
    >;
    expect(await runToEnd({}, folder.path, ['--version'])).toEqual({
      code: 0,
      output: expect.stringMatching(new RegExp(`^${String(version)} \\([\\w-]+\\)\n$`)) as string,
    });
    const { code, output } = await runToEnd({}, folder.path, ['--port', '9000']);
    expect([code, output]).toEqual([2, expect.stringContaining('Unknown argument "--port". Settings are environment')]);
    expect(output).toContain('put NAME=VALUE before the command, or into .env');
  });

  it('loads no event log but the one that is chosen, and not what reads old character sets', async () => {
    const preload = join(__dirname, '..', '..', 'support', 'loaded-modules.cjs');
    const service = await startProcess({ NODE_OPTIONS: `--require=${preload}` }, folder.path);
    await callOperation(service.url, 'soap11', 'RecordEvent');
    await send(new URL('/metrics', service.url).href);
    await service.end('SIGTERM');
    const packages = /^Loaded packages: (.*)$/m.exec(service.output())?.[1]?.split(' ') ?? [];
    expect(packages).toEqual(expect.arrayContaining(['soap', 'express', 'prom-client']));
    const unused = /^(?:@exodus\/|@nats-io\/|pg$|zod$|xml-crypto$)/;
    expect(packages.filter((name) => unused.test(name))).toEqual([]);
  });

  it('does not start on a version of Node that is too old', async () => {
    const preload = join(__dirname, '..', '..', 'support', 'old-node.cjs');
    const { code, output } = await runToEnd({ NODE_OPTIONS: `--require=${preload}` }, folder.path);
    expect([code, output]).toEqual([1, 'WebHook needs Node 20.19 or later; this is 18.20.8.\n']);
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
    // While the process is stopped, the system queues connections for it.
    service.child.kill('SIGSTOP');
    const sockets = Array.from({ length: 1000 }, () => connect(Number(port), '127.0.0.1'));
    const connected = Promise.all(sockets.map((socket) => once(socket, 'connect'))).then(() => 'all');
    const outcome = await Promise.race([connected, setTimeout(5000, 'not all in 5 s', { ref: false })]);
    for (const socket of sockets) socket.destroy();
    service.child.kill('SIGCONT');
    expect(outcome).toBe('all');
    expect(await service.end('SIGTERM')).toBe(0);
  });
});
