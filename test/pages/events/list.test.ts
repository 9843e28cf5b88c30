import { JSON_TYPE, linkOf, positionsIn, useEventsPages } from '../../support/events-pages';
import { newEvent } from '../../support/events';
import { send } from '../../support/http';

const { service, get, page, text, record, recordMany } = useEventsPages();

const rows = async (query: string) => positionsIn(await page(query));
/** The positions 1 to a last one, newest first. */
const downFrom = (last: number) => Array.from({ length: last }, (_, i) => String(last - i));

it.each([50, 51])('a list of %d events has each once, to the last and back', async (count) => {
  await recordMany(count);
  const pages = async (from: string, towards: 'older' | 'newer') => {
    const found: string[][] = [];
    let last = from;
    for (let next: string | undefined = from; next !== undefined;) {
      last = next;
      const body = await page(next);
      found.push(positionsIn(body));
      next = linkOf(body, towards);
    }
    return { found, last };
  };
  const down = await pages('?events', 'older');
  expect(await text('?events')).toContain(`${String(count)} events in the log`);
  expect(down.found.flat()).toEqual(downFrom(count));
  expect((await pages(down.last, 'newer')).found.reverse().flat()).toEqual(downFrom(count));
});

it('a row has what helps to recognize an event, below the heading of its day', async () => {
  for (const day of [21, 21, 22]) await service().log.append(newEvent({ recordedAt: Date.UTC(2026, 10, day, 23, 59) }));
  await record(Buffer.alloc(50, 0xab), { 'Content-Type': 'image/png' });
  await record('{"order":17}', JSON_TYPE);
  const shown = await text('?events');
  expect(shown).toContain(` 50 B ${'ab '.repeat(40)}… `);
  expect(shown).toMatch(
    / \w{3}, \d\d \w{3} \d{4} Event 5 \d\d:\d\d:\d\d\.\d{3} POST webhook\.recorded 127\.0\.0\.1 12 B \{&quot;order&quot;:17\} /,
  );
  expect(shown).toMatch(/ Sun, 22 Nov 2026 Event 3 .* Sat, 21 Nov 2026 Event 2 .* Event 1 /);
  expect(shown.match(/Nov 2026 Event/g)).toHaveLength(3);
});

it('a search shows what it finds, in any tab of any browser: the address says it all', async () => {
  await record('{"order":"17"}', JSON_TYPE);
  await record('{"order":"18"}', JSON_TYPE);
  await send(`${service().url}/RecordEvent?order=17`);
  const body = await page(
    '?events=&text=%2217%22&binding=httppost&type=webhook.recorded&from=2020-01-01T00:00&to=2100-01-01T00:00',
  );
  expect(positionsIn(body)).toEqual(['1']);
  expect(body).toContain('name="text" id="text" maxlength="200" value="&quot;17&quot;"');
  expect(body).toContain('<option value="httppost" selected>');
  expect(body).toContain('name="from" step="1" value="2020-01-01T00:00"');
  expect(linkOf(body, 'older')).toBeUndefined();
  // What it finds can be downloaded; it is not live, since it ends with a time.
  expect(body).toContain(
    'href="?events=export&amp;text=%2217%22&amp;binding=httppost&amp;type=webhook.recorded&amp;from=',
  );
  expect(body).not.toContain('id="live"');
});

it('a filter that cannot be used is refused with the reason, and stays open with its value', async () => {
  const { status, body } = await get('?events&from=yesterday&type=t');
  expect(status).toBe(400);
  expect(body).toContain('from must be a time such as 2026-11-22T14:02:00Z: yesterday');
  expect(body).toMatch(/<details open>\s*<summary class="hint">Filter by/);
  expect(body).toContain('<input type="text" name="from" step="1" value="yesterday">');
  expect(body).toContain('name="type" maxlength="200" value="t"');
});

it('a search says how many events it found, and how far it looked', async () => {
  const found = async (query: string) => / (\S+ found.*?\.) \d/.exec(await text(query))?.[1];
  await recordMany(60);
  await record('{"a":"x"}', JSON_TYPE);
  expect(await found('?events')).toBeUndefined();
  expect(await found('?events&text=%22x%22')).toBe('1 found, searched the whole log.');
  expect(await found('?events&type=t')).toMatch(/^50 found so far, searched back to \S+ \S+ UTC ?\.$/);
  expect(await found('?events&type=t&before=11')).toBe('10 found on this page, searched back to the oldest event.');
  expect(await found('?events&type=t&after=50')).toBe('10 found on this page, searched up to the newest event.');
  expect(await text('?events&text=nothing')).toContain('None of the 61 events in the log matches.');
});

it.each([
  ['before=9', 'before=5" class="button" rel="next" id="older" data-paused'],
  ['after=1', 'after=5" class="button" rel="prev" id="newer"'],
])('a search that paused before its page was full goes on from there, with %s', async (place, link) => {
  await recordMany(2);
  const search = service().log.search.bind(service().log);
  jest.spyOn(service().log, 'search').mockImplementation(async (query) => {
    return { ...(await search(query)), reached: { position: 5, recordedAt: 0 }, more: true };
  });
  expect(await page(`?events&type=t&${place}`)).toContain(`?events&amp;type=t&amp;${link}>Continue searching<`);
});

