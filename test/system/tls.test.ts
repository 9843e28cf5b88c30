import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, cp, readFile, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../support/eventually';
import { metricsAt } from '../support/metrics';
import { logLines, runToEnd, startProcess } from '../support/process';
import { certificateIn } from '../support/program.cjs';
import { openConnection, untilClosed } from '../support/wire';
import { temporaryFolder, useTemporaryFolder } from '../support/temporary-folder';
import { describeWith } from '../support/tools';

function encrypted(key: string): string {
  const cipher = { cipher: 'aes-256-cbc', passphrase: 'secret' };
  return createPrivateKey(key)
    .export({ type: 'pkcs8', format: 'pem', ...cipher })
    .toString();
}

describeWith({ openssl: 'openssl' }, 'the service over TLS', () => {
  const folder = useTemporaryFolder();
  const file = (name: string) => join(folder.path, name);
  const variables = () => ({ TLS_CERT: file('cert.pem'), TLS_KEY: file('key.pem') });

  let made: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    made = await temporaryFolder();
    for (const name of ['first', 'second']) certificateIn(made.path, name);
  });
  afterAll(() => made.remove());
  beforeEach(async () => {
    await cp(made.path, folder.path, { recursive: true });
    await use('first');
  });

  async function use(name: string): Promise<void> {
    await copyFile(file(`${name}.pem`), file('cert.pem'));
    await copyFile(file(`${name}-key.pem`), file('key.pem'));
  }

  type Options = ConnectionOptions & { readonly agent?: Agent; readonly ports?: Set<number | undefined> };

  /** @param options.ports - gets the local port of the connection on which the answer came. */
  const get = async (url: string, trusted: string, { ports, ...options }: Options = {}): Promise<string> => {
    const ca = await readFile(file(`${trusted}.pem`));
    return new Promise((resolve, reject) => {
      request(url, { ca, agent: false, ...options }, (response) => {
        let text = '';
        ports?.add(response.socket.localPort);
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => {
          resolve(text);
        });
      })
        .on('error', reject)
        .end();
    });
  };

  it('answers at the https address that it prints, and names it in the WSDL', async () => {
    const service = await startProcess(variables(), folder.path);
    expect(service.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\//);
    expect(await get(`${service.url}/HelloWorld`, 'first')).toContain('Hello World');
    expect(await get(`${service.url}?WSDL`, 'first')).toContain(`location="${service.url}"`);
    expect(await service.end('SIGTERM')).toBe(0);
  });

  it('reads its files again on SIGHUP', async () => {
    const service = await startProcess(variables(), folder.path);
    const hello = (trusted: string) => get(`${service.url}/HelloWorld`, trusted);
    await use('second');
    service.child.kill('SIGHUP');
    await service.logged('settings read again');
    expect(await hello('second')).toContain('Hello World');
    await expect(hello('first')).rejects.toThrow('self-signed');

    await service.end('SIGTERM');
  });

  it('takes over other files on SIGHUP, and names what has to wait for a restart', async () => {
    const configure = (name: string, more = '') =>
      writeFile(file('.env'), `TLS_CERT=${name}.pem\nTLS_KEY=${name}-key.pem\n${more}`);
    await configure('first');
    const service = await startProcess({}, folder.path);
    await configure('second', 'TLS_CLIENT_CA=first.pem\n');
    service.child.kill('SIGHUP');
    expect((await service.logged('settings read again')).needRestart).toEqual(['TLS_CLIENT_CA']);
    expect(await get(`${service.url}/HelloWorld`, 'second')).toContain('Hello World');
    await service.end('SIGTERM');
  });

  it('ends the connections of a removed TLS_CLIENT_CA on SIGHUP, and no others', async () => {
    const trust = async (...names: string[]) =>
      writeFile(file('ca.pem'), (await Promise.all(names.map((name) => readFile(file(`${name}.pem`))))).join(''));
    await trust('first', 'second');
    const service = await startProcess({ ...variables(), TLS_CLIENT_CA: file('ca.pem') }, folder.path);
    const clients = await Promise.all(
      ['first', 'second'].map(async (name) => {
        const own = { cert: await readFile(file(`${name}.pem`)), key: await readFile(file(`${name}-key.pem`)) };
        // Resumes its TLS sessions, too.
        const agent = new Agent({ ...own, keepAlive: true, maxSockets: 1 });
        const ports = new Set<number | undefined>();
        const record = () => get(`${service.url}/RecordEvent?by=${name}`, 'first', { agent, ports });
        return { agent, ports, record };
      }),
    );
    const [stays, goes] = clients as [(typeof clients)[0], (typeof clients)[0]];
    for (const { record } of clients) expect(await record()).toContain('<string');
    await trust('first');
    service.child.kill('SIGHUP');
    await service.logged('settings read again');
    for (let times = 0; times < 3; times++) {
      await expect(goes.record()).rejects.toThrow();
      expect(await stays.record()).toContain('<string');
    }
    expect([stays.ports.size, goes.ports.size]).toEqual([1, 1]);
    for (const { agent } of clients) agent.destroy();
    await service.end('SIGTERM');
  });

  it('logs and counts handshakes that fail, at most 20 lines a second, and not a connection that is not used', async () => {
    const settings = { ...variables(), TLS_CLIENT_CA: file('second.pem'), REQUEST_TIMEOUT: '300ms', ADMIN_PORT: '0' };
    const service = await startProcess(settings, folder.path);
    const port = Number(new URL(service.url).port);
    const trusted = { cert: await readFile(file('second.pem')), key: await readFile(file('second-key.pem')) };
    const stranger = { cert: await readFile(file('first.pem')), key: await readFile(file('first-key.pem')) };
    const tls = (options: ConnectionOptions) =>
      untilClosed(connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options }));
    const plain = async (bytes: string | undefined) => {
      const socket = await openConnection(service.url);
      if (bytes !== undefined) socket.write(bytes);
      return untilClosed(socket);
    };
    // Connections that are opened and not used: before TLS is agreed on, and after.
    await plain(undefined);
    await tls(trusted);
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    const cases: readonly (readonly [() => Promise<unknown>, string, string])[] = [
      [() => tls({ maxVersion: 'TLSv1.2' }), 'key', 'has no certificate, and one of TLS_CLIENT_CA is needed'],
      [() => tls({ minVersion: 'TLSv1.3' }), 'key', 'has no certificate, and one of TLS_CLIENT_CA is needed'],
      [
        () => tls(stranger),
        'key',
        "the caller's certificate is not one of TLS_CLIENT_CA (DEPTH_ZERO_SELF_SIGNED_CERT)",
      ],
      [() => plain('GET / HTTP/1.1\r\n\r\n'), 'invalid', 'speaks plain HTTP; its address must begin with https://'],
      [() => plain('what is this'), 'invalid', 'does not speak TLS'],
      [() => tls({ ...trusted, ...old }), 'invalid', 'speaks TLS 1.1 or older, and TLS 1.2 or 1.3 is needed'],
      [() => plain('\x16\x03\x01'), 'timeout', 'took more than 0.3 s'],
    ];
    const refused = () => logLines(service.output()).filter(({ msg }) => msg === 'refused');
    for (const [index, [attempt, refusal, reason]] of cases.entries()) {
      await attempt();
      await eventually(reason, () => refused().length > index);
      expect(refused()).toHaveLength(index + 1);
      expect(refused()[index]).toMatchObject({ refusal, reason: expect.stringContaining(reason) as string });
    }
    expect(await plain('POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello')).toMatch(
      /^HTTP\/1\.1 400 [\s\S]*its address must begin with https:\/\//,
    );
    const flood = 100;
    await Promise.all(Array.from({ length: flood }, () => plain('what is this')));
    const { adminUrl = '' } = logLines(service.output()).find(({ msg }) => msg === 'started') as { adminUrl?: string };
    const counted = async () => (await metricsAt(adminUrl)).get('webhook_refusals_total{reason="invalid"}');
    await eventually('all are counted', async () => (await counted()) === flood + 4);
    expect(refused().length).toBeLessThan(cases.length + flood);
    await service.end('SIGTERM');
  });

  it.each(['1', '2'])(
    'with WORKERS=%s refuses a client of an authority that was removed, also one that resumes its session',
    async (workers) => {
      await copyFile(file('second.pem'), file('ca.pem'));
      const settings = { ...variables(), TLS_CLIENT_CA: file('ca.pem'), WORKERS: workers };
      const service = await startProcess(settings, folder.path);
      const { hostname: host, port, pathname } = new URL(service.url);
      const client = { cert: await readFile(file('second.pem')), key: await readFile(file('second-key.pem')) };
      const sessions: Buffer[] = [];
      const hello = async (session?: Buffer): Promise<string> => {
        const socket = connect({ host, port: Number(port), rejectUnauthorized: false, ...client, session });
        socket.on('session', (ticket) => sessions.push(ticket));
        socket.write(`GET ${pathname}/HelloWorld HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
        return untilClosed(socket);
      };
      for (let call = 0; call < 4; call++) expect(await hello()).toContain('Hello World');
      const tickets = [...sessions];
      expect(tickets).not.toHaveLength(0);

      await copyFile(file('first.pem'), file('ca.pem'));
      service.child.kill('SIGHUP');
      if (workers === '1') await service.logged('settings read again');
      else await eventually('the workers are replaced', () => service.output().match(/"stopped"/g)?.length === 2);
      for (const ticket of tickets) expect(await hello(ticket)).not.toContain('Hello World');
      expect(await service.end('SIGTERM')).toBe(0);
    },
  );

  it('says at SIGHUP what is wrong with its files and goes on with the earlier ones, and does not start with such files', async () => {
    await copyFile(file('first.pem'), file('ca.pem'));
    const settings = { ...variables(), TLS_CLIENT_CA: file('ca.pem') };
    const own = { cert: await readFile(file('first.pem')), key: await readFile(file('first-key.pem')) };
    const otherKey = await readFile(file('second-key.pem'), 'utf8');
    const cases: readonly (readonly ['cert.pem' | 'key.pem' | 'ca.pem', (good: string) => string, RegExp])[] = [
      ['cert.pem', () => '', /^TLS_CERT \(.*cert\.pem\) cannot be used: .* in PEM/],
      ['cert.pem', (text) => text + text.slice(0, 99), /^TLS_CERT .* cannot be used: bad end line/],
      ['key.pem', (text) => text.replace(/M/g, '?'), /^TLS_KEY .* cannot be used: /],
      ['key.pem', encrypted, /^TLS_KEY .* cannot be used: .* without a passphrase/],
      ['ca.pem', () => '# none', /^TLS_CLIENT_CA \(.*ca\.pem\) cannot be used: it has no certificate\./],
      ['ca.pem', (text) => text + text.slice(0, 99), /^TLS_CLIENT_CA .* cannot be used: bad end line/],
      ['key.pem', () => otherKey, /^TLS_KEY .* is not the key of .*TLS_CERT/],
    ];
    const service = await startProcess(settings, folder.path);
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
      expect(await get(`${service.url}/HelloWorld`, 'first', own)).toContain('Hello World');
      await expect(get(`${service.url}/HelloWorld`, 'first')).rejects.toThrow();
      if (i < cases.length - 1) await writeFile(file(name), good);
    }
    expect(await service.end('SIGTERM')).toBe(0);
    const { code, output } = await runToEnd(settings, folder.path);
    expect([code, output]).toEqual([1, expect.stringMatching(cases.at(-1)?.[2] ?? '')]);
  });

  it('does not start without a file of TLS_CERT', async () => {
    const { output } = await runToEnd({ ...variables(), TLS_CERT: file('none') }, folder.path);
    expect(output).toBe(`TLS_CERT (${file('none')}) cannot be read: there is no such file or folder.\n`);
  });

  /** Opens a TLS connection on which a test writes the bytes of HTTP itself. */
  async function openTls(url: string): Promise<TLSSocket> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    return socket;
  }

  async function connectionsOf(url: string): Promise<number> {
    const text = await get(new URL('/metrics', url).href, 'first');
    return Number(/^webhook_connections (\d+)$/m.exec(text)?.[1]);
  }

  const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

  it('answers a caller that has ended its side', async () => {
    const service = await startProcess(variables(), folder.path);
    const socket = await openTls(service.url);
    const answer = untilClosed(socket);
    socket.end(`GET ${new URL(service.url).pathname}/RecordEvent HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expect(statuses(await answer)).toEqual([200]);
    expect(await service.end('SIGTERM')).toBe(0);
  });

  it('counts no connection that was reset, in its handshake or after its body, at whatever time', async () => {
    const service = await startProcess({ ...variables(), REQUEST_TIMEOUT: '1s' }, folder.path);
    const { hostname, port, pathname } = new URL(service.url);
    const fields = 'Host: localhost\r\nExpect: 100-continue\r\nContent-Length: 20000\r\n';
    const request = `POST ${pathname}/RecordEvent HTTP/1.1\r\n${fields}\r\n${'x'.repeat(20_000)}`;
    const abort = async (when: 'in its handshake' | 'after its body', milliseconds: number): Promise<void> => {
      const raw = await openConnection(`http://${hostname}:${port}`);
      const closed = untilClosed(raw);
      const reset = () => setTimeout(() => raw.resetAndDestroy(), milliseconds);
      const socket = connect({ socket: raw, rejectUnauthorized: false }).on('error', () => undefined);
      if (when === 'in its handshake') reset();
      else socket.once('secureConnect', () => socket.write(request)).once('secureConnect', reset);
      await closed;
    };
    for (let i = 0; i < 60; i++) await Promise.all([0, 3].map((more) => abort('after its body', (i + more) % 6)));
    for (let round = 0; round < 10; round++)
      await Promise.all(Array.from({ length: 30 }, (_, i) => abort('in its handshake', i)));
    await eventually('only the connection that asks is counted', async () => (await connectionsOf(service.url)) === 1);
    expect(await service.end('SIGTERM')).toBe(0);
  });

  it('closes connections that do not finish their handshake, and does not count them any more', async () => {
    const service = await startProcess({ ...variables(), REQUEST_TIMEOUT: '1s' }, folder.path);
    const silent = await openConnection(service.url);
    const halfway = await openConnection(service.url);
    halfway.write(Buffer.from('16030100c8010000c40303', 'hex'));
    const plain = await openConnection(service.url);
    plain.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await Promise.all([silent, halfway, plain].map((socket) => untilClosed(socket)));
    await eventually('only the connection that asks is counted', async () => (await connectionsOf(service.url)) === 1);
    expect(await service.end('SIGTERM')).toBe(0);
  });

  it('answers a caller on SIGTERM that had connected and is slow to agree on TLS', async () => {
    const service = await startProcess(variables(), folder.path);
    const slow = await openConnection(service.url);
    await eventually('it is counted', async () => (await connectionsOf(service.url)) === 2);
    const ended = service.end('SIGTERM');
    await service.logged('stopping');
    await delay(300);
    const connection = connect({ socket: slow, rejectUnauthorized: false });
    const answer = untilClosed(connection);
    connection.write(`GET ${new URL(service.url).pathname}/HelloWorld HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expect(await answer).toContain('Hello World');
    expect(await ended).toBe(0);
  });

  it('ends on SIGTERM with connections that are silent, in their handshake or after it', async () => {
    const service = await startProcess(variables(), folder.path);
    const silent = await openConnection(service.url);
    const agreed = await openTls(service.url);
    await eventually('both are counted', async () => (await connectionsOf(service.url)) === 3);
    const closed = Promise.all([untilClosed(silent), untilClosed(agreed)]);
    expect(await service.end('SIGTERM')).toBe(0);
    await closed;
  });

  it('closes the connection of a caller that does not take its answer in REQUEST_TIMEOUT', async () => {
    const limits = { REQUEST_TIMEOUT: '2s', GET_EVENTS_MAX_BYTES: '67108864' };
    const service = await startProcess({ ...variables(), ...limits }, folder.path);
    const { pathname } = new URL(service.url);
    const writer = await openTls(service.url);
    const body = 'x'.repeat(4_000_000);
    let text = '';
    writer.on('data', (chunk: Buffer) => (text += chunk.toString()));
    for (let i = 1; i <= 8; i++) {
      writer.write(
        `POST ${pathname}/RecordEvent HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000\r\n\r\n${body}`,
      );
      await eventually('it is recorded', () => statuses(text).length === i);
    }
    writer.destroy();
    const reader = await openTls(service.url);
    reader.pause();
    reader.on('error', () => undefined);
    reader.write(`GET ${pathname}/GetEvents HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await service.logged('refused');
    await eventually('it is not counted any more', async () => (await connectionsOf(service.url)) === 1);
    reader.destroy();
    expect(await service.end('SIGTERM')).toBe(0);
  });

  it('leaves calls that wait alone, tells them of events, and notices when their callers go', async () => {
    const limits = { REQUEST_TIMEOUT: '1s' };
    const service = await startProcess({ ...variables(), ...limits }, folder.path);
    const { pathname } = new URL(service.url);
    const untilWaiting = (calls: number) =>
      eventually(`${String(calls)} calls wait`, async () =>
        (await get(new URL('/metrics', service.url).href, 'first')).includes(
          `\nwebhook_calls_waiting ${String(calls)}\n`,
        ),
      );
    const wait = async () => {
      const socket = await openTls(service.url);
      socket.write(`GET ${pathname}/GetEvents?after=0&wait=60s HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      return socket;
    };
    const [leaving, ending] = [await wait(), await wait()];
    const told = get(`${service.url}/GetEvents?after=0&wait=60s`, 'first');
    await untilWaiting(3);
    leaving.destroy();
    await untilWaiting(2);
    ending.end();
    await untilWaiting(1);
    await get(`${service.url}/RecordEvent`, 'first');
    expect(await told).toContain('"sequence":"00000000000000000001"');
    expect(await service.end('SIGTERM')).toBe(0);
  });
});
