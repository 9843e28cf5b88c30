import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { programPath } from './tools';

/** The browser in which the pages are looked at: Chromium without a window, which starts and draws in a third of the time. */
export const BROWSER = 'chromium-headless-shell';

const AXE = createRequire(__filename).resolve('axe-core/axe.min.js');

/** Colour schemes and widths in which the pages are looked at: each once, since no colour depends on a width. */
export const SCREENS = [
  ['light', 1280],
  ['dark', 390],
] as const;

/**
 * Starts {@link BROWSER} for the tests of the surrounding `describe`, which is to be skipped where there is none. A test fails if the browser
 * complains of a page in other words than these.
 */
export function useBrowser(expected: RegExp) {
  let browser: Browser;
  const complaints: string[] = [];
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: programPath(BROWSER) ?? '',
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
    });
  }, 60_000);
  afterAll(() => browser.close());
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    expect(complaints.splice(0).filter((complaint) => !expected.test(complaint))).toEqual([]);
  });
  return {
    open: async (url: string, options: BrowserContextOptions = {}): Promise<Page> => {
      const page = await (await browser.newContext(options)).newPage();
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('dialog', (dialog) => complaints.push(dialog.message()));
      await page.goto(url);
      return page;
    },
  };
}

/**
 * Checks that everybody can use a page (contrast of 4.5, targets of 24 pixels: WCAG 2.2) and that it fits the screen, and leaves a picture of it in the folder that SCREENSHOTS names.
 *
 * @param page - opened with `bypassCSP`.
 */
export async function expectFit(page: Page, name: string): Promise<void> {
  await page.addScriptTag({ path: AXE });
  const result = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
    "axe.run({ resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } })",
  );
  expect(result.violations.map(({ id, nodes }) => [name, id, nodes.map(({ html }) => html)])).toEqual([]);
  const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  expect([name, overflow]).toEqual([name, 0]);
  const { SCREENSHOTS: shots } = process.env;
  if (shots === undefined) return;
  await mkdir(shots, { recursive: true });
  await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true });
}

/** Keeps what a page says about a copy, which would be gone after two seconds: on a busy machine before a test has looked. */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
}
