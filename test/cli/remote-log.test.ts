import type { RequestListener, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { RemoteLog } from '../../src/cli/remote-log';
import { matcherOf, positionBefore } from '../../src/cli/tool-log';
import { ArchiveLine } from '../../src/events/archive-line';
import type { StoredEvent } from '../../src/events/stored-event';
import { eventually } from '../support/eventually';
import { send } from '../support/http';
import { expectNothingHeld } from '../support/nothing-held';
import { startService, type TestService } from '../support/service';
import { startTcpProxy } from '../support/tcp-proxy';
import { newEvent } from '../support/events';
import { closeServers, serving } from './serving';

const KEY = 'read-key-of-16-characters';
const never = new AbortController().signal;

async function valuesOf<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of iterable) values.push(value);
  return values;
}

const withEvents = (response: ServerResponse, newest = '9') => response.writeHead(200, { 'X-Events-Last': newest });

describe('the log of a service over HTTP', () => {
  let service: TestService;
  let log: RemoteLog;
  beforeEach(async () => {
    // Pauses are as short as they may be.
    jest.spyOn(Math, 'random').mockReturnValue(0.999);
    service = await startService({ READ_KEYS: KEY });
    log = new RemoteLog({ url: new URL(service.url), key: KEY }, never);
  });
  afterEach(closeServers);
  afterEach(() => expectNothingHeld(service));

  const record = (count: number, of = {}) => service.log.append(...Array.from({ length: count }, () => newEvent(of)));
  const all = async (pages: AsyncIterable<readonly StoredEvent[]>) => (await valuesOf(pages)).flat();
  const asked = (query: string) =>
    send(`${service.url}?events=export${query}`, { headers: { Authorization: `Bearer ${KEY}` } });

  it('has the events that the service has, with everything that it keeps of them', async () => {
    const kept = { idempotencyKey: 'k', arrival: '{"remoteAddress":"192.0.2.1"}', data: '"data":{"a": 1.0}' };
    await service.log.append(newEvent(kept));
    await record(300, { data: '"data":"\u2028 é"' });
    const stored = await all(service.log.pages({ after: 0 }));
    expect(await all(log.pages({ after: 0 }))).toEqual(stored);
    expect(await log.scan({ after: 299, limit: 1 })).toEqual([stored[299]]);
    expect(await log.newest()).toBe(301);
    const since = { after: 0, since: (stored[0]?.recordedAt ?? 0) + 1 };
    expect(await all(log.pages(since))).toEqual(await all(service.log.pages(since)));
  });

  it('has no event at the sequence of one that is forgotten', async () => {
    await record(3);
    await service.log.forget([2]);
    expect(await log.scan({ position: 2, limit: 1 })).toEqual([]);
  });

  it('begins with the first event that is whole', async () => {
    await record(1, { data: '"data":{' });
    await record(2);
    expect(await positionBefore(log, { after: 0 })).toBe(1);
  });

  it('goes on where a connection ended, and has every event once and in order', async () => {
    const url = new URL(service.url);
    const proxy = await startTcpProxy(Number(url.port));
    url.port = String(proxy.port);
    jest.spyOn(console, 'error').mockReturnValue();
    const stop = new AbortController();
    const seen: number[] = [];
    const remote = new RemoteLog({ url, key: KEY }, stop.signal);
    const following = (async () => {
      for await (const page of remote.follow({ after: 0 }, stop.signal, () => -1))
        seen.push(...page.map(({ position }) => position));
    })();
    for (let count = 50; count < 200; count += 100) {
      await record(50);
      await eventually(`${String(count)} have come`, () => seen.length >= count);
      const lost = proxy.loseAnswer();
      await record(50);
      await lost;
    }
    await eventually('all events have come', () => seen.length >= 200);
    stop.abort();
    await following.catch(() => undefined);
    expect(seen).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
    await proxy.close();
  });

  it('says of an address that does not answer, of a wrong key and of another service what to do', async () => {
    const url = new URL(service.url);
    const newest = (given: Partial<{ url: URL; key: string }>) => new RemoteLog({ url, ...given }, never).newest();
    await expect(newest({ key: 'wrong' })).rejects.toThrow('The service refused the key: give a read key');
    await expect(newest({})).rejects.toThrow('WEBHOOK_READ_KEY');
    await expect(newest({ url: new URL('/nothing', url), key: KEY })).rejects.toThrow(
      'It ends with /Services/WebHooks.asmx',
    );
    const silent = new URL('http://us:heim@127.0.0.1:1/x?token=heim');
    await expect(newest({ url: silent, key: KEY })).rejects.toThrow(/^http:\/\/127\.0\.0\.1:1\/x: nothing listens/);
    const closed = await startService();
    expect(await newest({ url: new URL(closed.url.replace('127.0.0.1', 'localhost')) })).toBe(0);
    await closed.stop();
  });

  it('is closed without a read key, for HEAD too', async () => {
    for (const query of ['', '&wait=1', '&id=x', '&text=x'])
      for (const method of ['GET', 'HEAD'])
        expect((await send(`${service.url}?events=export${query}`, { method })).status).toBe(401);
  });

  it('refuses what would have no end or make no sense, and what looks like a filter and is none, as GetEvents does', async () => {
    const withWait = ['limit=2', 'type=x', 'id=x', 'from=2026-01-31T12:00'].map((other) => `&wait=1&${other}`);
    for (const query of [...withWait, '&wait=601', '&wait=x', '&limit=-1', '&after=x'])
      expect([query, (await asked(query)).status]).toEqual([query, 400]);
    for (const name of ['since', 'until', 'types', 'header', 'source']) {
      const { status, body } = await asked(`&${name}=x`);
      expect([status, body]).toEqual([400, expect.stringContaining(`There is no parameter ${name},`)]);
    }
    expect((await asked('&from=2026-01-31T12:00&before=3&binding=soap11&text=x')).status).toBe(200);
  });

  it('sends a sign of life while it waits, also after an event that is forgotten', async () => {
    await record(2);
    await service.log.forget([2]);
    expect((await asked('&limit=0')).body).toBe('\n');
    // At the beginning, once nothing has come, and at the end.
    expect((await asked('&after=1&wait=1')).body).toMatch(/^\n{3,}$/);
  });

  it('finds out that an answer was cut off which a proxy has ended as if it were whole, and asks again after a pause', async () => {
    await record(3);
    const { body } = await asked('');
    const lines = body.split(/(?<=\n)/);
    const [first = '', second = '', third = ''] = lines;
    // With HTTP/1.0, as nginx asks by default, the end of the connection is that of the answer.
    const answers = [first + second.slice(0, 40), second, `${third}\n`];
    const starts: unknown[] = [];
    const url = await serving((request, response) => {
      starts.push(/after=(\d+)/.exec(request.url ?? '')?.[1]);
      response.useChunkedEncodingByDefault = false;
      withEvents(response, '3').end(request.method === 'HEAD' ? '' : answers.shift());
    });
    const remote = new RemoteLog({ url }, never);
    const began = performance.now();
    const found = await all(remote.pages({ after: 0 }));
    expect(performance.now() - began).toBeGreaterThan(400);
    expect(found.map(({ position }) => position)).toEqual([1, 2, 3]);
    expect(starts).toEqual(['0', '1', '2']);
  });

  it('says once that the service is away, and once that it is back, whatever asks meanwhile', async () => {
    const said = jest.spyOn(console, 'error').mockReturnValue();
    let isAway = false;
    const url = await serving((_request, response) => {
      response.writeHead(isAway ? 503 : 200, { 'X-Events-Last': '7' }).end();
    });
    const remote = new RemoteLog({ url }, never);
    await remote.newest();
    isAway = true;
    const asking = Promise.all([remote.newest(), remote.newest(), remote.newest()]);
    await eventually('it is said', () => said.mock.calls.length > 0);
    isAway = false;
    await asking;
    expect(said.mock.calls.flat()).toEqual([
      `${url.href}: the answer was 503. Trying again until it answers.`,
      'The service answers again.',
    ]);
  });

  it('notices that a log at whose end it began was replaced by a shorter one', async () => {
    let newest = '3';
    const url = await serving((request, response) => {
      withEvents(response, newest);
      if (!request.url?.includes('wait=')) return void response.end('\n');
      newest = '1';
      response.write('\n', () => response.destroy());
    });
    const stop = new AbortController();
    const changes: unknown[] = [];
    const following = new RemoteLog({ url }, stop.signal).follow({ after: 3 }, stop.signal, (...change) => {
      stop.abort();
      changes.push(change);
      return 1;
    });
    await expect(valuesOf(following)).rejects.toThrow('aborted');
    expect(changes).toEqual([['ends before', 3, 1]]);
  });

  it('ends a wait in time, with what was recorded meanwhile', async () => {
    await record(1);
    let isOver = false;
    const waiting = asked('&wait=1').finally(() => (isOver = true));
    while (!isOver) {
      await record(1);
      await delay(10);
    }
    const { body } = await waiting;
    expect(body.split('\n').filter((line) => line !== '').length).toBeGreaterThan(1);
  });
});

