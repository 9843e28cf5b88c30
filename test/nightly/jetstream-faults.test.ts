import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { NewEvent } from '../../src/events/stored-event';
import type { EventLog } from '../../src/log/event-log';
import { everyEvent, outcome, newEvent } from '../support/events';
import { eventually } from '../support/eventually';
import { failureOf, useJetStream, type JetStreamUnderTest } from '../support/jetstream';
import { startTcpProxy } from '../support/tcp-proxy';
import { describeWith } from '../support/tools';

const MEBIBYTE = 1024 * 1024;

/** An event that was recorded just now. */
const recentEvent = (given: Partial<NewEvent> = {}) => newEvent({ recordedAt: Date.now(), ...given });

/** Records events until the log refuses one. */
async function fill(log: EventLog): Promise<string> {
  for (;;) {
    const event = recentEvent({ data: `"data":"${'x'.repeat(10_000)}"` });
    const failure = await outcome(log.append(event)).then(
      () => undefined,
      () => failureOf(log.append(event)),
    );
    if (failure !== undefined) return failure;
  }
}

/** Resolves once the room that a check took is free again. */
function probesGone({ directly }: JetStreamUnderTest, stream: string): Promise<void> {
  return eventually('the probes are gone', () =>
    directly(async ({ streams }) => (await streams.info(`${stream}_PROBE`)).state.messages === 0),
  );
}

describeWith({ 'nats-server': 'nats-server' }, 'a JetStream event log without room', () => {
  describe.each<[string, string, Parameters<typeof useJetStream>[1]]>([
    ['its server', 'jetstream: { max_file_store: 2MB }', undefined],
    [
      'its account',
      'accounts: { A: { jetstream: { max_file: 2MB }, users: [ { user: u, password: p } ] } }',
      { user: 'u', password: 'p' },
    ],
  ])('under the limit of %s', (_whose, configuration, credentials) => {
    const nats = useJetStream(configuration, credentials);

    it('says so for as long as it refuses events, on every instance, and no longer', async () => {
      const under = nats.options();
      const [log, other] = [await nats.opened(under), await nats.opened(under)];
      await Promise.all([log.check(), other.check()]);
      await probesGone(nats, under.stream);
      expect(await fill(log)).toMatch(
        /^The event could not be recorded\. ---> JetStream has no room for more events: /,
      );
      for (let i = 0; i < 5; i++) {
        expect(await failureOf(log.check())).toContain('JetStream has no room for more events: ');
        await failureOf(log.append(recentEvent({ data: `"data":"${'x'.repeat(10_000)}"` })));
        await setTimeout(250);
      }
      await failureOf(other.append(recentEvent({ data: `"data":"${'x'.repeat(10_000)}"` })));
      expect(await failureOf(other.check())).toContain('JetStream has no room for more events: ');
      await nats.directly(({ streams }) => streams.purge(under.stream));
      await log.check();
      await log.append(recentEvent());
    });
  });
});

