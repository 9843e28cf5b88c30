import { callOperation, eventsOf, requestOf } from '../support/bindings';
import { send } from '../support/http';
import { useJetStream } from '../support/jetstream';
import { logLines, startProcess, type ServiceProcess } from '../support/process';
import { useTemporaryFolder } from '../support/temporary-folder';
import { describeWith } from '../support/tools';

/** As nats-server has it by default, less the room for a message's header. */
const MAX_EVENT = 1024 * 1024 - 512;

const LARGE = 'x'.repeat(1024 * 1024);

const TOO_LARGE = new RegExp(
  `The event \\S+ has \\d{7} bytes as it is kept, and the event log takes ${String(MAX_EVENT)} at most\\.`,
);

describeWith({ 'nats-server': 'nats-server' }, 'a service whose NATS takes smaller messages than it', () => {
  const nats = useJetStream('max_payload: 1MB');
  const folder = useTemporaryFolder();
  let service: ServiceProcess;
  let name: string;
  const start = async (settings: Readonly<Record<string, string>> = {}) => {
    name = `nats://127.0.0.1:${String(nats.port())}/${nats.options().stream}`;
    service = await startProcess({ EVENT_LOG: name, ...settings }, folder.path);
  };
  afterEach(async () => service.end('SIGTERM'));

  const post = (body: string, type: string, headers: Readonly<Record<string, string>> = {}) =>
    send(`${service.url}/RecordEvent`, { method: 'POST', headers: { 'Content-Type': type, ...headers }, body });
  const recorded = async () => eventsOf(await callOperation(service.url, 'httpget', 'GetEvents')).map(({ id }) => id);

  it.each([
    ['1', {}],
    ['2', { WORKERS: '2' }],
  ])('warns at its start, and names both limits (%s processes)', async (count, settings) => {
    await start(settings);
    const warnings = logLines(service.output()).filter(({ msg }) => String(msg).startsWith('NATS takes'));
    expect(warnings.map(({ msg }) => msg)).toEqual(
      Array(Number(count)).fill(
        `NATS takes events of at most ${String(MAX_EVENT)} bytes (max_payload), and requests may have 4194304 ` +
          '(MAX_REQUEST_BYTES): larger events are refused. Set max_payload to 5592406 or more, or lower MAX_REQUEST_BYTES.',
      ),
    );
  });

  it('refuses an event that is too large as the binding does, and goes on', async () => {
    await start();
    for (const [binding, code] of [
      ['soap11', '<faultcode>soap:Client</faultcode>'],
      ['soap12', '<soap:Value>soap:Sender</soap:Value>'],
    ] as const) {
      const { path, ...question } = requestOf(binding, 'RecordEvent', `<a>${LARGE}</a>`);
      const { status, body } = await send(service.url + path, question);
      expect([status, body]).toEqual([413, expect.stringContaining(code)]);
      expect(body).toMatch(TOO_LARGE);
    }
    const problems = { Accept: 'application/json' };
    for (const [type, body] of [
      ['application/json', JSON.stringify(LARGE)],
      ['application/x-www-form-urlencoded', `a=${LARGE}`],
      ['application/octet-stream', LARGE.slice(0, 900_000)],
      [
        'application/cloudevents+json',
        JSON.stringify({ specversion: '1.0', id: 'a', source: '/', type: 't', data: LARGE }),
      ],
    ] as const) {
      const answer = await post(body, type, problems);
      expect([answer.status, answer.headers['content-type']]).toEqual([413, 'application/problem+json']);
      expect(answer.body).toMatch(TOO_LARGE);
    }
    expect(await recorded()).toEqual([]);
    expect((await send(new URL('/readyz', service.url).href)).status).toBe(200);
    const metrics = await send(new URL('/metrics', service.url).href);
    expect(metrics.body).toMatch(/reason="too-large"[^}]*\} [1-9]/);
  });

  it('records nothing of a batch with such an event, and takes no key with it', async () => {
    await start();
    const event = (id: string, data: string) => ({ specversion: '1.0', id, source: '/', type: 't', data });
    const small = Array.from({ length: 600 }, (_, i) => event(`small-${String(i)}`, 'x'));
    const batch = JSON.stringify([...small, event('large', LARGE)]);
    expect((await post(batch, 'application/cloudevents-batch+json')).status).toBe(413);
    const key = { 'Idempotency-Key': 'k' };
    expect((await post(JSON.stringify(LARGE), 'application/json', key)).status).toBe(413);
    expect(await recorded()).toEqual([]);
    expect((await post('"small"', 'application/json', key)).status).toBe(200);
    expect(await recorded()).toHaveLength(1);
  });
});