describe('the answers of a service that cannot be trusted', () => {
  /** Starts a server that answers every request with a function, and resolves to a reader of it. */
  async function reading(answer: RequestListener, user = '') {
    const url = Object.assign(await serving(answer), { username: user, password: user });
    return new RemoteLog({ url, key: KEY }, never);
  }

  const event = (position: number) => `${ArchiveLine.of({ ...newEvent(), position })}\n`;

  const ofSender = '{"specversion":"1.0","id":"a","source":"/s","type":"t"}\n';
  it.each<[what: string, lines: string, problem: string, after?: number]>([
    ['an event that came before', event(3) + event(3), 'it takes no notice of after'],
    ['an event that was not asked for', event(1), 'it takes no notice of after', 2],
    ['a line that is no event', event(1) + ofSender + event(2), 'The service sent a line that is not an event.'],
  ])('end with %s', async (_what, lines, problem, after = 0) => {
    const log = await reading((_request, response) => withEvents(response).end(`${lines}\n`));
    await expect(valuesOf(log.pages({ after }))).rejects.toThrow(problem);
  });

  it.each<[status: number, fields: Record<string, string>, problem: string | RegExp]>([
    [404, {}, 'the answer was 404 (no\\nevents): that is not'],
    [403, {}, 'The service has no READ_KEYS'],
    [200, {}, 'the answer was 200 (no\\nevents): that is not'],
    [308, { Location: '/new?events=export' }, /redirects \(308\) to http:\S+\/new\. Give that address with --from\.$/],
  ])('are said in one line if they have no events, with %d', async (status, fields, problem) => {
    const log = await reading((_request, response) =>
      response.writeHead(status, { 'Content-Type': 'text/plain', ...fields }).end('no\nevents\n'),
    );
    await expect(valuesOf(log.pages({ after: 0 }))).rejects.toThrow(problem);
  });

  it('are given up after 15 s of silence', async () => {
    const silences = jest.spyOn(Socket.prototype, 'setTimeout');
    const log = await reading((_request, response) => withEvents(response).end('\n'));
    await valuesOf(log.pages({ after: 0 }));
    expect(silences).toHaveBeenCalledWith(15_000);
  });

  it('have what a search finds up to the newest event at its beginning', async () => {
    const asked: string[] = [];
    const log = await reading(({ method, url = '' }, response) => {
      if (method === 'GET') asked.push(url);
      withEvents(response, '6').end('\n');
    });
    await valuesOf(log.find({ text: 'a' }));
    await valuesOf(log.find({ text: 'a', after: 1, before: 5 }));
    expect(asked).toEqual(['after=0&before=7', 'after=1&before=5'].map((range) => `/?events=export&text=a&${range}`));
  });

  it('come for a key in X-API-Key where the address has a user and a password for a proxy', async () => {
    const seen: unknown[] = [];
    const log = await reading((request, response) => {
      seen.push(request.headers.authorization, request.headers['x-api-key']);
      withEvents(response).end('\n');
    }, 'user');
    await valuesOf(log.pages({ after: 0 }));
    expect(seen).toEqual([`Basic ${Buffer.from('user:user').toString('base64')}`, KEY]);
  });
});

