import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import type { EventLog } from '../../../src/log/event-log';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import { newEvent } from '../../support/events';
import { eventually } from '../../support/eventually';
import { directly } from '../../support/sqlite';
import { startTarget, type Received, type Target } from '../../support/target';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { startTool, type RunningTool } from '../../support/tool';
import { startToolHere } from '../../support/tool-here';

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
  const EVENT_LOG = 'sqlite:events.db';
  const forward = (args: readonly string[], variables = {}, options = {}) =>
    startToolHere(['forward', target?.url ?? '', ...args], { EVENT_LOG, ...variables }, folder.path, options);
  const forwardOnTerminal = (...args: readonly string[]) => forward(args, {}, { isTerminal: true });
  const idOf = ({ body }: Received) => (JSON.parse(body.toString()) as { id: string }).id;
  const ids = () => target?.received.map(idOf);
  const received = (count: number) =>
    eventually(`${String(count)} events arrive`, () => target?.received.length === count);
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

  it.each([
    [404, 'refused by .*: 404 Not Found'],
    [302, 'redirected by .*: 302 Found'],
  ])('prints on a terminal what is answered with %d, and passes over it with --follow', async (status, said) => {
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

  it('goes on when its output is no longer read', async () => {
    target = await startTarget((_request, before) => (before % 2 === 0 ? 503 : 200));
    const args = ['forward', target.url, '--follow', '--since', '0'];
    const tool = startTool(args, { EVENT_LOG }, folder.path);
    await tool.said('Forwarding');
    tool.stopListening();
    await record('a', 'b');
    await received(4);
    expect(ids()).toEqual(['a', 'a', 'b', 'b']);
    expect(await tool.end('SIGTERM')).toBe(0);
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
    expect(ids()).toEqual(['a', 'd']);
    expect(await readFile(path('position'), 'utf8')).toMatch(/"sequence":"0*4"/);
    expect(await endOf(forward(['--event', '2', '--event', '4']))).toEqual([
      1,
      'Forwarding the selected events to URL.',
      'Event 2 is damaged and is passed over: its data cannot be read.',
      '1 event forwarded, 1 passed over.',
      'Some of the events were not found or not taken.',
    ]);
  });
});
