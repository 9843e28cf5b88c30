import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { BUILD } from '../../../src/util/program';
import { variablesOf } from '../../../src/config/variable';
import { VARIABLES } from '../../../src/config/variables';
import { callOperation } from '../../support/bindings';
import { send } from '../../support/http';
import { killProcesses, logLines, preloaded, runToEnd, startProcess } from '../../support/process';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { describeUnless } from '../../support/tools';

describe('the service as a process', () => {
  const folder = useTemporaryFolder();

  it('keeps events in memory where EVENT_LOG says so, warns of that and of a misspelled name, and ends on SIGINT', async () => {
    const service = await startProcess({ EVENT_LOG: 'memory:', LOG_LVL: 'debug' }, folder.path);
    await callOperation(service.url, 'httpget', 'RecordEvent');
    expect(await service.end('SIGINT')).toBe(0);
    expect(service.output()).toContain('Events are lost when the service ends, as EVENT_LOG=memory: says');
    expect(service.output()).toContain('LOG_LVL: there is no such setting; did you mean LOG_LEVEL?');
    expect(existsSync(join(folder.path, 'data'))).toBe(false);
  });

  it.each(['SIGTERM', 'SIGINT'])('ends with 0 on %s while it starts, also as process 1', async (signal) => {
    // The first moment in which a program that is still starting hears of a signal.
    const variables = await preloaded(folder.path, `setTimeout(() => process.kill(process.pid, '${signal}'), 0);`);
    expect(await runToEnd(variables, folder.path)).toEqual({ code: 0, output: '' });
    // There 0 would mean that the service is ready.
    expect((await runToEnd(variables, folder.path, ['--ready'])).code).toBe(signal);
  });

  it.each(['SIGHUP', 'SIGBREAK'])(
    'stops on %s under Windows: its console closes, or somebody typed Ctrl-Break',
    async (name) => {
      const windows = `Object.defineProperty(process, 'platform', { value: 'win32' })`;
      const code = `process.on('SIGUSR2', () => { ${windows}; process.emit('${name}', '${name}'); });`;
      const service = await startProcess(await preloaded(folder.path, code), folder.path);
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

  it.each(['1', '2'])(
    'does not start on an address that is taken, and names the variable: WORKERS=%s',
    async (WORKERS) => {
      const taken = createServer().listen(0, '127.0.0.1');
      await once(taken, 'listening');
      const port = String((taken.address() as AddressInfo).port);
      for (const name of ['PORT', 'ADMIN_PORT']) {
        const { code, output } = await runToEnd({ WORKERS, [name]: port }, folder.path);
        const text = `127.0.0.1 at port ${port} cannot be used: another program uses it. Set ${name} or`;
        expect([code, output.match(/^127.*$/gm)]).toEqual([1, [`${text} ${name.replace('PORT', 'HOST')}.`]]);
      }
      taken.close();
    },
  );

  it('warns of a new, empty log once, and of missing keys on an address that is not loopback', async () => {
    for (const made of [[`New, empty log made at ${join(folder.path, 'data', 'events.db')}`], []]) {
      const open = await startProcess({ HOST: '0.0.0.0', RECORD_KEYS: 'record-key-0123456789' }, folder.path);
      await open.end('SIGTERM');
      const warnings = logLines(open.output()).filter(({ level }) => level === 'warn');
      const keys: unknown = expect.stringMatching(/read events and metrics: set READ_KEYS/);
      expect(warnings.map(({ msg }) => msg)).toEqual([...made, keys]);
    }
  });

  it('answers --help and --version, and knows no other argument', async () => {
    const answered = (argument: string) => runToEnd({}, folder.path, [argument]);
    const help = await answered('--help');
    for (const { name } of variablesOf(VARIABLES)) expect(help.output).toContain(`  ${name} `);
    const version: unknown = expect.stringMatching(new RegExp(`^${BUILD.version} \\([\\w-]+\\)\n$`));
    expect([help.code, await answered('--version')]).toEqual([0, { code: 0, output: version }]);
    const { code, output } = await answered('--port');
    expect([code, output]).toEqual([2, expect.stringContaining('Unknown argument "--port". Settings are environment')]);
  });

  it('loads no event log but the one that is chosen, and not what reads old character sets', async () => {
    const code = `if (require('node:worker_threads').isMainThread) process.on('exit', () => {
      const loaded = Object.keys(require.cache).map((file) => file.split('node_modules/').at(-1));
      require('node:fs').writeSync(2, loaded.join('\\n'));
    });`;
    const service = await startProcess(await preloaded(folder.path, code), folder.path);
    await callOperation(service.url, 'soap11', 'RecordEvent');
    await send(new URL('/metrics', service.url).href);
    await service.end('SIGTERM');
    for (const used of ['soap/', 'express/', 'prom-client/']) expect(service.output()).toContain(`\n${used}`);
    expect(service.output()).not.toMatch(/^(?:@exodus|@nats-io|pg|zod|xml-crypto)\//m);
  });

  it('does not start on a version of Node that is too old, and loads nothing there that it may not be able to parse', async () => {
    const code = `Object.defineProperty(process, 'version', { value: 'v18.20.8' });
      const names = () => Object.keys(require.cache).map((file) => require('node:path').basename(file));
      process.on('exit', () => console.error(names().join(' ')));`;
    const old = await preloaded(folder.path, code);
    const { code: exitCode, output } = await runToEnd(old, folder.path);
    const message = 'WebHook needs Node 20.19 or later; this is 18.20.8.\n';
    expect([exitCode, output]).toEqual([1, `${message}preload.cjs main.js program.js\n`]);
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