it('follows behind a proxy that holds answers back until they end', async () => {
  const service = await startService();
  const url = await serving((request, response) => {
    const address = `${service.url}${/\?.*/.exec(request.url ?? '')?.[0] ?? ''}`;
    void send(address, { method: request.method ?? '' }).then(({ headers, body }) => {
      response.writeHead(200, headers).end(body);
    });
  });
  const { signal } = new AbortController();
  await service.log.append(newEvent());
  const seen: number[] = [];
  for await (const page of new RemoteLog({ url }, signal, 1).follow({ after: 0 }, signal, () => -1)) {
    seen.push(...page.map(({ position }) => position));
    if (seen.length === 2) break;
    await service.log.append(newEvent());
  }
  expect(seen).toEqual([1, 2]);
  await service.stop();
});

it('a filter finds a header field in UTF-8, and takes a damaged event only without a condition', () => {
  const matched = (filter: Parameters<typeof matcherOf>[0], given: Partial<StoredEvent>) =>
    matcherOf(filter)({ ...newEvent(given), position: 1 });
  const arrival = JSON.stringify({ headers: { 'x-name': Buffer.from('Jürgen').toString('latin1') } });
  expect(matched({ header: [['x-name', 'Jürgen']] }, { arrival })).toBe(true);
  for (const damaged of [{ attributes: '{' }, { arrival: '{' }])
    for (const filter of [{}, { type: 'test' }, { header: [['a', 'b']] as const }])
      expect(matched(filter, damaged)).toBe(Object.keys(filter).length === 0);
});
