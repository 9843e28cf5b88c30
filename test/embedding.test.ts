import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { CloudEventError, ConfigError, createWebHook, EventLogError, type WebHook } from '../src/index';
import { LocalLog } from '../src/log/readable-log';
import { Sender } from '../src/senders/sender';
import { post } from './support/bindings';
import { eventually } from './support/eventually';
import { directly } from './support/sqlite';
import { startTarget, type Target } from './support/target';
import { useTemporaryFolder } from './support/temporary-folder';
import { openWire, PATH, request } from './support/wire';

describe('the events of an embedded service', () => {
  const folder = useTemporaryFolder();
  const file = () => join(folder.path, 'events.db');
  let webhook: WebHook;
  let events: WebHook['events'];
  let target: Target | undefined;
  const start = async (EVENT_LOG = 'memory:') => {
    webhook = await createWebHook({ PORT: 0, EVENT_LOG });
    ({ events } = webhook);
  };
  beforeEach(() => start());
  const startOnFile = () => webhook.close().then(() => start(`sqlite:${file()}`));
  afterEach(() => Promise.all([webhook.close(), target?.close()]));

  const recordAll = async (...ids: string[]) => {
    for (const id of ids) await events.record({ id, data: { id } });
  };
  /** The ids that are followed up to one of them, or to the end. */
  const followed = async (options: Parameters<typeof events.follow>[0], until?: string, found: string[] = []) => {
    for await (const { id } of events.follow(options)) if (found.push(id) && id === until) break;
    return found.join(' ');
  };

  it('are followed from a position, or from the call on, past one that the disk has damaged', async () => {
    await startOnFile();
    await recordAll('a', 'damaged', 'b');
    directly(file(), 'UPDATE events SET data = substr(data, 2) WHERE sequence = 2');
    const [first] = await events.read({ after: 0, limit: 1 });
    const later = events.follow();
    const follow = jest.spyOn(LocalLog.prototype, 'follow');
    const all = [{}, { after: 0 }, { after: first?.sequence }].map((start) => followed(start, 'd'));
    await recordAll('c');
    const posted = JSON.stringify({ specversion: '1.0', id: 'd', source: '/sender', type: 't' });
    await post(webhook.url, posted, { 'Content-Type': 'application/cloudevents+json' });
    expect(await Promise.all(all)).toEqual(['c d', 'a b c d', 'b c d']);
    expect((await later.next()).value).toMatchObject({ id: 'c' });
    // Where it goes on if the log was replaced.
    const [, , changed] = follow.mock.calls[0] ?? [];
    expect([changed?.('ends before', 5, 2), changed?.('another event', 5, 7)]).toEqual([2, 5]);
  });

  it('are followed until the signal or the end of the service', async () => {
    await recordAll('a', 'b');
    const stop = new AbortController();
    const found = Array.from({ length: 20 }, (): string[] => []);
    const stopped = followed({ after: 0, signal: stop.signal }, undefined, found[0]);
    const closed = found.slice(1).map((each) => followed({ after: '1' }, undefined, each));
    const left = events.follow({ after: 0 });
    expect((await left.next()).value).toMatchObject({ id: 'a' });
    expect(await followed({ signal: AbortSignal.abort() })).toBe('');
    await eventually('all have come', () => found.every((ids) => ids.includes('b')));
    stop.abort();
    expect(await stopped).toBe('a b');
    await webhook.close();
    expect([...new Set(await Promise.all(closed)), (await left.next()).done]).toEqual(['b', true]);
    expect(await followed({ after: 0 })).toBe('');
    await expect(events.read()).rejects.toThrow('The event log is closed.');
  });

  it('are recorded of a call in progress when the service closes', async () => {
    const wire = await openWire(webhook.url);
    wire.write(request(`POST ${PATH}/RecordEvent`, 'Content-Length: 1', 'Expect: 100-continue'));
    await wire.until(/100 Continue/);
    const closed = webhook.close();
    wire.write('a');
    expect(await wire.untilClosed()).toContain('HTTP/1.1 200 OK');
    await closed;
  });

  it('are forwarded until the signal or the end of the service', async () => {
    await recordAll('a', 'b');
    const [stop, other] = [new AbortController(), new AbortController()];
    const end = (before: number) => (before === 0 ? stop.abort() : void webhook.close());
    target = await startTarget((_request, before) => end(before) ?? 204);
    for (const { signal } of [stop, other]) expect(await events.forward(target.url, { signal })).toHaveLength(1);
  });

  it('are recorded once, with what was left out', async () => {
    const { id } = await events.record({ subject: 'x', datacontenttype: undefined });
    const own = {
      id: 'e-1',
      source: '/own',
      type: 'own',
      time: '2026-01-02T03:04:05Z',
      data: [1, 'ü', null],
      mark: true,
    };
    expect([await events.record(own), await events.record(own)]).toEqual([
      { id: 'e-1', recorded: true },
      { id: 'e-1', recorded: false },
    ]);
    await events.record({ data: new Uint8Array([0, 255]) });
    const filled = { specversion: '1.0', source: '/webhooks/Services/WebHooks.asmx', type: 'webhook.recorded' };
    expect(await events.read()).toEqual([
      { ...filled, id, time: expect.any(String) as string, subject: 'x', sequence: '1'.padStart(20, '0') },
      { specversion: '1.0', ...own, sequence: '2'.padStart(20, '0') },
      expect.objectContaining({ ...filled, data_base64: 'AP8=' }),
    ]);
    expect(await events.read({ limit: 1 })).toMatchObject([{ data_base64: 'AP8=' }]);
  });

  it('are not recorded if they are no CloudEvents', async () => {
    for (const [event, message] of [
      [{ source: ' ' }, "The CloudEvent's attribute source must be a URI reference (RFC 3986)."],
      [{ data: 1, data_base64: '' }, 'The CloudEvent has both data and data_base64.'],
      [{ data: null }, 'data must not be null: leave it out.'],
      [{ data: () => 1 }, 'data must not be a function: JSON has none.'],
      [{ data: { inside: Symbol('x') } }, 'inside must not be a symbol: JSON has none.'],
      [{ data: [1n] }, '0 must not be a bigint: JSON has none.'],
      [{ data: NaN }, 'data must not be NaN: JSON has none.'],
    ] as const) {
      const recording = events.record(event);
      await expect(recording).rejects.toBeInstanceOf(CloudEventError);
      await expect(recording).rejects.toMatchObject({ code: 'ERR_WEBHOOK_CLOUD_EVENT', message });
    }
  });

  it('are forwarded as the tool does, with the answer to each', async () => {
    target = await startTarget((_request, before) => [503, 204, 404][before] ?? 500);
    const url = `${target.url}/hook?key=1`;
    await fetch(`${webhook.url}/RecordEvent?a=1`);
    await recordAll('b', 'c');
    const secret = `whsec_${Buffer.alloc(24).toString('base64')}`;
    const sign = { sender: 'standard-webhooks', secret };
    const [first, second] = [1, 2].map((position) => String(position).padStart(20, '0'));
    expect(await events.forward(url, { limit: 1, asReceived: true })).toEqual([{ sequence: first, status: 204 }]);
    expect(await events.forward(new URL(url), { after: 1, limit: 1, sign })).toEqual([
      { sequence: second, status: 404 },
    ]);
    await expect(events.forward(url)).rejects.toThrow(/^Event 1 was not taken by .* It was tried 3 times\.$/);
    const asReceived = ['GET', '/hook?key=1&a=1', undefined, false];
    const asCloudEvent = ['POST', '/hook?key=1', 'application/cloudevents+json', false];
    expect(
      target.received.map(({ method, path, headers }) => [
        method,
        path,
        headers['content-type'],
        'webhook-signature' in headers,
      ]),
    ).toEqual([asReceived, asReceived, asCloudEvent.with(3, true), asCloudEvent, asCloudEvent, asCloudEvent]);
  });

  it('are neither forwarded nor read with options that make no sense, or from a log that cannot be read', async () => {
    await startOnFile();
    const url = 'http://127.0.0.1:1';
    const failing = (asReceived: boolean, sender: string) =>
      expect(events.forward(url, { asReceived, sign: { sender, secret: 'sixteen characters' } })).rejects;
    await failing(false, 'github').toThrow('sign as github goes with asReceived: CloudEvents are signed as standard-');
    await failing(true, 'x').toThrow(
      `sign needs a sender, one of ${Sender.recognised.join(', ')}, and a secret of that`,
    );
    await expect(events.forward('3000')).rejects.toThrow('Invalid URL');
    await expect(events.forward(url, { limit: 0 })).rejects.toBeInstanceOf(TypeError);
    await expect(events.read({ limit: 0 })).rejects.toThrow('limit must be a whole number from 1 on.');
    await expect(events.read({ after: 'x' })).rejects.toThrow(
      'after must be the sequence of an event: up to 20 digits.',
    );
    directly(file(), 'ALTER TABLE events RENAME TO others');
    await expect(events.follow({ after: 0 }).next()).rejects.toBeInstanceOf(EventLogError);
  });

  it('are not there where the service cannot start, which errors with a class and a code say', async () => {
    const taken = createServer().listen(0, '127.0.0.1').unref();
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const config = [ConfigError, 'ERR_WEBHOOK_CONFIG'] as const;
    const problems = [
      [
        { PORTS: 1, ZZZ: 1 },
        ...config,
        /^PORTS: .* no such setting; did you mean PORT\?\nZZZ: there is no such setting$/,
      ],
      [{ PORT: 1, WORKERS: 2 }, ...config, /^WORKERS must be 1 here/],
      [
        { EVENT_LOG: 'sqlite:/dev/null/e.db' },
        EventLogError,
        'ERR_WEBHOOK_EVENT_LOG',
        /opened: part of its path is a file/,
      ],
      [{ PORT: port }, Error, 'EADDRINUSE', / cannot be used: another program uses it/],
    ] as const;
    for (const [settings, type, code, message] of problems) {
      const starting = createWebHook({ PORT: 0, EVENT_LOG: `sqlite:${file()}.new`, ...settings });
      await expect(starting).rejects.toBeInstanceOf(type);
      await expect(starting).rejects.toMatchObject({ code, message: expect.stringMatching(message) as string });
    }
    taken.close();
    // Closed logs have none.
    expect(existsSync(`${file()}.new-wal`)).toBe(false);
  });
});
