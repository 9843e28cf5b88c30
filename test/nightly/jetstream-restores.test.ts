import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { NewEvent } from '../../src/events/stored-event';
import { everyEvent, outcome, newEvent } from '../support/events';
import { eventually } from '../support/eventually';
import { useJetStream } from '../support/jetstream';
import { describeWith } from '../support/tools';

const recentEvent = (given: Partial<NewEvent> = {}) => newEvent({ recordedAt: Date.now(), ...given });

describeWith({ 'nats-server': 'nats-server' }, 'a stream of events that comes back as it was some events ago', () => {
  const nats = useJetStream();
  const { options, opened } = nats;

  /** A log with a copy of its stream that was made before the events `lost-0` to `lost-2`, and is then put in its place. */
  async function restored() {
    const under = options();
    const log = await opened(under);
    const ids = ['kept-0', 'kept-1', 'lost-0', 'lost-1', 'lost-2'];
    const keyed = ids.map((id) => recentEvent({ id, idempotencyKey: `key-${id}`, webhookId: `hook-${id}` }));
    await log.append(...keyed.slice(0, 2));
    await nats.restart(async (store) => cp(join(store, under.stream), join(store, '..', 'copy'), { recursive: true }));
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
