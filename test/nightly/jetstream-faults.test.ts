import { setTimeout } from 'node:timers/promises';
import { ask, callOperation, eventsOf } from '../support/bindings';
import { newEvent } from '../support/events';
import { eventually, succeeds } from '../support/eventually';
import { send } from '../support/http';
import { failureOf, useJetStream } from '../support/jetstream';
import { logLines, startProcess } from '../support/process';
import { useTemporaryFolder } from '../support/temporary-folder';
import { describeWith } from '../support/tools';

const NO_ROOM = 'JetStream has no room for more events: ';

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
      const largeIn = (one: typeof log) => one.append(newEvent({ data: `"data":"${'x'.repeat(10_000)}"` }));
      await Promise.all([log.check(), other.check()]);
      await eventually('the room that the checks took is free again', () =>
        nats.directly(async ({ streams }) => (await streams.info(`${under.stream}_PROBE`)).state.messages === 0),
      );
      while (await succeeds(largeIn(log)));
      for (let i = 0; i < 5; i++) {
        expect(await failureOf(largeIn(log))).toContain(`The event could not be recorded. ---> ${NO_ROOM}`);
        expect(await failureOf(log.check())).toContain(NO_ROOM);
        await setTimeout(250);
      }
      await failureOf(largeIn(other));
      expect(await failureOf(other.check())).toContain(NO_ROOM);
      await nats.directly(({ streams }) => streams.purge(under.stream));
      await log.check();
      await log.append(newEvent());
    });
  });
});

/** As nats-server has it by default, less the room for a message's header. */
const MAX_EVENT = 1024 * 1024 - 512;

const LARGE = 'x'.repeat(1024 * 1024);

describeWith({ 'nats-server': 'nats-server' }, 'a service whose NATS takes smaller messages than it', () => {
  const nats = useJetStream('max_payload: 1MB');
  const folder = useTemporaryFolder();

  it.each([1, 2])(
    'says so at its start and refuses larger events, whole batches and all, WORKERS=%i',
    async (workers) => {
      const EVENT_LOG = `nats://127.0.0.1:${String(nats.port())}/${nats.options().stream}`;
      const service = await startProcess({ EVENT_LOG, WORKERS: String(workers) }, folder.path);
      const warnings = () =>
        logLines(service.output()).filter(({ msg }) => String(msg).startsWith('The event log takes'));
      // Log lines are written later than the address.
      await eventually('each process warns', () => warnings().length >= workers);
      expect(warnings().map(({ msg }) => msg)).toEqual(
        Array(workers).fill(
          `The event log takes events of at most ${String(MAX_EVENT)} bytes (NATS: max_payload), and requests may have 4194304 ` +
            '(MAX_REQUEST_BYTES): larger events are refused. Set max_payload to 5592406 or more, or lower MAX_REQUEST_BYTES.',
        ),
      );

      const post = async (body: string, type = 'application/json') => {
        const headers = { 'Content-Type': type, Accept: 'application/json', 'Idempotency-Key': 'k' };
        return send(`${service.url}/RecordEvent`, { method: 'POST', headers, body });
      };
      const soap = (binding: 'soap11' | 'soap12') =>
        ask(service.url, binding, 'RecordEvent', { inside: `<a>${LARGE}</a>` });
      const event = (id: string, data: string) => ({ specversion: '1.0', id, source: '/', type: 't', data });
      const batch = [...Array.from({ length: 600 }, (_, i) => event(`small-${String(i)}`, 'x')), event('large', LARGE)];
      for (const [refused, answer] of [
        ['<faultcode>soap:Client</faultcode>', await soap('soap11')],
        ['<soap:Value>soap:Sender</soap:Value>', await soap('soap12')],
        ['"status":413', await post(JSON.stringify(LARGE))],
        ['"status":413', await post(LARGE.slice(0, 900_000), 'application/octet-stream')],
        ['"status":413', await post(JSON.stringify(batch), 'application/cloudevents-batch+json')],
      ] as const) {
        expect([answer.status, answer.body]).toEqual([413, expect.stringContaining(refused)]);
        expect(answer.body).toMatch(
          /The event \S+ has \d{7} bytes as it is kept, and the event log takes 1048064 at most\./,
        );
      }
      // Nothing of the batch is recorded, and no refused event has taken the key.
      expect((await post('"small"')).status).toBe(200);
      expect(eventsOf(await callOperation(service.url, 'httpget', 'GetEvents'))).toHaveLength(1);
      expect((await send(new URL('/readyz', service.url).href)).status).toBe(200);
      await service.end('SIGTERM');
    },
  );
});