it('a search marks the part of an event that matches, as text', async () => {
  await record(JSON.stringify({ a: 'y'.repeat(500), b: '<Needle>\u202E' }), JSON_TYPE);
  await send(`${service().url}/RecordEvent?c=1`, { headers: { 'User-Agent': 'needle' } });
  const cells = [...(await page('?events&text=needle')).matchAll(/<td class="data code">(.*)<\/td>/g)];
  expect(cells.map(([, cell]) => cell)).toEqual([
    expect.stringMatching(/^<span class="chip">arrival<\/span> <bdi>.*<mark>needle<\/mark>&quot;.*<\/bdi>$/),
    `<bdi>…${'y'.repeat(16)}&quot;,&quot;b&quot;:&quot;&lt;<mark>Needle</mark>&gt;<span class="code-point">U+202E</span>&quot;}</bdi>`,
  ]);
});

it('its links narrow it to a type and a sender, and keep what it is narrowed to', async () => {
  await record('{}', { 'X-GitHub-Delivery': 'd-1', 'X-GitHub-Event': 'push' });
  await record('{"order":17}', JSON_TYPE);
  const links = async (query: string) =>
    [...(await page(query)).matchAll(/<td class="(?:kind|address[^"]*)">(?:<a href="([^"]*)">)?<bdi>(.*?)</g)].map(
      ([, href, shown]) => [shown, href?.replaceAll('&amp;', '&')],
    );
  expect(await links('?events&text=order')).toEqual([
    ['webhook.recorded', '?events&text=order&type=webhook.recorded'],
    ['127.0.0.1', '?events&text=order&sender=127.0.0.1'],
  ]);
  expect(await links('?events&type=com.github.push')).toEqual([
    ['com.github.push', undefined],
    ['GitHub', '?events&type=com.github.push&fromsender=github'],
  ]);
  expect((await links('?events&fromsender=github'))[1]).toEqual(['GitHub', undefined]);
  expect((await links('?events&sender=127.0.0.1'))[1]).toEqual(['127.0.0.1', undefined]);
  expect(await rows('?events&sender=127.0.0.1')).toEqual(['2', '1']);
  expect(await rows('?events&sender=127.0.0')).toEqual([]);
  expect(await page('?events&fromsender=stripe')).toContain('<option value="stripe" selected>');
  expect(await page('?event=1')).toContain('<span class="chip"><bdi>GitHub</bdi></span>');
  const exported = (await page('?events=export&fromSender=github')).trim().split('\n');
  expect(exported).toEqual([expect.stringContaining('com.github.push')]);
});

it('an event is found by its id or sequence', async () => {
  await recordMany(30);
  const find = async (text: string) => {
    const { status, headers } = await get(`?events=find&type=x&text=${encodeURIComponent(text)}`);
    return [status, headers.location];
  };
  expect(await find(' 00000000000000000007')).toEqual([303, '?event=7&text=%2000000000000000000007&type=x']);
  expect(await find('e12')).toEqual([303, '?event=13&text=e12&type=x']);
  expect(await find('99')).toEqual([200, undefined]);
  expect(await find('e')).toEqual([200, undefined]);
  expect(await page('?events=find&text=99')).not.toContain('This number names');
  // A number may be a text, too: the list shows what it finds, and leads to the event.
  const both = await page('?events=find&text=7');
  expect(both).toContain('This number names <a href="?event=7&amp;text=7">event 7</a>.');
  expect(positionsIn(both).length).toBeGreaterThan(1);
  const body = await page('?event=7&text=7');
  expect(body).toContain('<a href="?events&amp;text=7" class="button" id="back">Back to the search</a>');
});

it('each of 120 new events comes once after the newest that a page has, in several answers', async () => {
  await record();
  const after = (html: string) => /data-after="(\d+)"/.exec(html)?.[1] ?? '';
  const found: string[] = [];
  const first = await page('?events&binding=httppost');
  expect(first).toContain('data-endpoint="WebHooks.asmx" data-narrowed');
  let last = after(first);
  await recordMany(120);
  for (let before = ''; before !== last;) {
    before = last;
    const body = await page(`?events&binding=httppost&after=${before}`);
    found.unshift(...positionsIn(body));
    last = after(body);
  }
  expect(found).toEqual(downFrom(121).slice(0, -1));
});

it('an end of the log has a neighbour with every event, also on an empty page', async () => {
  await recordMany(3);
  for (const [end, back] of [
    ['?events&after=3', 'older'],
    ['?events&before=1', 'newer'],
  ] as const) {
    const body = await page(end);
    expect(positionsIn(body)).toEqual([]);
    expect(await rows(linkOf(body, back) ?? '')).toEqual(['3', '2', '1']);
  }
});

it('a list goes on with what was recorded while it was made', async () => {
  await record();
  const { log } = service();
  const search = log.search.bind(log);
  jest.spyOn(log, 'search').mockImplementationOnce(async (query) => {
    const found = await search(query);
    await log.append(newEvent());
    return found;
  });
  const body = await page('?events');
  expect([positionsIn(body), /data-after="\d+"/.exec(body)?.[0]]).toEqual([['1'], 'data-after="1"']);
});
