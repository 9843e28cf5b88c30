import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { EventLogError } from '../../../src/log/engine';
import type { EventQuery, SearchQuery } from '../../../src/log/queries';
import { Deferred } from '../../../src/util/promises';
import { eventually } from '../../support/eventually';
import { send, type Answer, type Question } from '../../support/http';
import { expectNothingHeld } from '../../support/nothing-held';
import { startService, type TestService } from '../../support/service';
import { newEvent } from '../../support/events';
import { htmlProblems } from '../../support/valid-html';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function usedHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const FORM = 'application/x-www-form-urlencoded';
const HOSTILE = `</textarea><script>alert(1)</script>\u202E"'&`;

describe('the pages of the events', () => {
  let service: TestService;
  beforeEach(async () => {
    service = await startService();
  });
  afterEach(() => expectNothingHeld(service));

  const get = (query: string, headers: Record<string, string> = {}) => send(service.url + query, { headers });
  const record = (question: Question & { query?: string } = {}) =>
    send(`${service.url}/RecordEvent${question.query ?? ''}`, { method: 'POST', ...question });
  const recordJson = (body: string) => record({ headers: { 'Content-Type': 'application/json' }, body });
  /** Records CloudEvents of the type `t` in one batch. */
  const recordMany = (count: number) =>
    record({
      headers: { 'Content-Type': 'application/cloudevents-batch+json' },
      body: JSON.stringify(
        Array.from({ length: count }, (_, i) => ({ specversion: '1.0', id: `e${String(i)}`, source: '/s', type: 't' })),
      ),
    });
  const rows = (html: string): string[] => [...html.matchAll(/<tr data-sequence="0*(\d+)">/g)].map(([, at = '']) => at);
  const link = (html: string, id: string): string | undefined =>
    new RegExp(`<a href="([^"]*)"[^>]* id="${id}">`).exec(html)?.[1]?.replaceAll('&amp;', '&');

  it('have the address for webhooks to copy as long as there is no event', async () => {
    const { body } = await get('?events');
    expect(body).toContain(`<code id="webhooks">${service.url}/RecordEvent</code>`);
    expect(body).toContain('data-copy="webhooks"');
    expect(await htmlProblems(body)).toEqual([]);
    await record();
    expect((await get('?events')).body).not.toContain('id="webhooks"');
  });

  describe('list', () => {
    it.each([50, 51])('each of %d events once, to the last and back', async (count) => {
      await recordMany(count);
      const expected = Array.from({ length: count }, (_, i) => String(count - i));
      const pages = async (from: string, towards: 'older' | 'newer') => {
        const found: string[][] = [];
        let last = from;
        for (let next: string | undefined = from; next !== undefined;) {
          last = next;
          const { body } = await get(next);
          found.push(rows(body));
          next = link(body, towards);
        }
        return { found, last };
      };
      const down = await pages('?events', 'older');
      expect((await get('?events')).body).toContain(`<strong id="count">${String(count)} events</strong>`);
      expect(down.found.flat()).toEqual(expected);
      expect((await pages(down.last, 'newer')).found.reverse().flat()).toEqual(expected);
    });

    it('what helps to recognize an event', async () => {
      await recordJson('{"order":17}');
      const { body } = await get('?events');
      const row = /<tr class="day"[^]*?<tr data-sequence[^]*?<\/tr>/.exec(body)?.[0].replace(/<[^>]*>|\s+/g, ' ');
      expect(row).toMatch(
        /^ +\w{3}, \d\d \w{3} \d{4} +Event +1 +\d\d:\d\d:\d\d\.\d{3} +POST +webhook\.recorded +127\.0\.0\.1 +12 B +\{&quot;order&quot;:17\}/,
      );
    });

    it('what a search finds, in any tab of any browser: the address says it all', async () => {
      await recordJson('{"order":"17"}');
      await recordJson('{"order":"18"}');
      await send(`${service.url}/RecordEvent?order=17`);
      const query =
        '?events=&text=%2217%22&binding=httppost&type=webhook.recorded&from=2020-01-01T00:00&to=2100-01-01T00:00';
      const { body } = await get(query);
      expect(rows(body)).toEqual(['1']);
      expect(body).toContain('name="text" id="text" maxlength="200" value="&quot;17&quot;"');
      expect(body).toContain('<option value="httppost" selected>');
      expect(body).toContain('name="from" step="1" value="2020-01-01T00:00"');
      expect(link(body, 'older')).toBeUndefined();
      expect((await get('?events&text=nothing')).body).toContain('in the log matches.');
    });

    it('nothing where the address makes no sense, and why', async () => {
      const { status, body } = await get('?events&from=yesterday');
      expect(status).toBe(400);
      expect(body).toContain('from must be a time such as 2026-11-22T14:02:00Z: yesterday');
    });

    it('how many events a search found, and how far it looked', async () => {
      const found = async (query: string) =>
        /<strong id="found">.*\./.exec((await get(query)).body)?.[0].replace(/<[^>]*>/g, '');
      await recordMany(60);
      await recordJson('{"a":"x"}');
      expect(await found('?events')).toBeUndefined();
      expect(await found('?events&text=%22x%22')).toBe('1 found, searched the whole log.');
      expect(await found('?events&type=t')).toMatch(/^50 found so far, searched back to \S+ \S+ UTC\.$/);
      expect(await found('?events&type=t&before=11')).toBe('10 found on this page, searched back to the oldest event.');
      expect(await found('?events&type=t&after=50')).toBe('10 found on this page, searched up to the newest event.');
    });

    it('the part of an event that matches, marked, as text', async () => {
      await recordJson(JSON.stringify({ a: 'y'.repeat(500), b: '<Needle>\u202E' }));
      await send(`${service.url}/RecordEvent?c=1`, { headers: { 'User-Agent': 'needle' } });
      const cells = [...(await get('?events&text=needle')).body.matchAll(/<td class="data code">(.*)<\/td>/g)];
      expect(cells.map(([, cell]) => cell)).toEqual([
        expect.stringMatching(/^<span class="chip">arrival<\/span> <bdi>.*<mark>needle<\/mark>&quot;.*<\/bdi>$/),
        `<bdi>…${'y'.repeat(16)}&quot;,&quot;b&quot;:&quot;&lt;<mark>Needle</mark>&gt;<span class="code-point">U+202E</span>&quot;}</bdi>`,
      ]);
    });

    it('links that narrow it to a type and a sender, and keep what it is narrowed to', async () => {
      await recordMany(1);
      await recordJson('{"order":17}');
      const links = async (query: string) => {
        const { body } = await get(query);
        return [...body.matchAll(/<td class="(?:kind|address code)"><a href="([^"]*)"/g)].map(([, href = '']) =>
          href.replaceAll('&amp;', '&'),
        );
      };
      expect(await links('?events&text=order')).toEqual([
        '?events&text=order&type=webhook.recorded',
        '?events&text=order&sender=127.0.0.1',
      ]);
      expect(rows((await get('?events&type=t')).body)).toEqual(['1']);
      expect(await links('?events&type=t')).toEqual(['?events&type=t&sender=127.0.0.1']);
      expect(await links('?events&type=t&sender=127.0.0.1')).toEqual([]);
      expect(rows((await get('?events&sender=127.0.0.1')).body)).toEqual(['2', '1']);
      expect(rows((await get('?events&sender=127.0.0')).body)).toEqual([]);
    });

    it('headings for days', async () => {
      for (const day of [21, 21, 22])
        await service.log.append(newEvent({ recordedAt: Date.UTC(2026, 10, day, 23, 59) }));
      const { body } = await get('?events');
      const text = body.replace(/[^]*<tbody id="rows">|<\/tbody>[^]*/g, '').replace(/<[^>]*>|\s+/g, ' ');
      expect(text).toMatch(/Sun, 22 Nov 2026 +Event +3 .* Sat, 21 Nov 2026 +Event +2 .* Event +1 /);
      expect(text.match(/Nov 2026/g)).toHaveLength(2);
    });

    it('its way to the event whose id or sequence is searched for', async () => {
      await recordMany(30);
      const find = async (text: string) => {
        const { status, headers } = await get(`?events=find&type=x&text=${encodeURIComponent(text)}`);
        return [status, headers.location];
      };
      expect(await find(' 00000000000000000007')).toEqual([303, '?event=7&text=%2000000000000000000007&type=x']);
      expect(await find('e12')).toEqual([303, '?event=13&text=e12&type=x']);
      expect(await find('99')).toEqual([200, undefined]);
      expect(await find('e')).toEqual([200, undefined]);
      expect((await get('?events=find&text=99')).body).not.toContain('This number names');
      // A number may be a text, too: the list shows what it finds, and leads to the event.
      const both = (await get('?events=find&text=7')).body;
      expect(both).toContain('This number names <a href="?event=7&amp;text=7">event 7</a>.');
      expect(rows(both).length).toBeGreaterThan(1);
      const { body } = await get('?event=7&text=7');
      expect(body).toContain('<a href="?events&amp;text=7" class="button" id="back">Back to the search</a>');
    });

    it.each(['&binding=httppost', '&text=e', '&from=2020-01-01T00:00'])(
      'each of 120 new events once after the newest that a page has, in several answers, narrowed by %s',
      async (filter) => {
        await record();
        const after = (html: string) => /data-after="(\d+)"/.exec(html)?.[1] ?? '';
        const found: string[] = [];
        let page = (await get(`?events${filter}`)).body;
        await recordMany(120);
        for (let before = ''; before !== after(page);) {
          before = after(page);
          page = (await get(`?events${filter}&after=${before}`)).body;
          found.unshift(...rows(page));
        }
        expect(found).toEqual(Array.from({ length: 120 }, (_, i) => String(121 - i)));
      },
    );
  });

  it('show the end of the log whose neighbour holds every event, also on an empty page', async () => {
    for (let i = 1; i <= 3; i++) await record();
    const newest = (await get('?events&after=3')).body;
    expect(rows(newest)).toEqual([]);
    expect(rows((await get(link(newest, 'older') ?? '')).body)).toEqual(['3', '2', '1']);
    const oldest = (await get('?events&before=1')).body;
    expect(rows(oldest)).toEqual([]);
    expect(rows((await get(link(oldest, 'newer') ?? '')).body)).toEqual(['3', '2', '1']);
  });

  it('take a quarter of the slots of calls, and give them back, also where a page fails', async () => {
    await service.stop();
    service = await startService({ MAX_IN_FLIGHT: '8' });
    const stalled = new Deferred();
    jest.spyOn(service.log, 'search').mockImplementation(async () => {
      await stalled.promise;
      throw new Error('The disk is gone.');
    });
    const searches = Array.from({ length: 4 }, () => send(`${service.url}?events`));
    const refused = await Promise.race(searches);
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    expect(refused.body).toContain('more than 2, a quarter of MAX_IN_FLIGHT');
    expect((await send(`${service.url}/HelloWorld`)).status).toBe(200);
    stalled.resolve();
    expect((await Promise.all(searches)).map(({ status }) => status).sort()).toEqual([500, 500, 503, 503]);
    for (let i = 0; i < 10; i++) expect((await send(`${service.url}?event=99`)).status).toBe(404);
  });

  describe('show an event', () => {
    it('with its attributes, its data and how it arrived, which GetEvents never shows', async () => {
      const headers = {
        'Content-Type': 'application/json',
        'User-Agent': 'Shop/3.1',
        'webhook-id': 'msg_17',
        'Idempotency-Key': 'key-18',
        Authorization: 'Bearer secret-of-the-sender',
      };
      await record({ query: '?x=1', headers, body: '{"order":{"id":17}}' });
      const { body } = await get('?event=1');
      const text = body.replace(/<style>[^]*?<\/style>|<script[^]*?<\/script>/g, '').replace(/<[^>]*>/g, '');
      expect(text).toContain('{\n  &quot;order&quot;: {\n    &quot;id&quot;: 17\n  }\n}');
      for (const shown of [
        'POST /webhooks/Services/WebHooks.asmx/RecordEvent?x=1',
        'Shop/3.1',
        'msg_17',
        'key-18',
        '127.0.0.1',
      ])
        expect(text).toContain(shown);
      expect(text).not.toContain('secret-of-the-sender');
    });

    it('beginning with its type, id, sender and size', async () => {
      const id = '<17>';
      await record({
        headers: { 'Content-Type': 'application/cloudevents+json' },
        body: JSON.stringify({ specversion: '1.0', id, source: '/s', type: 'order.paid', data: { a: 17 } }),
      });
      const { body } = await get('?event=1');
      const [summary = ''] = /<p class="summary[^]*?<\/p>/.exec(body) ?? [];
      expect(summary.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')).toMatch(
        /^ POST order\.paid \S+ \S+ UTC Id &lt;17&gt; Sender 127\.0\.0\.1 Size 8 B $/,
      );
    });

    it('by its id, the newest of those that share it', async () => {
      for (const source of ['/a', '/b']) {
        await record({
          headers: { 'Content-Type': 'application/cloudevents+json' },
          body: JSON.stringify({ specversion: '1.0', id: 'order & 17', source, type: 't' }),
        });
      }
      expect((await get(`?event&id=${encodeURIComponent('order & 17')}`)).body).toContain('<h1>Event 2</h1>');
      expect((await get('?event&id=17')).status).toBe(404);
    });

    it('with long header fields folded: their beginning, and the rest inside', async () => {
      await record({ headers: { 'X-Long': `${'a'.repeat(15_000)}end`, 'X-Short': 'b'.repeat(200) } });
      const { body } = await get('?event=1');
      const [, start, rest] = /<summary><bdi>(a*…)<\/bdi><\/summary><bdi>(a*end)</.exec(body) ?? [];
      expect([start?.length, rest?.length]).toEqual([201, 14_803]);
      expect(body).toContain(`<bdi>${'b'.repeat(200)}</bdi></dd>`);
      expect(await htmlProblems(body)).toEqual([]);
    });

    it.each([
      ['application/xml', '<a/>', 'xml'],
      ['application/soap+xml; charset=utf-8', '<a/>', 'xml'],
      ['text/html', '<a/>', 'txt'],
      ['application/json', '{"a":1}', 'json'],
      ['image/svg+xml', Buffer.from([0xff]), 'bin'],
    ])('as a file whose name tells what it is, for %s', async (type, body, ending) => {
      await record({ headers: { 'Content-Type': type }, body });
      const { headers } = await get('?event=1&download=data');
      expect(headers['content-disposition']).toBe(`attachment; filename="event-1-data.${ending}"`);
    });

    it('which is not held while its neighbours are looked for, since searches take their time', async () => {
      await record({ headers: { 'Content-Type': 'text/plain' }, body: 'text '.repeat(700_000) });
      const { log } = service;
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

    it('with the way to its neighbours in the list that it was opened from', async () => {
      for (const body of ['"a"', '"b"', '"a"', '"b"', '"a"']) await recordJson(body);
      const [, ...others] = [...(/<a href="(\?event=3[^"]*)"/.exec((await get('?events&text=%22a%22')).body) ?? [])];
      const page = (await get((others[0] ?? '').replaceAll('&amp;', '&'))).body;
      expect([link(page, 'newer'), link(page, 'older')]).toEqual(['?event=5&text=%22a%22', '?event=1&text=%22a%22']);
      const alone = (await get('?event=3')).body;
      expect([link(alone, 'newer'), link(alone, 'older')]).toEqual(['?event=4', '?event=2']);
      expect(link((await get('?event=5')).body, 'newer')).toBeUndefined();
    });

    it.each(['0', '99', 'x', '', '99999999999999999999', '-1'])('but not one at %j', async (sequence) => {
      await record();
      const { status, body } = await get(`?event=${sequence}`);
      expect(status).toBe(404);
      expect(body).toContain('There is no such event in the log');
    });

    it('as files that a browser saves and never shows', async () => {
      await record({ headers: { 'Content-Type': 'text/html' }, body: HOSTILE });
      const data = await get('?event=1&download=data');
      expect(data.body).toBe(HOSTILE);
      expect(data.headers).toMatchObject({
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment; filename="event-1-data.txt"',
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
      const event = await get('?event=1&download=event');
      const listed = await send(`${service.url}/GetEvents`, { headers: { Accept: 'application/json' } });
      expect([JSON.parse(event.body)]).toEqual(JSON.parse(listed.body));
      expect(event.headers['content-type']).toBe('application/cloudevents+json');
      expect((await get('?event=1&download=nonsense')).status).toBe(400);
    });
  });

  it('count the events of each minute, hour and day', async () => {
    for (let i = 0; i < 3; i++) await record();
    for (const [per, title, spans] of [
      ['minute', 'last 60 minutes', 60],
      ['hour', 'last 48 hours', 48],
      ['day', 'last 30 days', 30],
    ] as const) {
      const { body } = await get(`?events=rate&per=${per}`);
      expect(body).toMatch(new RegExp(`<strong>3 events</strong> in the ${title}`));
      expect(body.match(/class="bar" /g)?.length).toBe(spans);
      expect(body.match(/<tr><td>/g)?.length).toBe(spans);
      const counted = [...body.matchAll(/<td class="number">(\d+)<\/td>/g)].map(([, events]) => Number(events));
      expect(counted.reduce((sum, events) => sum + events, 0)).toBe(3);
      const href =
        /<td><a href="([^"]*)">(?:(?!<tr>)[^])*?<td class="number">3</.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? '';
      expect(rows((await get(href)).body)).toEqual(['3', '2', '1']);
    }
    expect((await get('?events=rate&per=year')).status).toBe(400);
  });

  it('lead on with a search for a neighbour that has paused', async () => {
    await recordMany(3);
    jest
      .spyOn(service.log, 'search')
      .mockImplementation(() => Promise.resolve({ events: [], reached: { position: 2, recordedAt: 0 }, more: true }));
    const { body } = await get('?event=3&text=x');
    expect([link(body, 'older'), link(body, 'newer')]).toEqual(['?events&text=x&before=2', '?events&text=x&after=2']);
  });

  it('list the calls that were refused, without their queries and bodies', async () => {
    await send(`${service.url}/GetEvents?limit=0&private=1`);
    await record({
      headers: { 'Content-Type': 'application/cloudevents+json', 'X-Request-Id': 'mine-17' },
      body: '{"private":1}',
    });
    await send(service.url, { method: 'POST', headers: { 'Content-Type': 'image/<b>' }, body: 'private' });
    const { body } = await get('?events=refusals');
    const text = body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
    expect(text).toMatch(
      /415 invalid .* SOAP 1\.1 .* 400 invalid .* POST RecordEvent .* mine-17 .* 400 invalid .* GET GetEvents/,
    );
    expect(text).toContain('The parameter limit must be');
    expect(text).not.toContain('private');
    expect(body).not.toContain('<b>');
  });

  it('show what a refused call was: user agent, delivery, and header fields without secrets', async () => {
    const headers = { 'User-Agent': 'GitHub/1.0', 'X-Hub-Signature-256': 'sesame', Authorization: 'Bearer sesame' };
    const github = { 'X-GitHub-Event': 'push', 'X-GitHub-Delivery': 'd-17', 'X-Shop': '<b>7' };
    await record({
      headers: { 'Content-Type': 'application/cloudevents+json', ...headers, ...github },
      body: 'sesame',
    });
    const page = (await get('?events=refusals')).body;
    const text = page.replace(/<[^>]*>/g, '');
    expect(text).toContain('GitHub delivery d-17');
    expect(text).toMatch(/POST RecordEvent\/webhooks\/Services\/WebHooks.asmx\/RecordEventGitHub\/1.0/);
    expect(text).toContain('x-shop&lt;b&gt;7');
    expect(page).not.toContain('sesame');
  });

  it('narrow the refused calls by reason', async () => {
    await record({ headers: { 'Sec-Fetch-Site': 'cross-site' } });
    await send(`${service.url}/Nope`);
    const words = async (query: string) =>
      [...(await get(query)).body.matchAll(/class="chip">([a-z-]+)</g)].map(([, word]) => word);
    expect(await words('?events=refusals')).toEqual(['invalid', 'cross-site']);
    expect(await words('?events=refusals&reason=cross-site')).toEqual(['cross-site']);
    expect(await words('?events=refusals&reason=%3Cb%3E')).toEqual([]);
    expect((await get('?events=refusals&reason=busy')).body).toContain('None of them has this reason');
  });

  it('count a request for a page once that is refused for what a proxy states', async () => {
    const key = { 'X-API-Key': 'read-key-0123456789' };
    const behindProxy = await startService({ TRUST_PROXY: '1', READ_KEYS: key['X-API-Key'] });
    const refused = await send(`${behindProxy.url}?events`, { headers: { ...key, 'X-Forwarded-Proto': 'gopher' } });
    expect(refused.status).toBe(400);
    const { body } = await send(`${behindProxy.url}?events=refusals`, { headers: key });
    expect(body).toContain('<strong id="count">1</strong> refused in the last hour');
    await behindProxy.stop();
  });

  it('count each refused call', async () => {
    const line = async () => /([\d,]+) refused in the last hour/.exec((await get('?events')).body)?.[1];
    expect(await line()).toBe(undefined);
    await record();
    for (let i = 0; i < 120; i++) await send(`${service.url}/Nope`);
    expect(await line()).toBe('120');
    expect((await get('?events=refusals')).body).toContain('<strong id="count">120</strong> refused in the last hour');
    const { body } = await get('?events=rate');
    expect(body).toContain('120 refused calls</a>');
    expect(body).toMatch(
      /<td class="number">1<\/td><td class="number">120<\/td>|<td class="number">0<\/td><td class="number">\d+<\/td>/,
    );
    const heights = [...body.matchAll(/class="refused" .*? y="([\d.]+)" .*? height="([\d.]+)"/g)];
    expect(heights.length).toBeGreaterThan(0);
    for (const [, y, height] of heights) expect(Number(y) + Number(height)).toBeLessThanOrEqual(160);
  });

  it('are valid HTML, with or without events', async () => {
    const queries = ['?events', '?events=rate', '?events=rate&per=day', '?events=refusals', '?event=1'];
    for (const query of queries) expect(await htmlProblems((await get(query)).body)).toEqual([]);
    await recordJson('{"a":[1]}');
    await record({ headers: { 'Content-Type': FORM, 'webhook-id': 'x' }, body: 'a=1&b=2' });
    await record({ headers: { 'Content-Type': 'image/png' }, body: Buffer.from([0]) });
    await send(`${service.url}/Nope`);
    for (const query of [...queries, '?event=2', '?event=3', '?events&text=a', '?events=find&text=b']) {
      expect(await htmlProblems((await get(query)).body)).toEqual([]);
    }
  });

  it('allow their own script and style, and a connection only for the lists', async () => {
    await record();
    const policyOf = ({ headers }: Answer) => String(headers['content-security-policy']);
    for (const query of ['?events', '?events=refusals'])
      expect(policyOf(await get(query))).toContain("connect-src 'self'");
    for (const query of ['?event=1', '?events=rate', '?event=9']) {
      expect(policyOf(await get(query))).not.toContain('connect-src');
    }
    for (const query of ['?events', '?event=1']) {
      expect(policyOf(await get(query))).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
      expect(policyOf(await get(query))).not.toContain('unsafe');
    }
  });

  it('say what failed, and log it, where the log cannot be read', async () => {
    await record();
    jest.spyOn(service.log, 'search').mockRejectedValue(new EventLogError('the disk <is> gone'));
    const { status, body, headers } = await get('?events');
    expect([status, headers['retry-after']]).toEqual([503, '1']);
    expect(body).toContain('the disk &lt;is&gt; gone');
    expect((await get('?events=refusals')).body).toContain('the disk &lt;is&gt; gone');
  });
});
