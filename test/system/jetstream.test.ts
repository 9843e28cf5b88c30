import type { ChildProcess } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { DiscardPolicy, StorageType, type StreamConfig } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { NewEvent } from '../../src/events/stored-event';
import { EventTooLargeError } from '../../src/log/engine';
import { openJetStreamLog } from '../../src/log/jetstream/event-log';
import { encodeEvent } from '../../src/log/jetstream/message';
import { describeEventLog } from '../log/event-log-suite';
import { everyEvent, outcome, newEvent } from '../support/events';
import { eventually, succeeds } from '../support/eventually';
import { failureOf, useJetStream } from '../support/jetstream';
import { natsOperator, startNats, type NatsServer } from '../support/nats';
import { temporaryFolder } from '../support/temporary-folder';
import { startTcpProxy } from '../support/tcp-proxy';
import { describeWith } from '../support/tools';

describeWith({ 'nats-server': 'nats-server' }, 'with nats-server', () => {
  const nats = useJetStream();
  const { options, opened, directly } = nats;

  describeEventLog(
    'NATS JetStream',
    () => {
      const under = options();
      return Promise.resolve({
        open: (retention = under.retention) => openJetStreamLog({ ...under, retention }),
        clear: () =>
          directly(async ({ streams: existing }) => {
            await existing.purge(under.stream);
            await existing.purge(`${under.stream}_KEYS`);
          }),
        remove: () =>
          directly(async ({ streams: existing }) => {
            await existing.delete(under.stream);
            await existing.delete(`${under.stream}_KEYS`);
          }),
      });
    },
    { forgetsItself: false },
  );

  describe('an event on JetStream', () => {
    it.each<[string, Partial<NewEvent>]>([
      ['id and source', { id: 'twice' }],
      ['Idempotency-Key', { idempotencyKey: 'k' }],
      ['webhook-id', { webhookId: 'w' }],
    ])(
      'is recognized by its %s after the server was killed and its duplicate window has passed',
      async (_what, same) => {
        const under = options();
        const log = await opened(under);
        const { id } = await outcome(log.append(newEvent(same)));
        await directly(async ({ streams: existing }) => {
          for (const name of [under.stream, `${under.stream}_KEYS`]) {
            await existing.update(name, { duplicate_window: nanos(100) });
          }
        });
        await nats.restart();
        await eventually('the log is ready', () => succeeds(log.check()));
        expect(await outcome(log.append(newEvent(same)))).toEqual({ id, recorded: false });
        expect((await log.stats()).events).toBe(1);
      },
    );

    it('is recorded once and answered as recorded when the acknowledgement is lost', async () => {
      const proxy = await startTcpProxy(nats.port());
      const log = await opened(options({ servers: [`127.0.0.1:${String(proxy.port)}`] }));
      for (const event of [newEvent(), newEvent({ idempotencyKey: 'k' }), newEvent({ webhookId: 'w' })]) {
        const lost = proxy.loseAnswer();
        const appended = outcome(log.append(event));
        await lost;
        expect(await appended).toEqual({ id: event.id, recorded: true });
      }
      expect((await log.stats()).events).toBe(3);
      await proxy.close();
    });

    it('is recorded by the next delivery when the instance that claimed its key was killed', async () => {
      const under = options();
      const log = await opened(under);
      const event = newEvent({ id: 'first', data: '"data":1', idempotencyKey: 'k' });
      await log.append(event);
      // Such an instance leaves the claim of the key, and no event.
      await directly(async (manager) => {
        const { state } = await manager.streams.info(`${under.stream}_KEYS`, { subjects_filter: '>' });
        await manager.streams.purge(under.stream);
        await manager.streams.purge(`${under.stream}_KEYS`);
        const [subject = ''] = Object.keys(state.subjects ?? {}).filter((one) => state.subjects?.[one] === 2);
        await manager.jetstream().publish(subject, encodeEvent({ attempt: 'killed', event }));
      });
      const next = newEvent({ id: 'second', data: '"data":1', idempotencyKey: 'k' });
      expect(await outcome(log.append(next))).toEqual({ id: 'first', recorded: false });
      expect(await outcome(log.append(next))).toEqual({ id: 'first', recorded: false });
      const logged = await log.read(everyEvent);
      expect(logged.map(({ id, data }) => [id, data])).toEqual([['first', '"data":1']]);
    });

    it('is refused with the reason when it is larger than the servers accept', async () => {
      const log = await opened(options());
      const large = newEvent({ data: `"data":"${'x'.repeat(33 * 1024 * 1024)}"` });
      const refused = outcome(log.append(large));
      await expect(refused).rejects.toThrow(EventTooLargeError);
      await expect(refused).rejects.toThrow(
        /^The event \S+ has \d{8} bytes as it is kept, and the event log takes 33553920 at most\.$/,
      );
      await log.append(newEvent());
    });
  });

  it('records and forgets more than one deadline would allow: each event that is forgotten, and each 500 that are recorded, has its own', async () => {
    const log = await opened(options({ timeout: 1000 }));
    const events = Array.from({ length: 10_000 }, (_, i) => newEvent({ id: 'same', source: `/${String(i)}` }));
    const appended = await log.append(...events);
    expect(appended.filter(({ recorded }) => recorded)).toHaveLength(events.length);
    const position = (await log.scan({ after: 5000, limit: 1 }))[0]?.position ?? 0;
    expect(await log.forget([position])).toEqual([position]);
    expect((await log.stats()).events).toBe(events.length - 1);
  }, 60_000);

  describe('a JetStream event log that loses its server', () => {
    let lostFolder: Awaited<ReturnType<typeof temporaryFolder>>;
    let lost: NatsServer;
    beforeEach(async () => {
      lostFolder = await temporaryFolder();
      lost = await startNats(lostFolder.path);
    });
    afterEach(async () => {
      await lost.end('SIGKILL');
      await lostFolder.remove();
    });
    const open = () => opened(options({ servers: [`127.0.0.1:${String(lost.port)}`], timeout: 1500 }));

    it('fails within EVENT_LOG_TIMEOUT while the server hangs, and recovers by itself', async () => {
      const log = await open();
      await log.append(newEvent({ id: 'before' }));
      await stop(lost.child);
      const started = Date.now();
      const failures = await Promise.all(
        [outcome(log.append(newEvent())), log.read(everyEvent), log.check()].map(failureOf),
      );
      expect(Date.now() - started).toBeLessThan(10_000);
      for (const failure of failures) expect(failure).toMatch(/did not answer in time|no NATS server can be reached/);
      lost.child.kill('SIGCONT');
      await eventually('the log is ready', () => succeeds(log.check()));
      expect(await outcome(log.append(newEvent({ id: 'after' })))).toEqual({ id: 'after', recorded: true });
    });

    it('cannot be opened where no server answers, and says where it looked', async () => {
      const unreachable = options({ servers: ['127.0.0.1:1'], timeout: 500, login: { user: 'u', password: 'Geheim' } });
      const failure = await failureOf(opened(unreachable));
      expect(failure).toBe(
        `The event log ${unreachable.stream} on 127.0.0.1:1 cannot be opened. ---> no NATS server can be reached`,
      );
    });
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

  describe('a stream that exists already', () => {
    it.each([
      ['max_age', { max_age: nanos(60_000) }, 'max_age is 60s and must be 0s'],
      ['max_bytes', { max_bytes: 1000 }, 'max_bytes is 1000 and must be -1'],
      ['subjects', { subjects: ['other.>'] }, 'subjects is other.> and must be'],
      ['storage', { storage: StorageType.Memory }, 'storage is memory and must be file'],
    ])('is refused when its %s setting contradicts the configuration', async (_setting, given, problem) => {
      const under = options();
      const base = { name: under.stream, subjects: [`${under.stream}.*.*`] };
      await directly(({ streams: existing }) => existing.add({ ...base, ...given }));
      const failure = await failureOf(opened(under));
      expect(failure).toContain(`The stream ${under.stream} is not set up as the configuration says: `);
      expect(failure).toContain(problem);
      expect(failure).toContain(`nats stream edit ${under.stream}`);
    });

    it('is refused when the configuration wants more replicas than it has', async () => {
      const under = options();
      await opened(under);
      const failure = await failureOf(opened({ ...under, replicas: 3 }));
      expect(failure).toContain('num_replicas is 1 and must be 3');
    });

    it('is not made for those who only want to read it', async () => {
      const under = options({ create: false });
      expect(await failureOf(opened(under))).toContain(`the stream ${under.stream} does not exist`);
    });

    it('is not made anew where the keys of its events exist', async () => {
      const under = options();
      await opened(under);
      await directly(({ streams: existing }) => existing.delete(under.stream));
      expect(await failureOf(opened(under))).toContain(`nats stream rm ${under.stream}_KEYS`);
    });
  });

  describe('a server that asks who connects', () => {
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let guarded: NatsServer | undefined;
    beforeEach(async () => {
      folder = await temporaryFolder();
    });
    afterEach(async () => {
      await guarded?.end('SIGTERM');
      await folder.remove();
    });
    const guardedBy = async (configuration: string) => {
      guarded = await startNats(folder.path, -1, configuration);
      return options({ servers: [`127.0.0.1:${String(guarded.port)}`], timeout: 1500 });
    };

    it.each([
      ['a password', 'user: "us:er", password: "p@ss/%"', { user: 'us:er', password: 'p@ss/%' }, 'password'],
      ['a token', 'token: "to:ken"', { token: 'to:ken' }, 'token'],
    ])('accepts %s that is right, and refuses a wrong one without showing it', async (_what, asked, login, secret) => {
      const under = await guardedBy(`authorization { ${asked} }`);
      await opened({ ...under, login });
      const failure = await failureOf(opened({ ...under, login: { ...login, [secret]: 'Geheim' } }));
      expect(failure).toContain('Authorization Violation');
      expect(failure).not.toContain('Geheim');
    });

    it('accepts a file of credentials, which is read again when it connects again', async () => {
      const operated = natsOperator();
      const file = join(folder.path, 'nats.creds');
      const under = { ...(await guardedBy(operated.configuration)), login: { file } };
      expect(await failureOf(opened(under))).toContain(`${file} is not a readable file of NATS credentials`);
      await writeFile(file, 'Geheim');
      expect(await failureOf(opened(under))).toMatch(/is not a readable file of NATS credentials(?!.*Geheim)/);
      const expire = Date.now() + 3000;
      await writeFile(file, operated.credentials({ seconds: 3 }));
      const log = await opened(under);
      await log.append(newEvent());
      await writeFile(file, operated.credentials({ seconds: 3600 }));
      await eventually('the first credentials have expired', () => Promise.resolve(Date.now() > expire));
      expect(await outcome(log.append(newEvent({ id: 'renewed' })))).toEqual({ id: 'renewed', recorded: true });
    });
  });
});

/** Stops a process as if its machine hung, and resolves once it has stopped. */
async function stop({ pid }: ChildProcess): Promise<void> {
  process.kill(pid ?? 0, 'SIGSTOP');
  while (!/^State:\s+T/m.test(await readFile(`/proc/${String(pid)}/status`, 'utf8'))) await setTimeout(1);
}