describeWith({ 'nats-server': 'nats-server' }, 'with nats-server', () => {
  const nats = useJetStream();
  const { options, opened, directly } = nats;
  const messagesOf = (stream: string) => directly(async ({ streams }) => (await streams.info(stream)).state.messages);
  const keysOf = async (log: EventLog, stream: string): Promise<number> => {
    await log.close();
    return messagesOf(`${stream}_KEYS`);
  };

  describe('repeats of an event on JetStream', () => {
    it.each<[string, (i: number) => Partial<NewEvent>]>([
      ['with the same key', () => ({ idempotencyKey: 'k' })],
      ['with the same id and another key each time', (i) => ({ id: 'same', idempotencyKey: `k${String(i)}` })],
      [
        'with the same id and another key of each kind',
        (i) => ({ id: 'same', webhookId: `w${String(i)}`, idempotencyKey: `k${String(i)}` }),
      ],
      [
        'with the same webhook-id and another Idempotency-Key',
        (i) => ({ webhookId: 'w', idempotencyKey: `k${String(i)}` }),
      ],
    ])('%s leave nothing in the stream of keys', async (_how, same) => {
      const under = options();
      let log = await opened(under);
      await log.append(recentEvent(same(0)));
      const before = await keysOf(log, under.stream);
      log = await opened(under);
      for (let i = 1; i < 20; i++)
        expect(await outcome(log.append(recentEvent(same(i))))).toMatchObject({ recorded: false });
      await Promise.all(Array.from({ length: 50 }, (_, i) => log.append(recentEvent(same(100 + i)))));
      expect((await log.stats()).events).toBe(1);
      expect(await keysOf(log, under.stream)).toBe(before);
    });

    it('with a key that was used before for a forgotten event leave nothing either', async () => {
      const under = options({ retention: { maxEvents: 2, maxAge: undefined } });
      let log = await opened(under);
      for (const id of ['first', 'b', 'c']) await log.append(recentEvent({ id, idempotencyKey: id[0] }));
      expect(await outcome(log.append(recentEvent({ id: 'again', idempotencyKey: 'f' })))).toEqual({
        id: 'again',
        recorded: true,
      });
      const before = await keysOf(log, under.stream);
      log = await opened(under);
      for (let i = 0; i < 50; i++) {
        expect(await outcome(log.append(recentEvent({ idempotencyKey: 'f' })))).toEqual({
          id: 'again',
          recorded: false,
        });
      }
      expect(await keysOf(log, under.stream)).toBe(before);
    });

    it('do not push out the key of an event that is in the log', async () => {
      const under = options({ retention: { maxEvents: 3, maxAge: undefined } });
      const log = await opened(under);
      const kept = await outcome(log.append(recentEvent({ id: 'kept', idempotencyKey: 'kept' })));
      for (let i = 0; i < 300; i++) {
        await Promise.all(
          Array.from({ length: 10 }, (_, j) =>
            log.append(recentEvent({ id: 'busy', idempotencyKey: `k${String(i)}-${String(j)}` })),
          ),
        );
      }
      expect(await outcome(log.append(recentEvent({ idempotencyKey: 'kept' })))).toEqual({
        id: kept.id,
        recorded: false,
      });
    });
  });

  it('removes an event without the key that another event has claimed since an earlier removal was interrupted', async () => {
    const under = options();
    const log = await opened(under);
    await log.append(recentEvent({ id: 'removed', idempotencyKey: 'k', webhookId: 'w' }));
    await eventually('the references are there', async () => (await messagesOf(`${under.stream}_KEYS`)) === 4);
    await directly(({ streams }) => streams.purge(`${under.stream}_KEYS`));
    await log.append(recentEvent({ id: 'new', idempotencyKey: 'k' }));
    expect(await log.forget([1])).toEqual([1]);
    expect(await outcome(log.append(recentEvent({ idempotencyKey: 'k' })))).toEqual({ id: 'new', recorded: false });
    expect(await outcome(log.append(recentEvent({ webhookId: 'w' })))).toMatchObject({ recorded: true });
  });

  describe('a stream of events that comes back as it was some events ago', () => {
    /** A log with a copy of its stream that was made before the events `lost-0` to `lost-2`, and is then put in its place. */
    async function restored() {
      const under = options();
      const log = await opened(under);
      const ids = ['kept-0', 'kept-1', 'lost-0', 'lost-1', 'lost-2'];
      const keyed = ids.map((id) => recentEvent({ id, idempotencyKey: `key-${id}`, webhookId: `hook-${id}` }));
      await log.append(...keyed.slice(0, 2));
      await nats.restart(async (store) =>
        cp(join(store, under.stream), join(store, '..', 'copy'), { recursive: true }),
      );
      await log.append(...keyed.slice(2));
      await log.close();
      await nats.restart(async (store) => {
        await rm(join(store, under.stream), { recursive: true });
        await cp(join(store, '..', 'copy'), join(store, under.stream), { recursive: true });
        await rm(join(store, '..', 'copy'), { recursive: true });
      });
      const after = await opened(under);
      await eventually('the log is ready', () =>
        after.check().then(
          () => true,
          () => false,
        ),
      );
      expect((await after.read(everyEvent)).map(({ id }) => id)).toEqual(['kept-0', 'kept-1']);
      return after;
    }

    const repeats = (log: Awaited<ReturnType<typeof restored>>, id: string) =>
      Promise.all(
        [{ idempotencyKey: `key-${id}` }, { webhookId: `hook-${id}` }].map((key) =>
          outcome(log.append(recentEvent({ id: `again-${id}`, ...key }))),
        ),
      );

    /** Lets the time pass during which a server may lag behind. */
    function aMinuteLater() {
      const now = Date.now.bind(Date);
      return jest.spyOn(Date, 'now').mockImplementation(() => now() + 60_000);
    }

    it('records what is sent again of the events that it has lost, once, and not of the others', async () => {
      const log = await restored();
      const clock = aMinuteLater();
      for (const id of ['lost-0', 'lost-1', 'lost-2', 'kept-1']) {
        const isLost = id.startsWith('lost');
        const given = isLost ? `again-${id}` : id;
        const first = await repeats(log, id);
        expect(first.filter(({ recorded }) => recorded)).toHaveLength(isLost ? 1 : 0);
        for (const appended of [...first, ...(await repeats(log, id))]) expect(appended.id).toBe(given);
      }
      clock.mockRestore();
      const held = (await log.read(everyEvent)).map(({ id }) => id);
      expect(held).toEqual(['kept-0', 'kept-1', 'again-lost-0', 'again-lost-1', 'again-lost-2']);
    });
  });

  describe('a message that is not an event of this version', () => {
    const publish = (subject: string, body: string) =>
      directly((manager) => manager.jetstream().publish(subject, body));

    it('of another program is passed over', async () => {
      const under = options();
      const log = await opened(under);
      const bodies = ['hello', '', '{}', '{"version":2}\n', '{"webhookEvent":oops}\n', '\n', '\u{feff}'];
      for (const [i, body] of bodies.entries()) {
        await log.append(recentEvent({ id: `e${String(i)}` }));
        await publish(`${under.stream}.foreign.${String(i)}`, body);
      }
      for (let i = 0; i < 300; i++) await publish(`${under.stream}.foreign.more`, 'x');
      const ids = bodies.map((_body, i) => `e${String(i)}`);
      expect((await log.read(everyEvent)).map(({ id }) => id)).toEqual(ids);
      expect((await log.read({ ...everyEvent, limit: 2 })).map(({ id }) => id)).toEqual(ids.slice(-2));
      expect((await log.read({ ...everyEvent, after: 0, limit: 3 })).map(({ id }) => id)).toEqual(ids.slice(0, 3));
      expect((await log.scan({ after: 0, limit: 1000 })).map(({ id }) => id)).toEqual(ids);
      expect((await log.read({ ...everyEvent, id: 'e3' })).map(({ id }) => id)).toEqual(['e3']);
      await log.check();
    });

    it('of a later version is named', async () => {
      const under = options();
      const log = await opened(under);
      await publish(`${under.stream}.later.version`, '{"webhookEvent":2,"more":1}\n');
      const reason =
        'The events could not be read. ---> the stream holds an event in format 2, and this program reads format 1: ' +
        'a later version of the program stored it; use that version';
      expect(await failureOf(log.read(everyEvent))).toBe(reason);
      expect(await failureOf(log.scan({ after: 0, limit: 10 }))).toBe(reason);
    });
  });

  describe('a stream of keys that was removed', () => {
    it('is not made anew where there are events, and the message says what to do', async () => {
      const under = options();
      const log = await opened(under);
      await log.append(recentEvent({ idempotencyKey: 'k' }));
      await directly(({ streams }) => streams.delete(`${under.stream}_KEYS`));
      expect(await failureOf(log.check())).toContain(`the stream ${under.stream}_KEYS is missing`);
      const failure = await failureOf(opened(under));
      expect(failure).toContain(`the stream ${under.stream}_KEYS is missing, so repeated calls`);
      expect(failure).toContain(`nats stream rm ${under.stream}`);
      const reading = await opened({ ...under, create: false });
      expect((await reading.scan({ after: 0, limit: 10 })).map(({ idempotencyKey }) => idempotencyKey)).toEqual(['k']);
    });
  });

  it('completes a batch that broke off when it is sent again', async () => {
    const under = options({ timeout: 1500 });
    const proxy = await startTcpProxy(nats.port(), { cutAfter: MEBIBYTE });
    const broken = await opened({ ...under, servers: [`127.0.0.1:${String(proxy.port)}`] });
    const batch = Array.from({ length: 500 }, (_, i) =>
      recentEvent({
        id: `b${String(i)}`,
        data: `"data":"${'x'.repeat(2000)}"`,
        ...(i % 2 ? { webhookId: `w${String(i)}` } : {}),
      }),
    );
    expect(await failureOf(broken.append(...batch))).toContain('The events could not be recorded. ---> ');
    await proxy.close();
    const log = await opened(under);
    expect((await log.stats()).events).toBeGreaterThan(0);
    expect((await log.stats()).events).toBeLessThan(500);
    const appended = await log.append(...batch);
    expect(appended.map(({ id }) => id)).toEqual(batch.map(({ id }) => id));
    expect((await log.read(everyEvent)).map(({ id }) => id).sort()).toEqual(batch.map(({ id }) => id).sort());
    expect(await log.append(...batch)).toEqual(batch.map(({ id }) => ({ id, recorded: false })));
  });
});
