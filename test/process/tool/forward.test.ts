import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import type { EventLog } from '../../../src/log/event-log';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import { Sender } from '../../../src/senders/sender';
import { newEvent } from '../../support/events';
import { eventually } from '../../support/eventually';
import { startService } from '../../support/service';
import { directly } from '../../support/sqlite';
import { startTarget, type Received, type Target } from '../../support/target';
import { DELIVERIES, SECRETS } from '../../support/deliveries';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { startTool, type RunningTool } from '../../support/tool';
import { runToolHere, startToolHere } from '../../support/tool-here';

const SECRET = `whsec_${Buffer.from('a key of 24 bytes, 1 2 3').toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.from('another key of 24 bytes!').toString('base64')}`;

describe('forwarding', () => {
  const folder = useTemporaryFolder();
  let log: EventLog;
  let target: Target | undefined;
  beforeEach(async () => {
    log = await openSqliteLog({ file: path('events.db') });
  });
  afterEach(async () => {
    await log.close();
    await target?.close();
  });

  const path = (name: string) => join(folder.path, name);
  const record = async (...ids: string[]): Promise<void> => {
    for (const id of ids) await log.append(newEvent({ id, data: `"data":"${id}"` }));
  };
  const logAt = (file: string) => ({ EVENT_LOG: `sqlite:${path(file)}` });
  const forward = (args: readonly string[], variables = {}, options = {}) =>
    startToolHere(
      ['forward', target?.url ?? '', ...args],
      { ...logAt('events.db'), ...variables },
      folder.path,
      options,
    );
  const forwardOnTerminal = (...args: readonly string[]) => forward(args, {}, { isTerminal: true });
  const idOf = ({ body }: Received) => (JSON.parse(body.toString()) as { id: string }).id;
  const ids = () => target?.received.map(idOf);
  const received = (count: number) =>
    eventually(`${String(count)} events arrive`, () => target?.received.length === count);
  const savedSequence = async (file = 'position') =>
    Number((JSON.parse(await readFile(path(file), 'utf8')) as { sequence: string }).sequence);
  /** The exit code of the tool, and its lines, in which `URL` is the target. */
  const endOf = async (tool: Pick<RunningTool, 'ended' | 'errors'>) => {
    const code = await tool.ended;
    const said = tool
      .errors()
      .replaceAll(/\(\d+ ms\)/g, '(1 ms)')
      .replaceAll(target?.url ?? '', 'URL');
    return [code, ...said.trimEnd().split('\n')];
  };
  const after = (position: number) => `Forwarding the events after ${String(position)} to URL.`;

  it('posts each event as the CloudEvent that GetEvents returns, in order, and what is recorded meanwhile', async () => {
    target = await startTarget();
    await record('a', 'b');
    const tool = forward(['--follow', '--since', '0']);
    await received(2);
    await record('c');
    await received(3);
    expect(await tool.end('SIGTERM')).toBe(0);
    expect(tool.errors()).toBe(`Forwarding the events after 0 to ${target.url}.\n3 events forwarded.\n`);
    expect(ids()).toEqual(['a', 'b', 'c']);
    expect(target.received[0]).toMatchObject({
      method: 'POST',
      headers: { 'content-type': 'application/cloudevents+json' },
    });
    expect(target.received[0]?.headers).not.toHaveProperty('webhook-signature');
    expect(target.received[0]?.body.toString()).toBe(
      '{"specversion":"1.0","id":"a","source":"/test","type":"test","sequence":"00000000000000000001","data":"a"}',
    );
    expect(new Set(target.received.map((one) => one.headers['webhook-id'])).size).toBe(3);
  });

  it('signs as Standard Webhooks says with each of FORWARD_SECRETS, anew for each attempt', async () => {
    const secrets = [SECRET, OTHER_SECRET];
    target = await startTarget((_request, before) =>
      before === 0 ? { status: 503, headers: { 'Retry-After': '1' } } : 200,
    );
    await record('ä');
    expect(await forward(['--since', '0'], { FORWARD_SECRETS: secrets.join(',') }).ended).toBe(0);
    const [first, second] = target.received;
    for (const { headers, body } of [first, second].filter((one) => one !== undefined)) {
      const fields = headers as Record<string, string>;
      for (const secret of secrets)
        expect(new Webhook(secret).verify(body.toString(), fields)).toMatchObject({ id: 'ä' });
      expect(fields['webhook-signature']?.split(' ')).toHaveLength(secrets.length);
    }
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(Number(second?.headers['webhook-timestamp'])).toBeGreaterThan(Number(first?.headers['webhook-timestamp']));
  });

  it.each([500, 429])('posts an event again after %d, before the next one', async (status) => {
    target = await startTarget((_request, before) => (before === 1 ? { status, body: 'later\n' } : 200));
    await record('a', 'b', 'c');
    const tool = forward(['--since', '0']);
    expect(await tool.ended).toBe(0);
    expect(ids()).toEqual(['a', 'b', 'b', 'c']);
    const [, problem] = tool.errors().split('\n');
    expect(problem).toMatch(
      new RegExp(
        `^Event 2 was not taken by ${target.url}: ${String(status)} [A-Z][\\w ]+ \\(\\d+ ms\\): later. Trying again in 0.[2-5] s.$`,
      ),
    );
    const [, first, second] = target.received.map(({ at }) => at);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(249);
  });

  it('waits for a target that is not there, or breaks the connection, and ends at once on a signal', async () => {
    target = await startTarget((_request, before) => (before === 0 ? 'close' : 200));
    await record('a');
    const { url } = target;
    await target.close();
    const tool = forward(['--follow', '--since', '0']);
    await tool.said('Trying again');
    expect(tool.errors()).toContain(
      `Event 1 was not taken by ${url}: nothing listens at 127.0.0.1 on port ${new URL(url).port}. Trying again in`,
    );
    target = await startTarget((_request, before) => (before === 0 ? 'close' : 200), {
      port: Number(new URL(url).port),
    });
    await received(2);
    await record('b');
    await received(3);
    expect(ids()).toEqual(['a', 'a', 'b']);
    expect(tool.errors()).toContain(`Event 1 was not taken by ${url}: the connection was closed before the answer`);
    await target.close();
    await record('c');
    await tool.said('Event 3');
    expect(await tool.end('SIGINT')).toBe(0);
    expect(tool.errors()).toMatch(/\n2 events forwarded\.\n$/);
  });

  it('ends with code 1 and the reason if the target takes an event in none of its tries, without --follow', async () => {
    target = await startTarget(() => 503);
    await record('a', 'b');
    const reason = 'Event 1 was not taken by URL: 503 Service Unavailable (1 ms). It was tried';
    const [code, ...lines] = await endOf(forward(['--event', 'a', '--event', 'b']));
    expect([code, lines.at(-1)]).toEqual([1, `${reason} 3 times.`]);
    expect(ids()).toEqual(['a', 'a', 'a']);
    expect((await endOf(forward(['--since', '0', '--tries', '1']))).at(-1)).toBe(`${reason} once.`);
  });

  describe('on a terminal', () => {
    it.each([
      [404, 'refused by .*: 404 Not Found'],
      [302, 'redirected by .*: 302 Found'],
    ])('prints an event that is answered with %d, and passes over it with --follow', async (status, said) => {
      target = await startTarget((request) => (idOf(request) === 'a' ? status : 200));
      await record('a', 'b');
      const tool = forwardOnTerminal('--follow', '--since', '0');
      await received(2);
      await tool.said('200 OK');
      expect(await tool.end('SIGINT')).toBe(0);
      expect(tool.errors()).toMatch(new RegExp(`\nEvent 1 was ${said}`));
      expect(tool.errors()).toMatch(/\n1 event forwarded, 1 passed over\.\n$/);
      expect(await forwardOnTerminal('--since', '0').ended).toBe(3);
    });
  });

  it('goes on when its output is no longer read', async () => {
    target = await startTarget((_request, before) => (before % 2 === 0 ? 503 : 200));
    const args = ['forward', target.url, '--follow', '--since', '0'];
    const tool = startTool(args, logAt('events.db'), folder.path);
    await tool.said('Forwarding');
    tool.stopListening();
    await record('a', 'b');
    await received(4);
    expect(ids()).toEqual(['a', 'a', 'b', 'b']);
    expect(await tool.end('SIGTERM')).toBe(0);
  });

  it('ends with code 3 at an event that is refused, without what follows', async () => {
    target = await startTarget((request) => (idOf(request) === 'b' ? { status: 422, body: 'no\nb' } : 200));
    await record('a', 'b', 'c');
    const args = ['--since', '0', '--position', 'position'];
    const refusal = 'Event 2 was refused by URL: 422 Unprocessable Entity (1 ms): no\\nb';
    expect(await endOf(forward(args))).toEqual([
      3,
      after(0),
      '1 event forwarded.',
      `${refusal} (--skip-refused passes over such events.)`,
    ]);
    expect([ids(), await savedSequence()]).toEqual([['a', 'b'], 1]);
    expect(await endOf(forward([...args, '--skip-refused']))).toEqual([
      0,
      after(1),
      refusal,
      '1 event forwarded, 1 passed over.',
    ]);
    expect([ids(), await savedSequence()]).toEqual([['a', 'b', 'b', 'c'], 3]);
  });

  it.each([
    ['https://us:pass@elsewhere.example/path?token=t', 'https://elsewhere.example'],
    ['/path?token=t', 'another path'],
  ])('ends with code 3 at a redirect to %s, also with --skip-refused', async (location, shown) => {
    target = await startTarget(() => ({ status: 301, headers: { Location: location }, body: 'body: x' }));
    await record('a');
    const [code, , , line] = await endOf(forward(['--since', '0', '--skip-refused']));
    expect([code, line]).toEqual([
      3,
      `Event 1 was redirected by URL: 301 Moved Permanently (1 ms) to ${shown}. ` +
        'Redirects are not followed: forward to the new address.',
    ]);
  });

  it('names an event that is damaged, and goes on with the next', async () => {
    target = await startTarget();
    await record('a', 'b', 'c', 'd');
    directly(
      path('events.db'),
      `UPDATE events SET data = '"data":"lost' WHERE sequence = 2; UPDATE events SET attributes = 'x' WHERE sequence = 3`,
    );
    const problems = [
      'Event 2 is damaged and is passed over: its data cannot be read.',
      'Event 3 is damaged and is passed over: its attributes cannot be read.',
    ];
    expect(await endOf(forward(['--since', '0', '--position', 'position']))).toEqual([
      0,
      after(0),
      ...problems,
      '2 events forwarded, 2 passed over.',
    ]);
    expect([ids(), await savedSequence()]).toEqual([['a', 'd'], 4]);
    expect(await endOf(forward(['--event', '2', '--event', '4']))).toEqual([
      1,
      'Forwarding the selected events to URL.',
      'Event 2 is damaged and is passed over: its data cannot be read.',
      '1 event forwarded, 1 passed over.',
      'Some of the events were not found or not taken.',
    ]);
  });

  it('prints neither user, password, path nor query of the address', async () => {
    target = await startTarget((_request, before) => [503, 400][before] ?? 200);
    await record('a');
    const url = target.url.replace('://', '://us-er:ge%2fheim@') + '/pa-th?to-ken=1';
    const tool = startToolHere(['forward', '--since', '0', url], logAt('events.db'), folder.path);
    expect(await tool.ended).toBe(3);
    expect(tool.errors()).not.toMatch(/us-er|heim|pa-th|to-ken/);
    expect(target.received[0]).toMatchObject({
      path: '/pa-th?to-ken=1',
      headers: { authorization: `Basic ${Buffer.from('us-er:ge/heim').toString('base64')}` },
    });
  });

  describe('of some events', () => {
    it('posts each once in the order of the log, says which are not found, known apart or taken, and ends with 1', async () => {
      target = await startTarget((request) => (idOf(request) === 'a' ? 422 : 200));
      await record('a', '1', 'c');
      const names = ['x\ny', '1', 'c', '00000000000000000003', 'a'];
      expect(await endOf(forward(names.flatMap((name) => ['--event', name])))).toEqual([
        1,
        'Forwarding the selected events to URL.',
        'There is no event x\\ny.',
        '1 names several events. Give the whole sequence of each that is meant: 00000000000000000001, 00000000000000000002.',
        'Event 1 was refused by URL: 422 Unprocessable Entity (1 ms)',
        '1 event forwarded, 1 passed over.',
        'Some of the events were not found or not taken.',
      ]);
      expect(ids()).toEqual(['a', 'c']);
      expect((await endOf(forward(['--type', 'none']))).slice(2)).toEqual([
        '0 events forwarded.',
        'No event was found.',
      ]);
    });

    it.each([
      ['--type ref.*', 'bd'],
      ['--text D-AT', 'd'],
      ['--since 1 --until 3', 'bc'],
      ['--since 2026-01-02 --until 2026-01-04', 'bc'],
      ['--binding httppost --until 2026-01-02', 'a'],
    ])('posts all that a search finds, oldest first: %s', async (args, found) => {
      target = await startTarget();
      for (const [i, id] of [...'abcd'].entries()) {
        const type = i % 2 === 1 ? 'ref.und' : 'order';
        const attributes = `{"specversion":"1.0","id":"${id}","source":"/test","type":"${type}","binding":"httppost"}`;
        await log.append(newEvent({ id, attributes, data: `"data":"${id}-at"`, recordedAt: Date.UTC(2026, 0, i + 1) }));
      }
      expect(await forward(args.split(' ')).ended).toBe(0);
      expect(ids()?.join('')).toBe(found);
    });
  });

  describe('with --position', () => {
    const KEPT = ['--position', 'position'];

    it('begins with what is recorded afterwards, and goes on there, also where nothing was forwarded yet', async () => {
      target = await startTarget();
      await record('a');
      const tool = forward(['--follow', ...KEPT]);
      await tool.said('Forwarding the events after 1');
      await tool.end('SIGTERM');
      await record('b', 'c');
      expect(await endOf(forward(KEPT))).toEqual([0, after(1), '2 events forwarded.']);
      expect([ids(), await savedSequence()]).toEqual([['b', 'c'], 3]);
      expect(await endOf(forward([...KEPT, '--since', '0']))).toEqual([0, after(3), '0 events forwarded.']);
    });

    it('says which events the log has forgotten, and goes on', async () => {
      target = await startTarget();
      await record('a');
      await forward(['--since', '0', ...KEPT]).ended;
      await record('b', 'c', 'd', 'e');
      await keepNewest(2);
      expect(await endOf(forward(KEPT))).toEqual([
        0,
        after(1),
        'The log no longer has the events 2 to 3 (retention): they were not forwarded.',
        '2 events forwarded.',
      ]);
      expect(ids()).toEqual(['a', 'd', 'e']);
    });

    /** Makes the log forget all events but the newest. */
    async function keepNewest(maxEvents: number): Promise<void> {
      await log.close();
      log = await openSqliteLog({ file: path('events.db'), retention: { maxEvents } });
      await eventually('events are forgotten', async () => (await log.stats()).events === maxEvents);
    }

    it.each([
      ['another event stands there', ['x', 'y', 'z'], 'Event 2 of this event log is not the one that was forwarded.'],
      ['it ends before', ['a'], 'This event log ends before event 2, after which forwarding was to go on.'],
    ])('does not go on in another log: %s', async (_what, others, problem) => {
      target = await startTarget();
      await record('a', 'b');
      await forward(['--since', '0', ...KEPT]).ended;
      const other = await openSqliteLog({ file: path('other.db') });
      for (const id of others) await other.append(newEvent({ id }));
      await other.close();
      expect(await endOf(forward(KEPT, logAt('other.db')))).toEqual([
        1,
        `${problem} Name the log that was forwarded (EVENT_LOG or --from), or choose another --position or --since.`,
      ]);
      expect([ids(), await savedSequence()]).toEqual([['a', 'b'], 2]);
    });

    it('goes on after the last forwarded event was removed, and takes no hole of a repetition for retention', async () => {
      target = await startTarget();
      await record('a', 'b');
      await forward(['--since', '0', ...KEPT]).ended;
      await log.forget([2]);
      const tool = forward(['--follow', ...KEPT]);
      await tool.said('Forwarding');
      await record('a', 'a', 'c');
      await received(3);
      expect(await tool.end('SIGTERM')).toBe(0);
      expect(tool.errors()).toBe(`Forwarding the events after 2 to ${target.url}.\n1 event forwarded.\n`);
      expect(ids()).toEqual(['a', 'b', 'c']);
    });
  });
});

