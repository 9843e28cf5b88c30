import type { Page } from 'playwright-core';
import { startEndpoint } from '../support/endpoint';
import { callOperation, eventsOf, type CloudEvent } from '../support/bindings';
import { BROWSER, expectFit, SCREENS, stopClock, useBrowser } from '../support/browser';
import { contractWith } from '../support/operations-with-parameters';
import { startService, useService } from '../support/service';
import { describeWith } from '../support/tools';

const RECORD_KEYS = 'record-key-0123456789';
const READ_KEYS = 'read-key-0123456789abc';
const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/;

// Two browsers at once take both cores.
jest.setTimeout(60_000);

describeWith({ [BROWSER]: BROWSER }, 'the service pages in a browser', () => {
  const service = useService();
  const guarded = useService({ RECORD_KEYS, READ_KEYS });
  // The statuses of answers.
  const { open } = useBrowser(/^Failed to load resource: (?:the server responded|net::ERR_CONNECTION_REFUSED)/);

  const operationPage = (name: string, { url } = service) => `${url}?op=${name}`;

  /** Presses Invoke, waits for the answer to come into the page, and returns how the call ended and the answer. */
  const invoke = async (page: Page): Promise<{ outcome: string; answer: string }> => {
    await page.getByRole('button', { name: 'Invoke' }).click();
    return shown(page);
  };

  const shown = async (page: Page): Promise<{ outcome: string; answer: string }> => {
    const outcome = page.locator('#outcome').filter({ hasText: /^(?!Waiting)./ });
    await outcome.waitFor();
    return { outcome: await outcome.innerText(), answer: (await page.locator('#answer-text').textContent()) ?? '' };
  };

  const bodyOn = (page: Page) => page.getByLabel('Body', { exact: true });

  const lastEvent = async (): Promise<CloudEvent | undefined> =>
    eventsOf(await callOperation(service.url, 'httpget', 'GetEvents')).at(-1);

  it('record what was written into the field, which GetEvents then shows, indented', async () => {
    const page = await open(operationPage('RecordEvent'));
    await page.getByLabel('Content type').selectOption('XML');
    await bodyOn(page).fill('<note>Füße & <b>more</b></note>');
    const { outcome, answer } = await invoke(page);
    expect(outcome).toMatch(/^200 OK, after \d+ ms$/);
    const id = UUID.exec(answer)?.[0] ?? '';
    await page.getByRole('link', { name: 'Open the event' }).click();
    await page.getByRole('heading', { level: 1, name: /^Event \d+$/ }).waitFor();
    expect(await page.locator('.summary').innerText()).toContain(id);

    await page.goto(operationPage('GetEvents'));
    await page.getByLabel('limit').fill('1');
    const { answer: events } = await invoke(page);
    expect(events).toContain('<string xmlns="http://tempuri.org/">\n  [\n    {\n      "specversion": "1.0",\n');
    expect(events).toContain(`      "id": "${id}",\n`);
    expect(events).toContain('"data": "&lt;note&gt;Füße &amp; &lt;b&gt;more&lt;/b&gt;&lt;/note&gt;"\n');
  });

  it('link to the raw answer over GET, with the same parameters', async () => {
    const id = await callOperation(service.url, 'httpget', 'RecordEvent');
    const page = await open(operationPage('GetEvents'));
    await page.getByLabel('limit').fill('1');
    await page.getByLabel('after').fill('0');
    expect((await invoke(page)).answer).not.toContain(id);
    await page.getByLabel('after').fill('');
    await invoke(page);
    await page.getByText(id).waitFor();
    await page.getByRole('link', { name: 'Raw answer over GET' }).click();
    await page.waitForURL('**/GetEvents?limit=1');
    expect(await page.locator('body').innerText()).toContain(`"id":"${id}"`);
  });

  it('fill in and record an example of each content type, but never over what somebody wrote', async () => {
    const page = await open(operationPage('RecordEvent'));
    for (const [label, example, datacontenttype, data] of [
      ['JSON', '{"order": 17}', 'application/json', { order: 17 }],
      ['XML', '<order>17</order>', 'application/xml; charset=utf-8', '<order>17</order>'],
      ['Text', 'Order 17 is paid.', 'text/plain; charset=utf-8', 'Order 17 is paid.'],
      ['Form', 'order=17', 'application/json', { order: '17' }],
    ] as const) {
      await page.getByLabel('Content type').selectOption(label);
      expect(await bodyOn(page).inputValue()).toBe(example);
      const { answer } = await invoke(page);
      expect(await lastEvent()).toMatchObject({ id: UUID.exec(answer)?.[0], datacontenttype, data });
    }
    await bodyOn(page).fill('mine');
    await page.getByLabel('Content type').selectOption('JSON');
    expect(await bodyOn(page).inputValue()).toBe('mine');
  });

  it('show the answer as it came, numbers and all, where Raw is pressed', async () => {
    const digits = '12345678901234567890.10';
    const page = await open(operationPage('RecordEvent'));
    await bodyOn(page).fill(`{"n":${digits},"none":[{},[ ]]}`);
    await invoke(page);
    await page.goto(operationPage('GetEvents'));
    await page.getByLabel('limit').fill('1');
    const { answer: indented } = await invoke(page);
    expect(indented).toContain(`"n": ${digits},\n        "none": [\n          {},\n          []\n        ]\n`);
    const raw = page.getByRole('button', { name: 'Raw' });
    await raw.click();
    expect(await raw.getAttribute('aria-pressed')).toBe('true');
    expect((await shown(page)).answer).toContain(`"data":{"n":${digits},"none":[{},[ ]]}}]</string>`);
    await raw.click();
    expect((await shown(page)).answer).toBe(indented);
  });

  it('record one event when Invoke is pressed twice at once', async () => {
    const before = Number((await lastEvent())?.sequence ?? 0);
    const page = await open(operationPage('RecordEvent'));
    await page.getByRole('button', { name: 'Invoke' }).dblclick();
    await shown(page);
    expect(Number((await lastEvent())?.sequence)).toBe(before + 1);
  });

  it('say so where no answer comes', async () => {
    const other = await startService();
    const page = await open(operationPage('HelloWorld', other));
    expect((await invoke(page)).answer).toContain('Hello World');
    await other.stop();
    const { outcome } = await invoke(page);
    expect(outcome).toBe('No answer: Failed to fetch. Check that the service runs and can be reached.');
    expect(await page.locator('#answer').isHidden()).toBe(true);
  });

  it('call with the key from their field, which they keep nowhere', async () => {
    const page = await open(operationPage('RecordEvent', guarded));
    const key = page.getByLabel('Key to');
    const refused = await invoke(page);
    expect(refused.outcome).toBe('401 Unauthorized: A record key is needed. Check the field above.');
    expect(refused.answer).toContain('RecordEvent needs a record key.');
    await key.fill(READ_KEYS);
    expect((await invoke(page)).answer).toContain('This key may not record events.');
    await key.fill(RECORD_KEYS);
    expect((await invoke(page)).outcome).toMatch(/^200 OK/);
    await page.goto(operationPage('GetEvents', guarded));
    await key.fill(READ_KEYS);
    expect((await invoke(page)).answer).toContain('"order": 17');
    expect(page.url()).not.toContain(READ_KEYS);
    expect(await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]')).toEqual([0, 0, '']);
    await page.reload();
    expect(await key.inputValue()).toBe('');
  });

  it('send the fields of a form by their names', async () => {
    const endpoint = await startEndpoint(
      { Fill: { access: 'open', run: (_call, { tag, action }) => Promise.resolve(JSON.stringify({ tag, action })) } },
      await contractWith({ Fill: ['tag s:string', 'action s:int?'] }),
    );
    const page = await open(`${endpoint.url}?op=Fill`);
    await page.getByLabel('tag', { exact: true }).fill('one');
    await page.getByLabel('action').fill('7');
    const { answer } = await invoke(page);
    expect(answer.replace(/\s/g, '')).toContain('{"tag":"one","action":7}');
  });

  it('copy a sample, and the answer, to the clipboard', async () => {
    const page = await open(operationPage('HelloWorld'), { permissions: ['clipboard-read', 'clipboard-write'] });
    const { answer } = await invoke(page);
    await stopClock(page);
    for (const [name, text] of [
      ['Copy SOAP 1.1 Request', await page.locator('#soap-1-1-request').textContent()],
      ['Copy the answer', answer],
    ] as const) {
      const button = page.getByRole('button', { name });
      await button.click();
      await button.filter({ hasText: 'Copied' }).waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text);
      await page.clock.runFor(1500);
    }
    // What is said of the second copy stays although the time of the first is over.
    const announcement = page.locator('#announcement');
    expect(await announcement.textContent()).toBe('Copied');
    await page.clock.runFor(1000);
    expect(await announcement.textContent()).toBe('');
  });

  it.each(SCREENS)('pass an accessibility check and fit the screen, %s at %i pixels', async (colorScheme, width) => {
    const page = await open(service.url, { colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
    for (const [state, url, prepare] of [
      ['notice', service.url, () => page.locator('summary').click()],
      ['RecordEvent', operationPage('RecordEvent'), () => Promise.resolve()],
      ['RecordEvent-invoked', operationPage('RecordEvent'), () => invoke(page)],
      ['GetEvents-invoked', operationPage('GetEvents'), () => invoke(page)],
      ['unknown', operationPage('recordevent'), () => Promise.resolve()],
      ['key-missing', operationPage('RecordEvent', guarded), () => invoke(page)],
    ] as const) {
      await page.goto(url);
      await prepare();
      await expectFit(page, `${state}-${colorScheme}-${String(width)}`);
    }
  });
});
