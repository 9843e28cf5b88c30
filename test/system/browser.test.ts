import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { startService, type TestService } from '../support/service';
import { temporaryFolder } from '../support/temporary-folder';
import { describeWith, programPath } from '../support/tools';

const AXE = createRequire(__filename).resolve('axe-core/axe.min.js');

const SCREENS = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
  ['dark', 390],
] as const;

describeWith({ chromium: 'chromium' }, 'the service pages in a browser', () => {
  let service: TestService;
  let browser: Browser;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    service = await startService();
    folder = await temporaryFolder();
    browser = await chromium.launch({
      executablePath: programPath('chromium') ?? '',
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
    });
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await service.stop();
    await folder.remove();
  });

  /** Follows the link to an operation, presses Invoke and returns the text of the XML that comes. */
  const invoke = async (page: Page, operation: string): Promise<string> => {
    await page.goto(service.url);
    await page.getByRole('main').getByRole('link', { name: operation, exact: true }).click();
    const answered = page.waitForResponse((response) => response.url().endsWith(`/${operation}`));
    await page.getByRole('button', { name: 'Invoke' }).click();
    const response = await answered;
    expect(response.headers()['content-type']).toBe('text/xml; charset=utf-8');
    await page.waitForURL(`**/${operation}`);
    return page.locator('body').innerText();
  };

  it('invoke RecordEvent, whose id GetEvents then shows', async () => {
    const page = await browser.newPage();
    const recorded = await invoke(page, 'RecordEvent');
    const id = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/.exec(recorded)?.[0];
    expect(id).toBeDefined();
    expect(await invoke(page, 'GetEvents')).toContain(id);
    await page.close();
  });

  it('cause no error or warning in the browser', async () => {
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('requestfailed', (request) => complaints.push(request.url()));
    for (const query of ['', '?op=RecordEvent']) await page.goto(service.url + query, { waitUntil: 'networkidle' });
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('can be used with the keyboard alone', async () => {
    const page = await browser.newPage();
    await page.goto(service.url);
    await tabTo(page, 'HelloWorld');
    await page.keyboard.press('Enter');
    await page.waitForURL('**?op=HelloWorld');
    await tabTo(page, 'Invoke');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/HelloWorld');
    expect(await page.locator('body').innerText()).toContain('Hello World');
    await page.close();
  });

  it('copy a sample to the clipboard', async () => {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await context.newPage();
    await page.goto(`${service.url}?op=HelloWorld`);
    const shown = await page.locator('#soap-1-1-request').textContent();
    await page.getByRole('button', { name: 'Copy SOAP 1.1 Request' }).click();
    await page.getByText('Copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(shown);
    await context.close();
  });

  it.each(SCREENS)('pass an accessibility check and fit the screen, %s at %i pixels', async (colorScheme, width) => {
    const shots = process.env.SCREENSHOTS ?? folder.path;
    await mkdir(shots, { recursive: true });
    for (const query of ['', '?op=RecordEvent', '?op=Nope']) {
      const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
      await page.goto(service.url + query);
      await page.addScriptTag({ path: AXE });
      const result = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>('axe.run()');
      expect(result.violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect(overflow).toBe(0);
      const name = `${query === '' ? 'service' : query.slice(4)}-${colorScheme}-${String(width)}.png`;
      await page.screenshot({ path: join(shots, name), fullPage: true });
      await page.close();
    }
  });
});

/** Presses Tab until the focus is on what has this text. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (let presses = 0; presses < 30; presses++) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate('document.activeElement.textContent.trim()')) === text) return;
  }
  throw new Error(`Tab does not reach ${text}`);
}
