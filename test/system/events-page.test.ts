import type { BrowserContextOptions, Page } from 'playwright-core';
import { BROWSER, expectFit, SCREENS, stopClock, useBrowser } from '../support/browser';
import { eventually } from '../support/eventually';
import { send } from '../support/http';
import type { SearchQuery } from '../../src/log/queries';
import { Deferred } from '../../src/util/promises';
import { startService, type TestService } from '../support/service';
import { newEvent } from '../support/events';
import { PNG } from '../support/images';
import { describeWith } from '../support/tools';

const HOSTILE =
  '</textarea></pre><script>document.title="taken"</script><img src=x onerror="document.title=1">\u202Egpj.exe';

// Two browsers at once take both cores.
jest.setTimeout(60_000);

describeWith({ [BROWSER]: BROWSER }, 'the pages of the events in a browser', () => {
  let service: TestService;
  beforeEach(async () => {
    service = await startService();
  });
  // A connection that a test cuts, and pages that refuse.
  const browser = useBrowser(/^Failed to load resource: (?:net::ERR_FAILED|.* a status of 40[01] )/);

  const record = (body: string | Buffer, type = 'text/plain') =>
    send(`${service.url}/RecordEvent`, { method: 'POST', headers: { 'Content-Type': type }, body });
  const open = (query: string, options?: BrowserContextOptions) => browser.open(service.url + query, options);
  const rows = (page: Page) => page.locator('#rows [data-row]');
  const state = (page: Page) => page.locator('#live').getAttribute('data-state');

  describe('show new events', () => {
    it('as they are recorded, and none while they are switched off', async () => {
      const page = await open('?events');
      await page.getByText('No events yet').waitFor();
      await record('first');
      await rows(page).getByText('first').waitFor();
      expect(await page.locator('#count').textContent()).toBe('1 event');
      expect(await page.getByText('No events yet').count()).toBe(0);
      await page.getByRole('button', { name: 'Live', pressed: true }).click();
      await page.getByText('is off').waitFor();
      await record('second');
      const waited = page.waitForResponse((response) => response.url().endsWith('?events='));
      expect(await rows(page).count()).toBe(1);
      await page.getByRole('button', { name: 'Live', pressed: false }).click();
      await waited;
      await rows(page).getByText('second').waitFor();
      expect(await rows(page).locator('.data').allTextContents()).toEqual(['second', 'first']);
    });

    it('also in the background, where the title counts them until the page is seen', async () => {
      await record('before');
      const page = await open('?events');
      const title = await page.title();
      await setHidden(page, true);
      await record('one');
      await eventually('the title counts it', async () => (await page.title()) === `(1) ${title}`);
      await Promise.all(Array.from({ length: 70 }, () => record('many')));
      await eventually('it counts all', async () => /^\(\d+\+\) Events/.test(await page.title()));
      expect(await state(page)).toBe('live');
      await setHidden(page, false);
      expect(await page.title()).toBe(title);
      await record('seen');
      await rows(page).getByText('seen').waitFor();
      expect(await page.title()).toBe(title);
    });

    it('and say that the connection is lost until it is back', async () => {
      const page = await open('?events');
      await page.route('**/GetEvents?*', (route) => route.abort());
      await record('one');
      await page.getByText('Connection lost. Trying again…').waitFor();
      await page.unroute('**/GetEvents?*');
      await record('two');
      await rows(page).getByText('two').waitFor();
      await page.locator('#live[data-state="live"]').waitFor();
    });
  });

  it('show calls as they are refused, and what each was', async () => {
    const page = await open('?events=refusals');
    await page.getByText('No call was refused').waitFor();
    const headers = {
      'Content-Type': 'application/cloudevents+json',
      'User-Agent': 'Sender/1',
      Authorization: 'Bearer sesame',
    };
    await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body: HOSTILE });
    await rows(page).getByText('The CloudEvent is not a JSON object, or has a member twice.').waitFor();
    expect(await page.locator('#count').textContent()).toBe('1');
    await rows(page).getByText('Header fields').click();
    expect(await rows(page).getByText('Sender/1').last().isVisible()).toBe(true);
    await send(`${service.url}/Nope`);
    await rows(page).getByText('Nope Web Service method name is not valid.').waitFor();
    // What was unfolded stays so.
    expect(await rows(page).getByText('Sender/1').last().isVisible()).toBe(true);
    expect(await rows(page).count()).toBe(2);
    expect(await page.content()).not.toContain('sesame');
  });

  it('can be used with the keyboard alone', async () => {
    for (const body of ['one', 'two', 'three']) await record(body);
    const page = await open('?events');
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp']) await page.keyboard.press(key);
    await loaded(page, page.keyboard.press('Enter'));
    expect(page.url()).toMatch(/\?event=2$/);
    await loaded(page, page.keyboard.press('ArrowRight'));
    expect(page.url()).toMatch(/\?event=1$/);
    await loaded(page, page.keyboard.press('ArrowLeft'));
    expect(page.url()).toMatch(/\?event=2$/);
    await loaded(page, page.keyboard.press('Escape'));
    expect(page.url()).toMatch(/\?events$/);
    await page.keyboard.press('/');
    await page.keyboard.type('three/');
    await page.keyboard.press('Backspace');
    await loaded(page, page.keyboard.press('Enter'));
    expect(page.url()).toContain('text=three');
    expect(await rows(page).count()).toBe(1);
    await page.keyboard.press('ArrowDown');
    await loaded(page, page.keyboard.press('Enter'));
    // Escape leads out of a field first.
    await page.getByText('Compare with …').click();
    await page.getByLabel('With event').fill('1');
    await page.keyboard.press('Escape');
    await page.getByLabel('With event').fill('1');
    await loaded(page, page.keyboard.press('Enter'));
    expect(page.url()).toMatch(/\?event=3&text=three&with=1$/);
    await loaded(page, page.keyboard.press('Escape'));
    expect(page.url()).toMatch(/\?event=3&text=three$/);
  });

  it('go on with a search that has paused, and say how many it has found so far', async () => {
    for (let i = 1; i <= 9; i++) await record(`wanted ${String(i)}`);
    const { log } = service;
    const search = log.search.bind(log);
    const goOn = new Deferred();
    // Each part of the search looks at three events.
    Object.assign(log, {
      search: async (query: SearchQuery) => {
        if (query.text === undefined || query.limit === 1) return search(query);
        if (query.before !== undefined) await goOn.promise;
        const found = await search({ ...query, limit: 3 });
        return { ...found, more: found.events.at(-1)?.position !== 1 };
      },
    });
    const page = await open('?events&text=wanted');
    await page.getByText('3 found so far, searched back to').waitFor();
    await record('wanted: new');
    await page.locator('#found').getByText('4', { exact: true }).waitFor();
    goOn.resolve();
    await page.getByText('10 found on this page, searched back to the oldest event').waitFor();
    expect(await rows(page).locator('.data').allTextContents()).toEqual([
      'wanted: new',
      ...Array.from({ length: 9 }, (_, i) => `wanted ${String(9 - i)}`),
    ]);
    expect(await page.locator('#rows .day').count()).toBe(1);
    expect(await page.getByRole('link', { name: 'Older' }).isVisible()).toBe(false);
  });

  it('fold and colour JSON, all of which is there without JavaScript', async () => {
    const json = '{"order":{"id":17,"lines":[{"sku":"a,\\"b"}]},"paid":true,"none":[]}';
    await record(json, 'application/json');
    const plain = await open('?event=1', { javaScriptEnabled: false });
    const shown = await plain.locator('#data-text').textContent();
    expect(shown).toContain('\n        "sku": "a,\\"b"\n');
    const page = await open('?event=1');
    const data = page.getByRole('group', { name: 'Data' });
    expect(await data.textContent()).toBe(shown);
    expect(await data.locator('.key').allTextContents()).toEqual(
      ['order', 'id', 'lines', 'sku', 'paid', 'none'].map((name) => `"${name}"`),
    );
    expect(await data.locator('.text').allTextContents()).toEqual(['"a,\\"b"']);
    expect(await data.locator('.literal').allTextContents()).toEqual(['17', 'true']);
    expect(await data.getByText('"sku"').isVisible()).toBe(true);
    await data.getByText('"lines"').click();
    expect(await data.getByText('"sku"').isVisible()).toBe(false);
    expect(await data.getByText('"paid"').isVisible()).toBe(true);
    await data.getByText('"order"').click();
    expect(await data.innerText()).toMatch(/^\{\s+"order": \{…?\s+"paid": true,\s+"none": \[\]\s+\}\s*$/);
  });

  it('colour XML', async () => {
    const xml = `<?xml version="1.0"?><a x="1>2" y='"'>"text"<!-- <b> --><![CDATA[<c>]]></a>`;
    await record(xml, 'text/xml');
    const data = (await open('?event=1')).locator('#data-text');
    const coloured = (name: string) => data.locator(`.${name}`).allTextContents();
    expect(await coloured('comment')).toEqual(['<?xml version="1.0"?>', '<!-- <b> -->']);
    expect((await coloured('key')).join('')).toBe('<a x= y=></a>');
    expect(await coloured('text')).toEqual(['"1>2"', `'"'`]);
  });

  it('show any JSON in time, whatever it holds', async () => {
    await record('['.repeat(50_000) + ']'.repeat(50_000), 'application/json');
    await record(`[${'{"a":{"b":1}},'.repeat(20_000)}1]`, 'application/json');
    for (const number of [1, 2]) {
      const page = await open(`?event=${String(number)}`);
      const folds = await page.locator('#data-text details').count();
      expect(folds).toBeLessThanOrEqual(1000);
    }
  });

  it('show and take times in local time, and remember that, with the days of that time as headings', async () => {
    for (const [time, id] of [
      ['2026-11-21T20:30:00Z', 'a'],
      ['2026-11-21T22:30:00Z', 'b'],
      ['2026-11-22T01:00:00Z', 'c'],
    ] as const)
      await service.log.append(newEvent({ id, recordedAt: Date.parse(time) }));
    const page = await open('?events', { timezoneId: 'Europe/Helsinki' });
    const times = () => page.locator('#rows time').allTextContents();
    const days = () => page.locator('#rows .day').allTextContents();
    expect([await times(), await days()]).toEqual([
      ['01:00:00.000', '22:30:00.000', '20:30:00.000'],
      ['Sun, 22 Nov 2026', 'Sat, 21 Nov 2026'],
    ]);
    await page.getByRole('button', { name: 'Local time', pressed: false }).click();
    const local = [
      ['03:00:00.000', '00:30:00.000', '22:30:00.000'],
      ['Sun, 22 Nov 2026', 'Sat, 21 Nov 2026'],
    ];
    expect([await times(), await days()]).toEqual(local);
    expect(await page.locator('#rows .day + tr + tr + .day').count()).toBe(1);
    await page.reload();
    expect([await times(), await days()]).toEqual(local);
    await page.getByText('Filter by').click();
    await page.getByLabel('From (local)').fill('2026-11-22T00:30');
    await loaded(page, page.getByRole('button', { name: 'Search' }).click());
    expect(new URL(page.url()).searchParams.get('from')).toBe('2026-11-21T22:30:00.000');
    expect(await page.getByLabel('From (local)').inputValue()).toMatch(/^2026-11-22T00:30/);
    expect(await times()).toEqual(['03:00:00.000', '00:30:00.000']);
    await record('now');
    await rows(page).getByText('now').waitFor();
    expect(await days()).toHaveLength(2);
    await loaded(page, rows(page).getByRole('link', { name: 'Event 3' }).click());
    await page.getByText('2026-11-22 03:00:00.000').waitFor();
    await page.getByRole('button', { name: 'Local time', pressed: true }).click();
    await page.getByText('2026-11-22 01:00:00.000').waitFor();
  });

  it('ask for a read key in the password dialog, and follow with it', async () => {
    service = await startService({ READ_KEYS: 'a-key-to-read-with' });
    const page = await open('?events', { httpCredentials: { username: 'me', password: 'a-key-to-read-with' } });
    await record('seen');
    await rows(page).getByText('seen').waitFor();
    expect(page.url()).not.toContain('key');
  });

  it.each([1280, 390])('move no button when one opens what it has, at %i pixels', async (width) => {
    await record('x');
    const page = await open('?event=1', { viewport: { width, height: 900 } });
    const places = () =>
      page.evaluate<string>(
        `JSON.stringify([...document.querySelectorAll('.actions .button')].filter((button) => !button.closest('section')).map((button) => button.getBoundingClientRect()))`,
      );
    const before = await places();
    for (const name of ['Send again', 'Forward', 'Compare with …']) {
      await page.getByText(name, { exact: true }).click();
      expect([name, await places()]).toEqual([name, before]);
      await page.locator('.actions details[open] :is(code, input[type=text])').first().waitFor();
    }
  });

  it('scroll bytes to the side on a small screen, as each line has an offset', async () => {
    await record('\u0000'.repeat(64), 'application/octet-stream');
    const page = await open('?event=1', { viewport: { width: 390, height: 900 } });
    const data = "document.querySelector('#data-text')";
    expect(await page.evaluate(`${data}.scrollWidth > ${data}.clientWidth`)).toBe(true);
  });

  it('copy a command as it is, and the data with the characters that the page shows as code points', async () => {
    await record('order 17 & more');
    await record('{"a":"\u202E"}', 'application/json');
    const page = await open('?event=1', { permissions: ['clipboard-read', 'clipboard-write'] });
    const copied = async (name: string) => {
      await stopClock(page);
      const button = page.getByRole('button', { name });
      await button.click();
      await button.getByText('Copied').waitFor();
      return page.evaluate('navigator.clipboard.readText()');
    };
    await page.getByText('Send again').click();
    expect(await copied('Copy the command: With curl')).toContain('--data-raw "order 17 & more"');
    await page.goto(`${service.url}?event=2`);
    await page.getByText('U+202E').first().waitFor();
    expect(await copied('Copy the data')).toBe('{\n  "a": "\u202E"\n}');
  });

  it.each(SCREENS)(
    'pass an accessibility check and fit the screen, %s at %i pixels',
    async (colorScheme, width) => {
      await record(HOSTILE);
      await record(JSON.stringify({ [HOSTILE]: ['x'.repeat(300), 17] }), 'application/json');
      await record(new URLSearchParams({ a: HOSTILE, b: '2' }).toString(), 'application/x-www-form-urlencoded');
      // More than is shown. Of a long text the accessibility check looks at each line, for half a minute.
      await record('\u0000'.repeat(5000), 'application/octet-stream');
      const headers = { 'Content-Type': 'text/plain', 'Idempotency-Key': `${'k'.repeat(200)}<b>'` };
      await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body: HOSTILE });
      await send(`${service.url}/${encodeURIComponent(HOSTILE)}`);
      const sender = { 'User-Agent': 'Sender/1 '.repeat(30), 'X-GitHub-Delivery': '7' };
      const wrong = { 'Content-Type': 'application/cloudevents+json', ...sender };
      await send(`${service.url}/RecordEvent`, { method: 'POST', headers: wrong, body: HOSTILE.repeat(30) });
      await record(PNG, 'image/png');
      await record(JSON.stringify({ [HOSTILE]: ['x'.repeat(300), 18], more: { deep: [[[1]]] } }), 'application/json');
      const form = new FormData();
      form.set('payload', '{"action":"opened","issue":{"number":17}}');
      form.set('file', new Blob([PNG]), `${'picture '.repeat(20)}.png`);
      await fetch(`${service.url}/RecordEvent`, { method: 'POST', body: form });
      // JSON, more than is shown, a repeated key, an image, folds, a form.
      const events = [2, 4, 5, 6, 7, 8].map((position) => `event=${String(position)}`);
      const lists = ['events', 'events=&text=gpj&binding=httppost', 'events=&fromsender=stripe'];
      // One page for all: a context of its own for each costs more than the check.
      const page = await open('?events', { colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
      for (const name of [...lists, 'events=rate', 'events=refusals', ...events, 'event=2&with=7']) {
        await page.goto(`${service.url}?${name}`);
        // What is folded must fit too.
        await page.evaluate(
          'for (const part of document.querySelectorAll("details")) { part.name = ""; part.open = true; }',
        );
        await expectFit(page, `events-${name}-${colorScheme}-${String(width)}`);
        expect(await page.title()).toMatch(/ web service$/);
      }
      // Pages that refuse.
      const guarded = await startService({ READ_KEYS: 'a-key-to-read-with' });
      const refused = { wrong: `${service.url}?events&from=yesterday`, key: `${guarded.url}?events` };
      for (const [name, url] of Object.entries(refused)) {
        await page.goto(url);
        await expectFit(page, `events-${name}-${colorScheme}-${String(width)}`);
      }
    },
    90_000,
  );
});

/** Makes a page believe that it is hidden, or seen again. */
async function setHidden(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${String(hidden)} });
     document.dispatchEvent(new Event('visibilitychange'));`,
  );
}

/** Waits until the page to which an action leads has loaded, and its scripts listen. */
async function loaded(page: Page, action: Promise<void>): Promise<void> {
  await Promise.all([page.waitForEvent('load'), action]);
}
