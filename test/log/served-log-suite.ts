import type { EventLog } from '../../src/log/event-log';
import { EVERY_EVENT, newEvent, outcome } from '../support/events';
import { eventually, succeeds } from '../support/eventually';
import { failureOf } from '../support/jetstream';
import { startTcpProxy } from '../support/tcp-proxy';

/**
 * Tests what the engines promise whose log is on a server.
 *
 * @param server - the one of the block that calls this; `restart` kills it and starts it again.
 * @param through - opens a log through a port of this machine. Whoever opens it closes it after the test.
 */
export function describeServedLog(
  name: string,
  server: { port(): number; restart(pause: () => Promise<void>): Promise<void> },
  through: (port: number, timeout?: number) => Promise<EventLog>,
): void {
  describe(`the event log on ${name}`, () => {
    /** Events that are repetitions of each other by nothing, and know their own by each key. */
    const eventsWithKeys = () => [
      newEvent(),
      newEvent({ idempotencyKey: 'k', data: '"data":1' }),
      newEvent({ webhookId: 'w' }),
    ];

    it('records an event once, and answers that it is recorded, if the answer of the server is lost', async () => {
      const proxy = await startTcpProxy(server.port());
      const log = await through(proxy.port);
      await log.append(newEvent());
      for (const event of eventsWithKeys()) {
        const lost = proxy.loseAnswer();
        const appended = outcome(log.append(event));
        await lost;
        expect(await appended).toEqual({ id: event.id, recorded: true });
      }
      expect((await log.stats()).events).toBe(4);
      await proxy.close();
    });

    it('gives up in time what the server does not answer, recovers by itself, and is closed meanwhile', async () => {
      let isMuting = false;
      const proxy = await startTcpProxy(server.port(), { mutes: () => isMuting });
      const log = await through(proxy.port, 1000);
      log.watch(() => undefined);
      await log.append(newEvent());
      isMuting = true;
      // Each connection passes one more answer on.
      await eventually('an event is refused', async () => !(await succeeds(log.append(newEvent()))));
      const began = performance.now();
      for (const failure of await Promise.all(
        [log.append(newEvent()), log.read(EVERY_EVENT), log.check()].map(failureOf),
      ))
        expect(failure).toMatch(/not? answer in time|no NATS server can be reached/);
      expect(performance.now() - began).toBeLessThan(4000);
      isMuting = false;
      await eventually('events are recorded again', () => succeeds(log.append(newEvent())));
      isMuting = true;
      await log.close();
      await proxy.close();
    }, 60_000);

    it('cannot record events while the server is away, says so, and knows repetitions when it is back', async () => {
      const log = await through(server.port(), 500);
      const events = eventsWithKeys();
      await log.append(...events);
      await server.restart(async () => {
        // The processes of a server that was killed answer until they notice.
        await eventually('the log takes no events', async () => !(await succeeds(log.check())));
        expect(await failureOf(log.check())).toMatch(
          /^The event log cannot take events\..*(?:ECONNREFUSED|terminated|no NATS server can be reached)/,
        );
        await expect(log.verify()).rejects.toThrow('The events could not be read.');
        await expect(log.append(newEvent())).rejects.toThrow('The event could not be recorded.');
      });
      await eventually('the log takes events again', () => succeeds(log.check()));
      expect(await log.append(...events)).toEqual(events.map(({ id }) => ({ id, recorded: false })));
      await log.append(newEvent({ id: 'after' }));
      expect((await log.read(EVERY_EVENT)).map(({ id }) => id)).toEqual([...events.map(({ id }) => id), 'after']);
    });
  });
}
