import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { copyFile, cp, readFile, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { connect as connectPlainly, Socket } from 'node:net';
import { join } from 'node:path';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';
import { Connections } from '../../src/http/connections';
import { STOP_TIMEOUT } from '../../src/http/server';
import { eventually } from '../support/eventually';
import { send } from '../support/http';
import { metricsAt } from '../support/metrics';
import { logLines, runToEnd, startProcess, type ServiceProcess } from '../support/process';
import { certificateIn } from '../support/program.cjs';
import { startService } from '../support/service';
import { useSharedFolder, useTemporaryFolder } from '../support/temporary-folder';
import { describeWith } from '../support/tools';
import { wireOn } from '../support/wire';

interface Addressed {
  readonly url: string;
}

/** A request for what is below the endpoint, as bytes. */
const bytesOf = ({ url }: Addressed, target: string, fields = '') =>
  `GET ${new URL(url).pathname}${target} HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n`;

/** Begins a TLS connection, by default to the service, on which a test writes the bytes of HTTP itself. */
function speakTls({ url }: Addressed, options: ConnectionOptions = {}): TLSSocket {
  const { hostname, port } = new URL(url);
  return connect({ host: hostname, port: Number(port), rejectUnauthorized: false, ...options });
}

async function openTls(service: Addressed, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = speakTls(service, options);
  await once(socket, 'secureConnect');
  return socket;
}

/** Opens a connection without TLS. */
async function openConnection(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connectPlainly(Number(port), hostname);
  await once(socket, 'connect');
  return socket;
}

const untilClosed = (socket: Socket) => wireOn(socket).untilClosed();

/** Resolves to the bytes that answer others on a connection of their own. */
async function plain({ url }: Addressed, bytes: string | undefined): Promise<string> {
  const socket = await openConnection(url);
  if (bytes !== undefined) socket.write(bytes);
  return untilClosed(socket);
}

/** Waits until a gauge has a value; the connection that asks is among those that are counted. */
const untilGauge = ({ url }: Addressed, name: string, value: number) =>
  eventually(`${name} is ${String(value)}`, async () => (await metricsAt(url)).get(name) === value);
const untilConnections = (service: Addressed, count: number) => untilGauge(service, 'webhook_connections', count);

it('a connection that was reset before its handshake, or in it, is closed and not counted', async () => {
  const connections = new Connections(1000, () => undefined);
  // Of such a socket Node does not know the address.
  for (const add of ['add', 'addHttp'] as const) {
    const socket = new Socket();
    connections[add](socket, true);
    await once(socket, 'close');
  }
  expect(connections.all.size).toBe(0);
  connections.stop();
});

describeWith({ openssl: 'openssl' }, 'the service over TLS', () => {
  const folder = useTemporaryFolder();
  const file = (name: string) => join(folder.path, name);
  const own = (name: string) => ({
    cert: readFileSync(file(`${name}.pem`)),
    key: readFileSync(file(`${name}-key.pem`)),
  });
  const variables = () => ({ TLS_CERT: file('cert.pem'), TLS_KEY: file('key.pem') });
  const start = (more: Readonly<Record<string, string>> = {}) => startProcess({ ...variables(), ...more }, folder.path);

  const made = useSharedFolder();
  beforeAll(() => {
    for (const name of ['first', 'second']) certificateIn(made.path, name);
    certificateIn(made.path, 'middle', 'first');
    certificateIn(made.path, 'leaf', 'middle');
  });
  beforeEach(async () => {
    await cp(made.path, folder.path, { recursive: true });
    await copyFile(file('first.pem'), file('cert.pem'));
    await copyFile(file('first-key.pem'), file('key.pem'));
  });

  /** Names a certificate in `.env`, among other settings. */
  const configure = (name: string, more = '') =>
    writeFile(file('.env'), `TLS_CERT=${name}.pem\nTLS_KEY=${name}-key.pem\n${more}`);

  /** Writes the authorities that may sign certificates of clients. */
  const trust = (...names: string[]) =>
    writeFile(file('ca.pem'), names.map((name) => readFileSync(file(`${name}.pem`), 'utf8')).join(''));

  async function reload(service: ServiceProcess): Promise<Readonly<Record<string, unknown>>> {
    const lines = () => logLines(service.output()).filter(({ msg }) => msg === 'settings read again');
    const before = lines().length;
    service.child.kill('SIGHUP');
    await eventually('the settings are read again', () => lines().length > before);
    return lines().at(-1) ?? {};
  }

  type Options = ConnectionOptions & { readonly agent?: Agent };

  /** Gets a document from a server that has a certificate; resolves to its text and the connection. */
  const get = (url: string, trusted: string, options: Options = {}): Promise<{ text: string; socket: TLSSocket }> =>
    new Promise((resolve, reject) => {
      request(url, { ca: readFileSync(file(`${trusted}.pem`)), agent: false, ...options }, (response) => {
        let text = '';
        const socket = response.socket as TLSSocket;
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve({ text, socket }));
      })
        .on('error', reject)
        .end();
    });
  const hello = async ({ url }: Addressed, trusted: string, options: Options = {}) =>
    (await get(`${url}/HelloWorld`, trusted, options)).text;

  it('answers at the https address that it prints, takes over other files on SIGHUP, and names what has to wait for a restart', async () => {
    await configure('first');
    const service = await startProcess({}, folder.path);
    expect(service.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\//);
    expect(await hello(service, 'first')).toContain('Hello World');
    expect((await get(`${service.url}?WSDL`, 'first')).text).toContain(`location="${service.url}"`);
    await configure('second', 'TLS_CLIENT_CA=first.pem\n');
    expect((await reload(service)).needRestart).toEqual(['TLS_CLIENT_CA']);
    expect(await hello(service, 'second')).toContain('Hello World');
    await expect(hello(service, 'first')).rejects.toThrow('self-signed');
    await service.end('SIGTERM');
  });

  it('goes on asking for certificates if SIGHUP finds no TLS_CLIENT_CA, which has to wait for a restart', async () => {
    await configure('first', 'TLS_CLIENT_CA=second.pem\n');
    const service = await startProcess({}, folder.path);
    await configure('first');
    expect((await reload(service)).needRestart).toEqual(['TLS_CLIENT_CA']);
    expect(await hello(service, 'first', own('second'))).toContain('Hello World');
    await expect(hello(service, 'first')).rejects.toThrow();
    await service.end('SIGTERM');
  });

  it('says at SIGHUP what is wrong with its files and goes on with the earlier ones, and does not start with such files', async () => {
    await trust('first');
    const settings = { TLS_CLIENT_CA: file('ca.pem') };
    const otherKey = await readFile(file('second-key.pem'), 'utf8');
    const encrypted = (key: string) =>
      String(createPrivateKey(key).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }));
    const cases: readonly (readonly ['cert.pem' | 'key.pem' | 'ca.pem', (good: string) => string, RegExp])[] = [
      ['cert.pem', () => '', /^TLS_CERT \(.*cert\.pem\) cannot be used: .* in PEM/],
      ['cert.pem', (text) => text + text.slice(0, 99), /^TLS_CERT .* cannot be used: bad end line/],
      ['key.pem', (text) => text.replace(/M/g, '?'), /^TLS_KEY .* cannot be used: /],
      ['key.pem', encrypted, /^TLS_KEY .* cannot be used: .* without a passphrase/],
      ['ca.pem', () => '# none', /^TLS_CLIENT_CA \(.*ca\.pem\) cannot be used: it has no certificate\./],
      ['ca.pem', (text) => text + text.slice(0, 99), /^TLS_CLIENT_CA .* cannot be used: bad end line/],
      ['key.pem', () => otherKey, /^TLS_KEY .* is not the key of .*TLS_CERT/],
    ];
    const service = await start(settings);
    // These do not apply alone.
    await writeFile(file('.env'), 'RECORD_KEYS=a-key-of-sixteen-or-more\nRETENTION_MAX_EVENTS=1');
    const reasons = () =>
      logLines(service.output())
        .filter(({ msg }) => msg === 'settings not usable, those from before stay in use')
        .map(({ reason }) => reason);
    for (const [i, [name, change, problem]] of cases.entries()) {
      const good = await readFile(file(name), 'utf8');
      await writeFile(file(name), change(good));
      service.child.kill('SIGHUP');
      await eventually('it says so', () => reasons().length > i);
      expect(reasons()[i]).toMatch(problem);
      expect((await get(`${service.url}/RecordEvent`, 'first', own('first'))).text).toContain('</string>');
      await expect(hello(service, 'first')).rejects.toThrow();
      if (i < cases.length - 1) await writeFile(file(name), good);
    }
    const { text } = await get(`${service.url}/GetEvents`, 'first', own('first'));
    expect(text.match(/"sequence"/g)).toHaveLength(cases.length);
    expect(await service.end('SIGTERM')).toBe(0);
    const { code, output } = await runToEnd({ ...variables(), ...settings }, folder.path);
    expect([code, output]).toEqual([1, expect.stringMatching(cases.at(-1)?.[2] ?? '')]);
    expect(await runToEnd({ ...variables(), TLS_CERT: file('none') }, folder.path)).toEqual({
      code: 1,
      output: `TLS_CERT (${file('none')}) cannot be read: there is no such file or folder.\n`,
    });
  });

  it('logs and counts handshakes that fail, and not a connection that is not used', async () => {
    await trust('second');
    const service = await start({ TLS_CLIENT_CA: file('ca.pem'), REQUEST_TIMEOUT: '300ms', ADMIN_PORT: '0' });
    const trusted = own('second');
    const tls = (options: ConnectionOptions) => untilClosed(speakTls(service, options));
    // Connections that are opened and not used: before TLS is agreed on, and after.
    await plain(service, undefined);
    await tls(trusted);
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    const missing = 'has no certificate, and one of TLS_CLIENT_CA is needed';
    const foreign = "the caller's certificate is not one of TLS_CLIENT_CA (DEPTH_ZERO_SELF_SIGNED_CERT)";
    const cases: readonly (readonly [() => Promise<unknown>, string, string])[] = [
      [() => tls({ maxVersion: 'TLSv1.2' }), 'key', missing],
      [() => tls({ minVersion: 'TLSv1.3' }), 'key', missing],
      [() => tls(own('first')), 'key', foreign],
      [
        () => plain(service, bytesOf(service, '')),
        'invalid',
        'speaks plain HTTP; its address must begin with https://',
      ],
      [() => plain(service, 'what is this'), 'invalid', 'does not speak TLS'],
      [() => tls({ ...trusted, ...old }), 'invalid', 'speaks TLS 1.1 or older, and TLS 1.2 or 1.3 is needed'],
      [() => plain(service, '\x16\x03\x01'), 'timeout', 'took more than 0.3 s'],
    ];
    const refused = () => logLines(service.output()).filter(({ msg }) => msg === 'refused');
    for (const [index, [attempt, refusal, reason]] of cases.entries()) {
      await attempt();
      await eventually(reason, () => refused().length > index);
      expect(refused()).toHaveLength(index + 1);
      expect(refused()[index]).toMatchObject({ refusal, reason: expect.stringContaining(reason) as string });
    }
    expect(await plain(service, 'POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello')).toMatch(
      /^HTTP\/1\.1 400 [\s\S]*its address must begin with https:\/\//,
    );
    const { adminUrl } = await service.logged('started');
    await untilGauge({ url: String(adminUrl) }, 'webhook_refusals_total{reason="invalid"}', 4);
    await service.end('SIGTERM');
  });

  describe('once SIGHUP has removed an authority of TLS_CLIENT_CA', () => {
    it('ends the connections of its clients, and no others', async () => {
      await trust('first');
      const service = await start({ TLS_CLIENT_CA: file('ca.pem') });
      await trust('first', 'second');
      await reload(service);
      const clientOf = (name: string) => {
        // Resumes its TLS sessions, too.
        const agent = new Agent({ ...own(name), keepAlive: true, maxSockets: 1 });
        return { agent, record: () => get(`${service.url}/RecordEvent`, 'first', { agent }) };
      };
      const [stays, goes] = [clientOf('first'), clientOf('second')];
      const { socket } = await stays.record();
      await goes.record();
      await trust('first');
      await reload(service);
      for (let times = 0; times < 3; times++) {
        await expect(goes.record()).rejects.toThrow();
        expect((await stays.record()).socket).toBe(socket);
      }
      for (const { agent } of [stays, goes]) agent.destroy();
      await service.end('SIGTERM');
    });

    it.each(['1', '2'])('with WORKERS=%s refuses its clients, also one that resumes its session', async (workers) => {
      await trust('second');
      const service = await start({ TLS_CLIENT_CA: file('ca.pem'), WORKERS: workers });
      const sessions: Buffer[] = [];
      const answer = async (session?: Buffer): Promise<string> => {
        const socket = speakTls(service, { ...own('second'), session });
        socket.on('session', (ticket) => sessions.push(ticket));
        socket.write(bytesOf(service, '/HelloWorld', 'Connection: close\r\n'));
        return untilClosed(socket);
      };
      for (let call = 0; call < 4; call++) expect(await answer()).toContain('Hello World');
      const tickets = [...sessions];
      expect(tickets).not.toHaveLength(0);
      await trust('first');
      if (workers === '1') await reload(service);
      else {
        service.child.kill('SIGHUP');
        await eventually('the workers are replaced', () => service.output().match(/"stopped"/g)?.length === 2);
      }
      for (const ticket of tickets) expect(await answer(ticket)).not.toContain('Hello World');
      expect(await service.end('SIGTERM')).toBe(0);
    });

    it('ends a connection whose handshake was under way', async () => {
      await trust('second');
      const service = await start({ TLS_CLIENT_CA: file('ca.pem') });
      const slow = await openConnection(service.url);
      // Accepted after the other.
      (await openTls(service, own('second'))).destroy();
      await trust('first');
      await reload(service);
      const late = speakTls(service, { socket: slow, ...own('second') });
      late.write(bytesOf(service, '/RecordEvent', 'Connection: close\r\n'));
      expect(await untilClosed(late)).not.toContain('200');
      expect(await service.end('SIGTERM')).toBe(0);
    });

    it('keeps a connection of another that resumed its session, whose intermediate certificate Node does not show', async () => {
      await trust('first', 'first');
      const service = await start({ TLS_CLIENT_CA: file('ca.pem') });
      const cert = ['leaf', 'middle'].map((name) => readFileSync(file(`${name}.pem`), 'utf8')).join('');
      const agent = new Agent({ ...own('leaf'), cert, keepAlive: true, maxSockets: 1 });
      const record = async () => (await get(`${service.url}/RecordEvent`, 'first', { agent })).socket;
      const first = await record();
      first.destroy();
      const resumed = await record();
      expect([resumed === first, resumed.isSessionReused()]).toEqual([false, true]);
      await trust('first');
      await reload(service);
      expect(await record()).toBe(resumed);
      agent.destroy();
      expect(await service.end('SIGTERM')).toBe(0);
    });
  });

  const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

  it('answers a caller that has ended its side, and closes connections that do not finish their handshake', async () => {
    const service = await start({ REQUEST_TIMEOUT: '1s' });
    const ended = speakTls(service);
    const answer = untilClosed(ended);
    ended.end(bytesOf(service, '/RecordEvent'));
    expect(statuses(await answer)).toEqual([200]);
    const unfinished = [undefined, '\x16\x03\x01\0\xc8\x01\0\0\xc4\x03\x03', bytesOf(service, '')];
    await Promise.all(unfinished.map((bytes) => plain(service, bytes)));
    await untilConnections(service, 1);
    expect(await service.end('SIGTERM')).toBe(0);
  });

  it('closes the connection of a caller that does not take its answer in REQUEST_TIMEOUT', async () => {
    const limits = { REQUEST_TIMEOUT: '1s', GET_EVENTS_MAX_BYTES: '67108864' };
    const service = await startService({ ...variables(), ...limits });
    await send(`${service.url}/RecordEvent`, { method: 'POST', body: 'x'.repeat(4_000_000) });
    const reader = await openTls(service);
    reader.pause();
    reader.on('error', () => undefined);
    // More than the buffers of the system hold.
    reader.write(bytesOf(service, '/GetEvents').repeat(16));
    await untilConnections(service, 2);
    await untilConnections(service, 1);
    reader.destroy();
  });

  it('answers a caller that is slow to agree on TLS when it stops, and closes silent connections, also in their handshake', async () => {
    const service = await startService(variables());
    const slow = await openConnection(service.url);
    const silent = [await openConnection(service.url), await openTls(service)];
    await untilConnections(service, 4);
    const closed = Promise.all(silent.map(untilClosed));
    const began = performance.now();
    const stopped = service.stop();
    await delay(300);
    const connection = speakTls(service, { socket: slow });
    const answer = untilClosed(connection);
    connection.write(bytesOf(service, '/HelloWorld'));
    expect(await answer).toContain('Hello World');
    await Promise.all([closed, stopped]);
    expect(performance.now() - began).toBeLessThan(STOP_TIMEOUT / 2);
  });
});