describe('a sample that is triggered', () => {
  const folder = useTemporaryFolder();
  const trigger = (args: readonly string[], variables = {}) =>
    runToolHere(['trigger', ...args], variables, folder.path);

  it.each(Sender.recognised)('of %s is recorded as signed by the service that has the same settings', async (name) => {
    const service = await startService(SECRETS);
    const { port } = new URL(service.url);
    expect(await trigger([name], { ...SECRETS, PORT: port })).toMatchObject({ code: 0, errors: '' });
    const [event] = await service.log.scan({ after: 0, limit: 1 });
    const arrival = JSON.parse(event?.arrival ?? '') as { headers: object };
    expect(arrival).toMatchObject({ signedBy: Sender.named(name)?.name, 'webhook-sender': name });
    // Libraries of senders refuse a request without their own fields.
    const { fields, hidden = [] } = DELIVERIES.find(({ sender }) => sender === name) ?? {};
    const own = Object.keys(fields?.('', '') ?? {}).filter((field) => /^x-/i.test(field));
    expect([...Object.keys(arrival.headers), ...hidden]).toEqual(
      expect.arrayContaining(own.map((field) => field.toLowerCase())),
    );
    expect(event?.attributes).not.toContain('webhook.recorded');
    expect(event?.webhookId).toMatch(/^signed /);
    await service.stop();
  });

  it('goes to another address with a body of its own, signed with no secret but the one in a file', async () => {
    const target = await startTarget((request) =>
      request.headers['x-gitlab-event'] === 'Merge Request Hook' ? 200 : 422,
    );
    const args = ['gitlab', 'merge_request', '--to', target.url];
    await writeFile(join(folder.path, 'data'), '{"a":1}');
    await writeFile(join(folder.path, 'secret'), 'of the handler\n');
    expect(await trigger([...args, '--data', 'data'], SECRETS)).toMatchObject({ code: 0 });
    expect(await trigger([...args, '--data', 'data', '--secret-file', 'secret'], SECRETS)).toMatchObject({ code: 0 });
    const tokens = target.received.map(({ headers }) => headers['x-gitlab-token']);
    expect(tokens).toEqual([undefined, 'of the handler']);
    expect(target.received[1]?.body.toString()).toBe('{"a":1}');
    const unknown = await trigger(args);
    expect([unknown.code, unknown.errors]).toEqual([2, expect.stringContaining('only push: give')]);
    const refused = await trigger(['gitlab', '--to', target.url]);
    expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining('422')]);
    await target.close();
  });
});
