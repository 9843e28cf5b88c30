import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { HttpClient } from '../../src/cli/http-client';
import type { EventLog } from '../../src/log/event-log';
import { openSqliteLog } from '../../src/log/sqlite/event-log';
import { newEvent } from '../support/events';
import { eventually } from '../support/eventually';
import { useJetStream } from '../support/jetstream';
import { certificateIn } from '../support/program.cjs';
import { RECORDED_WSDL } from '../support/recorded-service';
import { startTarget, type Received, type Target } from '../support/target';
import { useTemporaryFolder } from '../support/temporary-folder';
import { startTool } from '../support/tool';
import { runCompareHere } from '../support/tool-here';
import { describeWith } from '../support/tools';

const KILLS = Number(process.env.TIMES ?? 10);

/** How many events are recorded before the target has them. */
const AHEAD = 50;

/** One request in this many is answered with 503. */
const EACH_BUSY = 71;

/** When the forwarder is killed, in turn: before its request is answered, or this many milliseconds after the answer. */
const MOMENTS = ['unanswered', 0, 1, 2, 4] as const;

/** Kills the forwarder several times while events come, and checks that the target has all in order. `name` is for EVENT_LOG. */
function itForwardsThroughKills(make: () => Promise<{ log: EventLog; name: string; folder: string }>): void {
  it(
    `brings each event at least once, in order, through ${String(KILLS)} kills while events come`,
    async () => {
      const { log, name, folder } = await make();
      /** The events that the target has answered with 200, as they came. */
      const taken: number[] = [];
      /** Kills the forwarder if it is time; true: its request must not be answered. */
      let kill = (): boolean => false;
      const target = await startTarget((request, before) => {
        if (kill()) return 'close';
        if (before % EACH_BUSY === EACH_BUSY - 1) return 503;
        taken.push(sequenceOf(request));
        return 200;
      });
      const args = ['forward', target.url, '--follow', '--since', '0', '--position', join(folder, 'position')];
      const start = () => startTool(args, { EVENT_LOG: name }, folder);
      const recorder = startRecorder(log, target);

      try {
        for (let i = 0; i < KILLS; i++) {
          const tool = start();
          const wanted = target.received.length + 1 + ((i * 7) % 23);
          const moment = MOMENTS[i % MOMENTS.length];
          let killed: Promise<unknown> | undefined;
          kill = () => {
            if (target.received.length < wanted || killed !== undefined) return false;
            killed =
              typeof moment === 'number' ? setTimeout(moment).then(() => tool.end('SIGKILL')) : tool.end('SIGKILL');
            return typeof moment !== 'number';
          };
          await eventually('the forwarder is killed', () => killed !== undefined);
          expect(await killed).toBe('SIGKILL');
        }
        await recorder.stop();
        const tool = start();
        await eventually('the last event arrives', () => taken.at(-1) === recorder.recorded());
        expect(await tool.end('SIGTERM')).toBe(0);
        const [last] = await log.scan({ after: recorder.recorded() - 1, limit: 2 });
        expect(last?.position).toBe(recorder.recorded());
      } finally {
        await recorder.stop();
        await log.close();
        await target.close();
      }

      expect(new Set(taken).size).toBe(recorder.recorded());
      expect([0, 1]).toEqual(expect.arrayContaining(stepsOf(taken)));
      const arrived = target.received.map(sequenceOf);
      expect(arrived[0]).toBe(1);
      expect([0, 1]).toEqual(expect.arrayContaining(stepsOf(arrived)));
      // Each 503 brings an event back, and each kill at most one.
      const repeated = arrived.length - recorder.recorded();
      expect(repeated).toBeLessThanOrEqual(Math.ceil(arrived.length / EACH_BUSY) + KILLS);
    },
    60_000 + KILLS * 10_000,
  );
}

function sequenceOf({ body }: Received): number {
  return Number((JSON.parse(body.toString()) as { sequence: string }).sequence);
}

/** By how much each of the numbers is more than the one before it, each difference once. */
function stepsOf(numbers: readonly number[]): number[] {
  return [...new Set(numbers.slice(1).map((number, i) => number - (numbers[i] ?? 0)))];
}

/** Records events all the time, but stays only a limited number ahead of the target. Returns how many there are, and what stops it. */
function startRecorder(log: EventLog, target: Target) {
  let isOver = false;
  let recorded = 0;
  const recording = (async () => {
    while (!isOver) {
      if (recorded > target.received.length + AHEAD) {
        await setTimeout(1);
        continue;
      }
      await log.append(newEvent());
      recorded++;
    }
  })();
  return {
    recorded: () => recorded,
    stop() {
      isOver = true;
      return recording;
    },
  };
}

describe('a forwarder of a log in SQLite', () => {
  const folder = useTemporaryFolder();

  itForwardsThroughKills(async () => {
    const file = join(folder.path, 'events.db');
    return { log: await openSqliteLog({ file }), name: `sqlite:${file}`, folder: folder.path };
  });
});

describeWith({ 'nats-server': 'nats-server' }, 'a forwarder of a log in NATS', () => {
  const folder = useTemporaryFolder();
  const jetStream = useJetStream();

  itForwardsThroughKills(async () => {
    const options = jetStream.options();
    const log = await jetStream.opened(options);
    return { log, name: `nats://127.0.0.1:${String(jetStream.port())}/${options.stream}`, folder: folder.path };
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
    const { TLS_CERT: other } = certificateIn(folder.path, 'other');
    const read = (options: readonly string[], extra = '') =>
      runCompareHere(['settings', target.url, ...options], folder.path, { NODE_EXTRA_CA_CERTS: extra });
    expect((await read(['--ca', other])).errors).toContain(
      'its certificate is signed by itself. --ca FILE names an authority to trust',
    );
    for (const options of [['--insecure'], ['--ca', certificate]]) expect((await read(options)).code).toBe(0);
    expect((await read(['--ca', other], certificate)).code).toBe(0);
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
    const client = new HttpClient({ isInsecure: true });
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
