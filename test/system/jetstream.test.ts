import { once } from 'node:events';
import { createServer } from 'node:net';
import { DiscardPolicy, type StreamAPI, type StreamConfig } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { openJetStreamLog } from '../../src/log/jetstream/event-log';
import { describeEventLog } from '../log/event-log-suite';
import { describeServedLog } from '../log/served-log-suite';
import { EVERY_EVENT, outcome, newEvent } from '../support/events';
import { eventually } from '../support/eventually';
import { failureOf, useJetStream } from '../support/jetstream';
import { startNats } from '../support/nats';
import { startTcpProxy } from '../support/tcp-proxy';
import { useTemporaryFolder } from '../support/temporary-folder';
import { describeWith } from '../support/tools';

describeWith({ 'nats-server': 'nats-server' }, 'with nats-server', () => {
  const nats = useJetStream();
  const { options, opened, directly } = nats;

  /** Does something with both streams of a log. */
  const withBoth = (stream: string, action: (existing: StreamAPI, name: string) => Promise<unknown>) =>
    directly(async ({ streams }) => {
      for (const name of [stream, `${stream}_KEYS`]) await action(streams, name);
    });

  describeEventLog(
    'NATS JetStream',
    () => {
      const under = options();
      return Promise.resolve({
        open: (retention = under.retention) => openJetStreamLog({ ...under, retention }),
        clear: () => withBoth(under.stream, (existing, name) => existing.purge(name)),
        remove: () => withBoth(under.stream, (existing, name) => existing.delete(name)),
      });
    },
    { forgetsItself: false },
  );

  describeServedLog('NATS JetStream', nats, async (port, timeout = 20_000) => {
    const under = options({ servers: [`127.0.0.1:${String(port)}`], timeout });
    const log = await opened(under);
    // Repetitions are known for longer than NATS knows duplicates by itself.
    await withBoth(under.stream, (existing, name) => existing.update(name, { duplicate_window: nanos(100) }));
    return log;
  });

  it.each<[string, Partial<StreamConfig>, string]>([
    ['sealed', { sealed: true }, 'is sealed'],
    ['full', { discard: DiscardPolicy.New, max_msgs: 1 }, 'is full, and refuses new messages (discard: new)'],
    ['given other subjects', { subjects: ['changed.>'] }, 'does not have the subjects'],
    ['told to acknowledge nothing', { no_ack: true }, 'acknowledges nothing (no_ack)'],
  ])('says that its stream takes no events once it was %s, long before the time-out', async (_what, change, reason) => {
    const under = options();
    const log = await opened(under);
    await log.append(newEvent());
    await log.check();
    await directly(({ streams }) => streams.update(under.stream, change));
    const started = performance.now();
    for (const call of [log.check(), outcome(log.append(newEvent({ id: 'next' })))])
      expect(await failureOf(call)).toContain(`the stream ${under.stream} ${reason}`);
    expect(performance.now() - started).toBeLessThan(under.timeout / 2);
  });

  it('is used again however long its server was away', async () => {
    const log = await opened(options());
    await log.append(newEvent());
    await nats.restart(async () => {
      let tries = 0;
      const away = createServer((socket) => {
        tries++;
        socket.destroy();
      }).listen(nats.port(), '127.0.0.1');
      // The library gives up after ten.
      await eventually('it is tried often', () => tries > 12);
      await once(away.close(), 'close');
    });
    await log.append(newEvent());
  });

  it('completes a batch that broke off when it is sent again', async () => {
    const under = options();
    const proxy = await startTcpProxy(nats.port(), { cutAfter: 1024 * 1024 });
    const broken = await opened({ ...under, timeout: 1500, servers: [`127.0.0.1:${String(proxy.port)}`] });
    const batch = Array.from({ length: 500 }, (_, i) =>
      newEvent({ data: `"data":"${'x'.repeat(2000)}"`, webhookId: i % 2 ? `w${String(i)}` : undefined }),
    );
    expect(await failureOf(broken.append(...batch))).toContain('The events could not be recorded. ---> ');
    await proxy.close();
    const log = await opened(under);
    const { events } = await log.stats();
    expect([events > 0, events < 500]).toEqual([true, true]);
    const appended = await log.append(...batch);
    expect(appended.map(({ id }) => id)).toEqual(batch.map(({ id }) => id));
    expect((await log.read(EVERY_EVENT)).map(({ id }) => id).sort()).toEqual(batch.map(({ id }) => id).sort());
    expect(await log.append(...batch)).toEqual(batch.map(({ id }) => ({ id, recorded: false })));
  });

  describe('a server that asks who connects', () => {
    const folder = useTemporaryFolder();

    it.each([
      ['a password', 'user: "us:er", password: "p@ss/%"', { user: 'us:er', password: 'p@ss/%' }, 'password'],
      ['a token', 'token: "to:ken"', { token: 'to:ken' }, 'token'],
    ])('accepts %s that is right, and refuses a wrong one without showing it', async (_what, asked, login, secret) => {
      const guarded = await startNats(folder.path, -1, `authorization { ${asked} }`);
      const under = options({ servers: [`127.0.0.1:${String(guarded.port)}`], timeout: 1500 });
      await opened({ ...under, login });
      const failure = await failureOf(opened({ ...under, login: { ...login, [secret]: 'Geheim' } }));
      expect(failure).toContain('Authorization Violation');
      expect(failure).not.toContain('Geheim');
      await guarded.end('SIGTERM');
    });
  });
});
