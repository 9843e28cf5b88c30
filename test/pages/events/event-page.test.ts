import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { EventQuery, SearchQuery } from '../../../src/log/queries';
import { Deferred } from '../../../src/util/promises';
import { newEvent } from '../../support/events';
import { eventually } from '../../support/eventually';
import { FORM, JSON_TYPE, linkOf, TEXT, useEventsPages } from '../../support/events-pages';
import { send } from '../../support/http';
import { PNG } from '../../support/images';
import { startService } from '../../support/service';

setFlagsFromString('--expose-gc');
const usedHeap = (): number => {
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
};

const HOSTILE = `</textarea><script>alert(1)</script>\u202E"'&`;

const { service, get, page, text, record, recordCloudEvent } = useEventsPages();

/** Records a form with a text and files. */
const recordForm = async (...files: readonly (readonly [name: string, content: string | Buffer])[]) => {
  const form = new FormData();
  form.set('note', '<b>hello');
  for (const [name, content] of files) form.append('file', new Blob([content], { type: 'image/svg+xml' }), name);
  const message = new Response(form);
  const type = { 'Content-Type': message.headers.get('content-type') ?? '' };
  return record(Buffer.from(await message.arrayBuffer()), type);
};
const imagesIn = (html: string) => [...html.matchAll(/<img src="data:image\/(\w+);base64,/g)].map(([, type]) => type);

describe('the page of an event', () => {
  it('begins with its type, id, sender and size, and folds away the attributes that stand there', async () => {
    await recordCloudEvent({ id: '<17>', type: 'order.paid', data: { a: 17 } });
    const shown = await text('?event=1');
    expect(shown).toMatch(/ POST order\.paid \S+ \S+ UTC Id &lt;17&gt; Sender 127\.0\.0\.1 Size 8 B /);
    for (const part of ['{ &quot;a&quot;: 17 }', ' POST / webhooks/ Services/ WebHooks.asmx/ RecordEvent '])
      expect(shown).toContain(part);
    await record('{}', JSON_TYPE);
    await recordCloudEvent({ id: '18', time: '2020-02-02T02:02:02Z' });
    const body = await page('?event=2');
    const attributes = (html: string) =>
      (/aria-labelledby="attributes">([^]*?)<\/section>/.exec(html)?.[1] ?? '').split('<details>');
    const names = (html = '') => [...html.matchAll(/<dt><bdi>(\w+)/g)].map(([, name]) => name);
    const [open, folded] = attributes(body);
    expect(names(open)).toEqual(['source', 'datacontenttype']);
    expect(names(folded)).toEqual(['specversion', 'id', 'type', 'time', 'binding', 'sequence']);
    // A time of its own stands nowhere else.
    expect(names(attributes(await page('?event=3'))[0])).toEqual(['source', 'time']);
  });

  it('is found by an id, that of the newest of those that share it', async () => {
    for (const source of ['/a', '/b']) await recordCloudEvent({ id: 'order & 17', source });
    expect(await page(`?event&id=${encodeURIComponent('order & 17')}`)).toContain('<h1>Event 2</h1>');
    expect((await get('?event&id=17')).status).toBe(404);
  });

  it('is not there at the sequence of no event', async () => {
    await record();
    for (const sequence of ['0', '99', 'x', '', '99999999999999999999', '-1']) {
      const { status, body } = await get(`?event=${sequence}`);
      expect([sequence, status]).toEqual([sequence, 404]);
      expect(body).toContain('There is no such event in the log');
    }
  });

  it('folds long header fields: their beginning, and the rest inside, and counts those for which there is no room', async () => {
    await record('', { 'X-Long': `${'a'.repeat(15_000)}end`, 'X-Short': 'b'.repeat(200) });
    const body = await page('?event=1');
    const [, start, rest] = /<summary><bdi>(a*…)<\/bdi><\/summary><bdi>(a*end)</.exec(body) ?? [];
    expect([start?.length, rest?.length]).toEqual([201, 14_803]);
    expect(body).toContain(`<bdi>${'b'.repeat(200)}</bdi></dd>`);
    // As Node reads it.
    const value = Buffer.from('Müller').toString('latin1');
    const headers = Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`x-${String(i)}`, value]));
    await service().log.append(newEvent({ arrival: JSON.stringify({ headers }) }));
    expect(await text('?event=2')).toContain(' x-199 Müller … 50 more ');
  });

  it('has a download whose name tells what it is', async () => {
    const events = [
      ['application/xml', '<a/>', 'xml'],
      ['application/soap+xml; charset=utf-8', '<a/>', 'xml'],
      ['text/html', '<a/>', 'txt'],
      ['application/json', '{"a":1}', 'json'],
      ['image/svg+xml', Buffer.from([0xff]), 'bin'],
    ] as const;
    for (const [i, [type, body, ending]] of events.entries()) {
      await record(body, { 'Content-Type': type });
      const { headers } = await get(`?event=${String(i + 1)}&download=data`);
      expect(headers['content-disposition']).toBe(`attachment; filename="event-${String(i + 1)}-data.${ending}"`);
    }
  });

  it('has downloads that a browser saves and never shows', async () => {
    await record(HOSTILE, { 'Content-Type': 'text/html' });
    const data = await get('?event=1&download=data');
    expect(data.body).toBe(HOSTILE);
    expect(data.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    const event = await get('?event=1&download=event');
    const listed = await send(`${service().url}/GetEvents`, { headers: { Accept: 'application/json' } });
    expect([JSON.parse(event.body)]).toEqual(JSON.parse(listed.body));
    expect(event.headers['content-type']).toBe('application/cloudevents+json');
    expect((await get('?event=1&download=nonsense')).status).toBe(400);
  });

  it('has a download for each file of a form, and shows those that are images by their bytes', async () => {
    await recordForm(['a.png', PNG], ['b.png', '<svg onload="alert(1)"/>'], ['../\u202E<>x.exe', 'MZ']);
    const body = await page('?event=1');
    expect(body).toContain('&lt;b&gt;hello');
    expect(imagesIn(body)).toEqual(['png']);
    expect(body).not.toContain('<svg onload');
    expect([...body.matchAll(/<a class="button" href="(\?event=1&amp;download=file\d)" download>/g)]).toHaveLength(3);
    const file = await get('?event=1&download=file0');
    expect(file.body).toBe(PNG.toString());
    expect(file.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="a.png"',
    });
    const named = await get('?event=1&download=file2');
    expect(named.headers['content-disposition']).toBe("attachment; filename*=UTF-8''..__%3C%3Ex.exe");
    expect((await get('?event=1&download=file3')).status).toBe(400);
  });

  it('shows images of a form up to the size of one image', async () => {
    const large = Buffer.concat([PNG, Buffer.alloc(600 * 1024)]);
    await recordForm(['a.png', large], ['b.png', large], ['c.png', PNG]);
    expect(imagesIn(await page('?event=1'))).toEqual(['png', 'png']);
  });

  it('shows a query as a form, and says where it shows only the beginning', async () => {
    await send(`${service().url}/RecordEvent?order=17`);
    expect(await page('?event=1')).toMatch(/<dt><bdi>order<\/bdi><\/dt>\s*<dd class="code">\s*<div><bdi>17</);
    await record('x'.repeat(200_000), TEXT);
    expect(await text('?event=2')).toContain('This is the beginning. Download all 195.3 KiB .');
  });

  it('names the keys under which it is recorded once, and why another event has one, too', async () => {
    const one = newEvent({ idempotencyKey: 'scope\nkey-17\n\nshop', webhookId: 'signed X-GitHub-Delivery\nd-17' });
    await service().log.append(one, newEvent({ webhookId: 'd-18\n\ndigest' }));
    const shown = async (query: string) => / nothing\. (Idem.*|webhook.*?) How it arrived/.exec(await text(query))?.[1];
    expect([await shown('?event=1'), await shown('?event=2')]).toEqual([
      'Idempotency-Key key-17 signed X-GitHub-Delivery d-17 Recorded although another caller used that key before',
      'webhook-id d-18 Recorded although that id came before, with other data or from another sender',
    ]);
    expect(await text('?event=1')).toContain('This service would not record it again under the same key.');
  });

  it('shows JSON in a field of a form as JSON, and what only looks like it as it is', async () => {
    const payload = encodeURIComponent('{"action":"opened","issue":{"number":17,"title":"<b>"}}');
    await record(`payload=${payload}&other=%7Bx%7D`, FORM);
    const body = await page('?event=1');
    const [, json] = /data-kind="JSON">([^]*?)<\/div>/.exec(body) ?? [];
    expect(json).toContain(
      '\n  &quot;issue&quot;: {\n    &quot;number&quot;: 17,\n    &quot;title&quot;: &quot;&lt;b&gt;',
    );
    expect(body).toContain('<bdi>{x}</bdi>');
  });

  it('does not hold the event while its neighbours are looked for, since searches take their time', async () => {
    await record('text '.repeat(300_000), TEXT);
    const { log } = service();
    const [searching, search, scan] = [new Deferred(), log.search.bind(log), log.scan.bind(log)];
    let searches = 0;
    Object.assign(log, {
      search: async (query: SearchQuery) => {
        searches++;
        await searching.promise;
        return search(query);
      },
      scan: async (query: Pick<EventQuery, 'limit'> & { after: number }) => structuredClone(await scan(query)),
    });
    const before = usedHeap();
    const pages = Array.from({ length: 4 }, () => get('?event=1&text=text'));
    await eventually('neighbours are looked for', () => searches === 12);
    const held = usedHeap() - before;
    searching.resolve();
    for (const page of await Promise.all(pages)) expect(page.body).toContain('text text');
    expect(held).toBeLessThan(2 * 1024 * 1024);
  });

  it('leads to its neighbours in the list from which it was opened', async () => {
    for (const body of ['"a"', '"b"', '"a"', '"b"', '"a"']) await record(body, JSON_TYPE);
    const [, href = ''] = /<a href="(\?event=3[^"]*)"/.exec(await page('?events&text=%22a%22')) ?? [];
    const around = async (query: string) => {
      const body = await page(query);
      return [linkOf(body, 'newer'), linkOf(body, 'older')];
    };
    expect(await around(href.replaceAll('&amp;', '&'))).toEqual(['?event=5&text=%22a%22', '?event=1&text=%22a%22']);
    expect(await around('?event=3')).toEqual(['?event=4', '?event=2']);
    expect(await around('?event=5')).toEqual([undefined, '?event=4']);
    jest
      .spyOn(service().log, 'search')
      .mockImplementation(() => Promise.resolve({ events: [], reached: { position: 2, recordedAt: 0 }, more: true }));
    expect(await around('?event=3&text=x')).toEqual(['?events&text=x&after=2', '?events&text=x&before=2']);
  });

  it('leads to the comparison with the last event of its type', async () => {
    for (const [id, type] of Object.entries({ one: 'a', two: 'b', three: 'a' })) await recordCloudEvent({ id, type });
    const offered = async (query: string) =>
      /href="([^"]*)">Compare with the last of its type/.exec(await page(query))?.[1];
    expect(await offered('?event=3&text=%22')).toBe('?event=3&amp;with=1&amp;text=%22');
    expect(await offered('?event=2')).toBeUndefined();
    expect(await page('?event=2&text=%22')).toContain('<input type="hidden" name="text" value="&quot;">');
  });
});

it('the page of an event names the key that recorded it', async () => {
  const guarded = await startService({ RECORD_KEYS: 'shop 0123456789abcdef0', READ_KEYS: 'fedcba9876543210f' });
  await send(`${guarded.url}/RecordEvent`, { method: 'POST', headers: { 'X-API-Key': '0123456789abcdef0' } });
  const { body } = await send(`${guarded.url}?event=1`, { headers: { 'X-API-Key': 'fedcba9876543210f' } });
  expect(body).toContain('Key <code><bdi>shop</bdi></code>');
  await guarded.stop();
});
