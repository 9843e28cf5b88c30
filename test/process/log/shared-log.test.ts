import { join } from 'node:path';
import { EventLogError, type EventLog } from '../../../src/log/event-log';
import { sharedLog, type SharedLog } from '../../support/shared-log';
import { temporaryFolder, useTemporaryFolder } from '../../support/temporary-folder';
import { watching } from '../../support/watching';
import { describeEventLog } from '../../log/event-log-suite';
import { everyEvent, newEvent } from '../../support/events';

describeEventLog(
  'SQLite, written by another process',
  async () => {
    const folder = await temporaryFolder();
    const file = join(folder.path, 'events.db');
    return {
      async open(retention) {
        const shared = await sharedLog({ file, retentionPause: 20, ...(retention && { retention }) });
        const log: EventLog = shared.join();
        const close = log.close.bind(log);
        log.close = async () => {
          await close();
          await shared.close();
        };
        return log;
      },
      remove: () => folder.remove(),
    };
  },
  { reading: false },
);

describe('a log that several processes write through one', () => {
  let shared: SharedLog;
  let one: EventLog;
  let other: EventLog;
  // Before the folder is removed: hooks run in the order in which they stand.
  afterEach(async () => {
    await Promise.all([one.close(), other.close()]);
    await shared.close();
  });
  const folder = useTemporaryFolder();
  const begin = async (options: { readonly maxPages?: number } = {}): Promise<void> => {
    shared = await sharedLog({ file: join(folder.path, 'events.db'), ...options });
    [one, other] = [shared.join(), shared.join()];
  };

  const idsIn = async (log: EventLog) => (await log.read(everyEvent)).map(({ id }) => id);

  it('has what each of them recorded, in the order of its answers, at positions of their own', async () => {
    await begin();
    const recorded: string[] = [];
    for (let i = 0; i < 10; i++) {
      for (const log of [one, other]) recorded.push((await log.append(newEvent())).id);
    }
    const many = await Promise.all(
      [one, other].flatMap((log) => Array.from({ length: 200 }, () => log.append(newEvent()))),
    );
    const logged = await other.read(everyEvent);
    expect(logged.slice(0, 20).map(({ id }) => id)).toEqual(recorded);
    expect(logged.map(({ id }) => id).sort()).toEqual([...recorded, ...many.map(({ id }) => id)].sort());
    expect(logged.map(({ position }) => position)).toEqual(logged.map((_event, i) => i + 1));
  });

  it('has an event once that both record at the same moment, and tells both its first id', async () => {
    await begin();
    const copies = await Promise.all(
      [one, other].flatMap((log, i) =>
        Array.from({ length: 20 }, (_copy, n) =>
          log.append(newEvent({ id: `${String(i)}-${String(n)}`, webhookId: 'the one' })),
        ),
      ),
    );
    expect(new Set(copies.map(({ id }) => id)).size).toBe(1);
    expect(copies.filter(({ recorded }) => recorded)).toHaveLength(1);
    expect(await idsIn(one)).toEqual([copies[0]?.id]);
  });

  it('has data of megabytes whole, also those that both record at the same moment', async () => {
    await begin();
    const texts = ['é', '€', '😀', 'x'].map((letter) => JSON.stringify(letter.repeat(700_000)));
    const events = texts.map((text) => newEvent({ data: `"data":${text}` }));
    await Promise.all(events.map((event, i) => (i % 2 === 0 ? one : other).append(event)));
    const logged = await other.read(everyEvent);
    expect(logged.map(({ id, data }) => events.find((event) => event.id === id)?.data === data)).toEqual(
      events.map(() => true),
    );
  });

  it('says to each of them that the disk is full, and records what still fits', async () => {
    await begin({ maxPages: 40 });
    const large = () => newEvent({ data: `"data":"${'x'.repeat(500_000)}"` });
    for (const log of [one, other]) {
      const error = (await log.append(large()).catch((thrown: unknown) => thrown)) as EventLogError;
      expect([error.message, (error.cause as Error).message]).toEqual([
        'The event could not be recorded.',
        'database or disk is full',
      ]);
      await expect(log.check()).rejects.toMatchObject({ message: 'The event log cannot take events.' });
    }
    const { id } = await other.append(newEvent());
    await Promise.all([one.check(), other.check()]);
    expect(await idsIn(one)).toEqual([id]);
  });

  it('refuses the events that wait when the process that writes is lost, and all after them, with the reason', async () => {
    await begin();
    await one.append(newEvent({ id: 'kept' }));
    const waiting = [one.append(newEvent()), one.appendAll([newEvent()])];
    shared.lose(0);
    for (const promise of [...waiting, one.append(newEvent()), one.check()]) {
      const error = (await promise.catch((thrown: unknown) => thrown)) as EventLogError;
      expect(error).toBeInstanceOf(EventLogError);
      expect((error.cause as Error).message).toBe('the process that writes has ended');
    }
    expect(await idsIn(other)).toContain('kept');
  });

  it('records what one that was lost had sent, at most, and goes on for the others', async () => {
    await begin();
    const lost = shared.join();
    const waiting = Array.from({ length: 50 }, (_event, i) => lost.append(newEvent({ id: `lost-${String(i)}` })));
    const settled = Promise.allSettled(waiting);
    shared.lose(2);
    const { id } = await one.append(newEvent());
    const ids = await idsIn(one);
    expect(ids).toContain(id);
    expect(new Set(ids).size).toBe(ids.length);
    await settled;
    await lost.close();
  });

  it('tells those that watch what another records, until they end the watch', async () => {
    await begin();
    const watches = [one, one, other].map(watching);
    for (let i = 1; i <= 5; i++) {
      await other.append(newEvent());
      await Promise.all(watches.map((watch) => watch.reaches(i)));
    }
    for (const watch of watches) watch.end();

    // A process that does not look for itself: what it hears, the writer has told it.
    const writer = shared.writer();
    expect(await writer.newestOtherThan(0)).toBe(5);
    const next = writer.newestOtherThan(5);
    await other.append(newEvent());
    expect(await next).toBe(6);
  });
});
