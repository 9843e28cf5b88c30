import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { readService } from '../../src/cli/compare/wsdl';
import { HttpClient } from '../../src/cli/http-client';
import type { EventLog } from '../../src/log/event-log';
import { openSqliteLog } from '../../src/log/sqlite/event-log';
import { itForwardsThroughKills } from './forwarder-kills';
import { newEvent } from '../support/events';
import { eventually } from '../support/eventually';
import { useJetStream } from '../support/jetstream';
import { certificateIn } from '../support/program.cjs';
import { RECORDED_WSDL } from '../support/recorded-service';
import { startTarget } from '../support/target';
import { useTemporaryFolder } from '../support/temporary-folder';
import { startTool, TOOL } from '../support/tool';
import { describeWith } from '../support/tools';

const KILLS = Number(process.env.TIMES ?? 10);

describe('a forwarder of a log in SQLite', () => {
  const folder = useTemporaryFolder();

  itForwardsThroughKills(KILLS, async () => {
    const file = join(folder.path, 'events.db');
    return { log: await openSqliteLog({ file }), name: `sqlite:${file}`, folder: folder.path };
  });
});

describeWith({ 'nats-server': 'nats-server' }, 'a forwarder of a log in NATS', () => {
  const folder = useTemporaryFolder();
  const jetStream = useJetStream();

  const opened = async () => {
    const options = jetStream.options();
    const log = await jetStream.opened(options);
    return { log, name: `nats://127.0.0.1:${String(jetStream.port())}/${options.stream}`, folder: folder.path };
  };

  itForwardsThroughKills(KILLS, opened);

  it('knows a stream again, and one of the same name that is another', async () => {
    const target = await startTarget();
    const { log, name } = await opened();
    await log.append(newEvent({ id: 'a' }), newEvent({ id: 'b' }));
    const run = async () => {
      const tool = startTool(
        ['forward', target.url, '--since', '0', '--position', 'position'],
        { EVENT_LOG: name },
        folder.path,
      );
      return [await tool.ended, tool.errors().split('\n').at(-2)];
    };
    expect(await run()).toEqual([0, '2 events forwarded.']);
    await log.append(newEvent({ id: 'c' }));
    expect(await run()).toEqual([0, '1 event forwarded.']);
    await jetStream.directly((manager) => manager.streams.purge(name.replace(/.*\//, '')));
    await log.append(newEvent({ id: 'd' }));
    expect(await run()).toEqual([0, '1 event forwarded.']);
    await log.close();
    await jetStream.directly((manager) => manager.streams.delete(name.replace(/.*\//, '')));
    expect((await run())[0]).toBe(1);
    expect(target.received).toHaveLength(4);
    await target.close();
  });
});

describeWith({ script: 'bsdutils' }, 'on a terminal', () => {
  const folder = useTemporaryFolder();
  let log: EventLog;
  beforeEach(async () => {
    log = await openSqliteLog({ file: join(folder.path, 'events.db') });
  });
  afterEach(() => log.close());

  /** Starts the tool on a terminal; `end` presses Ctrl+C. */
  const start = (args: string) => {
    const child = spawn('script', ['-qec', `exec ${process.execPath} ${TOOL} ${args}`, '/dev/null'], {
      env: { ...process.env, EVENT_LOG: `sqlite:${join(folder.path, 'events.db')}` },
    });
    const closed = once(child, 'close');
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const end = async (): Promise<void> => {
      child.stdin.write('\u0003');
      await closed;
    };
    return { shown: () => text, end };
  };
  const LINE = /2023-11-14 22:13:20\.000 +1 +test +3 B +–/;

  it('forwarding shows each event with its answer, and at its end how many were forwarded', async () => {
    let isBack = false;
    const target = await startTarget((_request, before) => (before < 2 || isBack ? 200 : 503));
    await log.append(...Array.from({ length: 7 }, () => newEvent({ data: '"data":"abc"' })));
    const { shown, end } = start(`forward ${target.url} --follow --since 0`);
    await eventually('an event is not taken', () => /Event 3 was not taken by/.test(shown()));
    expect(shown()).toMatch(/Event 3 was not taken by .*: 503 Service Unavailable \(\d+ ms\)\. Trying again/);
    isBack = true;
    const lines = / \d +test +3 B +– +200 OK \(\d+ ms\)/g;
    await eventually('all events have a line', () => shown().match(lines)?.length === 7);
    await end();
    expect(shown().trimEnd()).toMatch(/7 events forwarded\.$/);
    await target.close();
  });

  it('following prints a short line for each event, or CloudEvents', async () => {
    await log.append(newEvent({ id: 'a', data: '"data":"abc"' }));
    const [short, json] = [start('follow --since 0'), start('follow --since 0 --json')];
    await eventually('one prints lines', () => LINE.test(short.shown()));
    await eventually('the other prints events', () => json.shown().includes('{"specversion":"1.0","id":"a"'));
    await Promise.all([short.end(), json.end()]);
    expect(short.shown()).not.toContain('specversion');
  });
});

describeWith({ openssl: 'openssl' }, 'over HTTPS', () => {
  const folder = useTemporaryFolder();
  let certificate: string;
  let tls: { readonly cert: Buffer; readonly key: Buffer };
  beforeEach(async () => {
    const { TLS_CERT, TLS_KEY } = certificateIn(folder.path);
    certificate = TLS_CERT;
    tls = { cert: await readFile(TLS_CERT), key: await readFile(TLS_KEY) };
  });

  it('forwarding waits for a target whose certificate is not trusted', async () => {
    const file = join(folder.path, 'events.db');
    const target = await startTarget(undefined, { tls });
    const log = await openSqliteLog({ file });
    await log.append(newEvent({ id: 'a' }), newEvent({ id: 'b' }));
    await log.close();
    const args = ['forward', target.url, '--since', '0'];
    const variables = { EVENT_LOG: `sqlite:${file}` };
    const wary = startTool(args, variables, folder.path);
    await wary.said(`Event 1 was not taken by ${target.url}: its certificate is signed by itself. Trying again in`);
    expect(await wary.end('SIGTERM')).toBe(1);
    expect(target.received).toEqual([]);
    const trusting = startTool(args, { ...variables, NODE_EXTRA_CA_CERTS: certificate }, folder.path);
    expect(await trusting.ended).toBe(0);
    expect(target.received).toHaveLength(2);
    // Each attempt has its own: a late answer to one must not count for the next.
    expect(target.connections()).toBe(2);
    await target.close();
  });

  it('comparing refuses a certificate of an unknown authority, and takes that of one that is named, or any', async () => {
    const target = await startTarget(() => ({ status: 200, body: RECORDED_WSDL }), { tls });
    const read = async (trusted: { readonly ca?: string; readonly isInsecure?: boolean }) =>
      readService(target.url, new HttpClient({ timeout: 10_000, ca: undefined, isInsecure: false, ...trusted }, 1e6));
    await expect(read({})).rejects.toThrow(
      'its certificate is signed by itself. --ca FILE names an authority to trust',
    );
    for (const trusted of [{ ca: String(tls.cert) }, { isInsecure: true }])
      expect((await read(trusted)).wsdl.targetNamespace).toBe('http://tempuri.org/');
    await target.close();
  });

  it('forwarding posts through the tunnel of a proxy', async () => {
    const target = await startTarget(undefined, { tls });
    const asked: unknown[] = [];
    const proxy = createServer().on('connect', ({ url, headers }: IncomingMessage, socket: Socket) => {
      asked.push(url, headers['proxy-authorization']);
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(connect(Number(new URL(target.url).port), '127.0.0.1')).pipe(socket);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    process.env.HTTPS_PROXY = `http://us%40er:pass@127.0.0.1:${String((proxy.address() as AddressInfo).port)}`;
    const client = new HttpClient({ timeout: 5000, isInsecure: true }, 0);
    const answer = await client.send(new URL('https://us:er@target.invalid/a'), { method: 'POST', body: 'x' });
    Reflect.deleteProperty(process.env, 'HTTPS_PROXY');
    expect(answer).toMatchObject({ status: 204 });
    const basic = (user: string) => `Basic ${Buffer.from(user).toString('base64')}`;
    expect(asked).toEqual(['target.invalid:443', basic('us@er:pass')]);
    const headers = { host: 'target.invalid', authorization: basic('us:er') };
    expect(target.received).toMatchObject([{ path: '/a', headers }]);
    proxy.close();
    await target.close();
  });
});
