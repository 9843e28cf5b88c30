import { readConfig } from '../../../src/config/config';
import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { ArchiveLine } from '../../../src/events/archive-line';
import { eventually } from '../../support/eventually';
import { send } from '../../support/http';
import { expectNothingHeld, noBytesHeld } from '../../support/nothing-held';
import { startService, type TestService } from '../../support/service';
import { newEvent } from '../../support/events';

describe('what the list of events finds, as a file', () => {
  let service: TestService;
  afterEach(() => expectNothingHeld(service));

  const record = (count: number, data = '"data":{"order":17}') =>
    service.log.append(...Array.from({ length: count }, () => newEvent({ data })));
  const lines = async (query: string) => {
    const { body } = await send(`${service.url}?events=export${query}`);
    return body
      .split('\n')
      .slice(0, -2)
      .map((line) => (JSON.parse(line) as { sequence: string }).sequence);
  };
  /** Begins a download of which nothing is read. */
  const begin = (events = 'export&text=x', headers = {}): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      httpGet(`${service.url}?events=${events}`, { agent: false, headers }, resolve).on('error', reject);
    });

  it('has the lines of an export, oldest first, of more than a page', async () => {
    service = await startService();
    await record(60);
    await record(1, `"data":"${'x'.repeat(30_000)}"`);
    await record(59);
    const { status, headers, body } = await send(`${service.url}?events=export`);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/x-ndjson',
      'content-disposition': 'attachment; filename="events.ndjson"',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'no-store',
      'x-events-last': '120',
      'x-accel-buffering': 'no',
    });
    const events = body
      .split('\n')
      .slice(0, -2)
      .map((line) => ArchiveLine.read(line).event);
    const stored = await service.log.scan({ after: 0, limit: 1000 });
    expect(stored).toHaveLength(120);
    expect(stored).toMatchObject(events);
    const head = await send(`${service.url}?events=export`, { method: 'HEAD' });
    expect([head.status, head.body]).toEqual([200, '']);
  });

  it('has all that matches', async () => {
    service = await startService();
    await record(60, `"data":"wanted${'x'.repeat(900)}"`);
    await record(60);
    expect(await lines('&text=wanted')).toHaveLength(60);
    expect(await lines('&text=nothing')).toEqual([]);
    expect(await lines('&before=61')).toHaveLength(60);
    expect(await lines('&text=wanted&limit=7')).toHaveLength(7);
    expect(await lines('&limit=100')).toHaveLength(100);
    for (let i = 0; i < 11; i++)
      await service.log.append(newEvent({ id: 'same', source: String(i), recordedAt: Date.UTC(2027, 1) }));
    expect(await lines('&from=2027-01-01T00:00')).toHaveLength(11);
    expect(await lines('&id=same')).toHaveLength(10);
    expect(await lines('&id=same&limit=2')).toHaveLength(2);
    for (const query of ['from=x', 'id=same&type=t', 'id=same&from=2027-01-01T00:00', 'id=same&before=9'])
      expect([query, (await send(`${service.url}?events=export&${query}`)).status]).toEqual([query, 400]);
  });

  it('goes at the pace of its caller, two at a time, takes no slot, and ends when the caller goes', async () => {
    service = await startService({ MAX_IN_FLIGHT: '4' });
    await record(20, `"data":"${'x'.repeat(1_000_000)}"`);
    const scan = jest.spyOn(service.log, 'scan');
    const callers = [await begin(), await begin()];
    const third = await send(`${service.url}?events=export&text=x`);
    expect([third.status, third.headers['retry-after']]).toEqual([503, '1']);
    expect(third.body).toContain('Too many downloads');
    expect((await send(`${service.url}?events`)).status).toBe(200);
    expect((await send(`${service.url}/HelloWorld`)).status).toBe(200);
    // The buffers of the sockets are full.
    const read = scan.mock.calls.length;
    for (const caller of callers) caller.destroy();
    await eventually('a download after those that ended', async () => {
      return (await send(`${service.url}?events=export&text=nothing`)).status === 200;
    });
    expect(scan.mock.calls.length - read).toBeLessThan(5);
  });

  it('reads no large event for which there is no room, nor does GetEvents', async () => {
    service = await startService({ MAX_REQUEST_BYTES: '1048576', MAX_BODY_MEMORY: '1048576' });
    const data = `"data":"${'x'.repeat(900_000)}"`;
    await service.log.append(newEvent({ id: 'first', data }));
    await record(9, data);
    const taken = await begin('export');
    const isRefused = async (query: string) => (await send(service.url + query)).status === 503;
    await eventually('it has all of the room', () => isRefused('?events=export'));
    const scan = jest.spyOn(service.log, 'scan');
    for (const query of ['?events=export', '?events=export&id=first', '/GetEvents?id=first', '/GetEvents?sequence=1'])
      expect([query, await isRefused(query)]).toEqual([query, true]);
    const read = await Promise.all(scan.mock.results.map(({ value }) => value as ReturnType<typeof service.log.scan>));
    // The download that was begun may go on with later ones.
    expect(read.flat().filter(({ position, data: whole }) => position === 1 && whole !== undefined)).toEqual([]);
    taken.destroy();
    await noBytesHeld();
    expect((await send(`${service.url}?events=export`)).body.length).toBeGreaterThan(9_000_000);
  });

  it('ends where it is when the key of its caller is taken away, and no other', async () => {
    const [removed, kept] = ['a-key-that-goes-away', 'a-key-that-stays'] as const;
    service = await startService({ READ_KEYS: `${removed},${kept}` });
    const follow = (key: string) => begin('export&wait=60', { 'X-API-Key': key });
    const [goes, stays] = [await follow(removed), await follow(kept)];
    for (const answer of [goes, stays]) await once(answer, 'readable');
    await service.app.reload(readConfig({ READ_KEYS: kept }));
    await record(1);
    expect(await ending(goes)).toBe('aborted');
    expect(String(goes.read())).toBe('\n');
    let text = '';
    stays.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await eventually('the other has the event', () => text.includes('"sequence"'));
    stays.destroy();
  });

  it('is not complete where the service stops or the log fails, and the caller sees that', async () => {
    service = await startService();
    await record(20, `"data":"${'x'.repeat(1_000_000)}"`);
    const stopped = await begin();
    const stop = service.stop();
    stopped.resume();
    expect(await ending(stopped)).toBe('aborted');
    await stop;
    service = await startService();
    await record(200, `"data":"${'x'.repeat(10_000)}"`);
    const scan = service.log.scan.bind(service.log);
    jest.spyOn(service.log, 'scan').mockImplementation((query) => {
      return query.after === 0 ? scan(query) : Promise.reject(new Error('the disk is gone'));
    });
    expect(await ending((await begin()).resume())).toBe('aborted');
    // More than there may be at a time: each gives its place back.
    for (let i = 0; i < 3; i++) expect(await ending((await begin()).resume())).toBe('aborted');
    expect((await send(`${service.url}?events=refusals`)).body).toContain('the disk is gone');
  });
});

/** How an answer ended. */
async function ending(answer: IncomingMessage): Promise<'complete' | 'aborted'> {
  if (!answer.closed) await Promise.race([once(answer, 'close'), once(answer, 'error')]).catch(() => undefined);
  return answer.complete ? 'complete' : 'aborted';
}
