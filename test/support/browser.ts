import { chromium, type Browser } from 'playwright-core';
import { programPath } from './tools';

/** Colour schemes and widths in which the pages are looked at. */
export const SCREENS = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
  ['dark', 390],
] as const;

/** Starts Chromium without a window. The test that uses it is to be skipped where there is none. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: programPath('chromium') ?? '',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  });
}
