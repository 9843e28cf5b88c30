// Measures the page of events in Chromium beside a log of 100,000 events: node scripts/measure/events-page.mjs [EVENTS]
// - from opening the page to its first paint, over 20 openings;
// - from the answer to RecordEvent to the frame in which the event's row is seen, over 50 events, some time apart;
// - the longest task of the page, and how far behind it is, while 200 events a second come for 10 seconds;
// - RecordEvent with an open page and without it, by turns: a browser would take its processor time from the load or from the
//   service, so what stands for the page here is only the requests that it makes.
// Needs `npm run build`, Chromium and wrk.
/* global document, MutationObserver, requestAnimationFrame -- in the functions that run in the page */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { callOf } from '../bench/calls.mjs';
import { median } from '../bench/median.mjs';
import { SERVICE, start } from '../bench/process.mjs';
import { load, requireWrk } from '../bench/wrk.mjs';
import { fillLog } from './fill-log.mjs';

const EVENTS = Number(process.argv[2] ?? 100_000);
const OPENINGS = 20;
const SINGLE_EVENTS = 50;
const RATE = 200;
const SECONDS = 10;
/** How often a burst of events is sent, in milliseconds. */
const TICK = 50;

const ROUNDS = 9;
const REFRESHES = 200;

await requireWrk();
const folder = await mkdtemp(join(tmpdir(), 'webhook-events-page-'));
const file = join(folder, 'events.db');
await fillLog(file, EVENTS);
const variables = { EVENT_LOG: `sqlite:${file}`, LOG_LEVEL: 'silent' };
const service = await start(SERVICE, { variables, cwd: folder });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
});
try {
  console.log(`first paint:    ${await firstPaint()}`);
  console.log(`a single event: ${await singleEvents()}`);
  console.log(`${RATE} events a second: ${await manyEvents()}`);
  console.log(`RecordEvent:    ${await besideTheLoad()}`);
} finally {
  await browser.close();
  await service.stop();
  await rm(folder, { recursive: true });
}
process.exit();

async function firstPaint() {
  const paints = [];
  for (let i = 0; i < OPENINGS; i++) {
    const page = await browser.newPage();
    await page.goto(`${service.url}?events`);
    paints.push(await page.evaluate(paintTime));
    await page.close();
  }
  return `median ${median(paints).toFixed(0)} ms, longest ${Math.max(...paints).toFixed(0)} ms, of ${OPENINGS}`;
}

/** From the beginning of the navigation to the first paint of content, in milliseconds. */
function paintTime() {
  return new Promise((resolve) => {
    new PerformanceObserver((list) => {
      for (const { startTime } of list.getEntriesByName('first-contentful-paint')) resolve(startTime);
    }).observe({ type: 'paint', buffered: true });
  });
}

async function singleEvents() {
  const page = await openLive();
  const delays = [];
  for (let i = 0; i < SINGLE_EVENTS; i++) {
    const text = `single-${i}`;
    const seen = page.evaluate(seenAt, text);
    await record(text);
    const answered = Date.now();
    delays.push((await seen) - answered);
    // People and senders do not keep time with the page.
    await setTimeout(100 + Math.random() * 400);
  }
  await page.close();
  const sorted = delays.sort((a, b) => a - b);
  const p99 = sorted[Math.ceil(sorted.length * 0.99) - 1];
  return `median ${median(sorted)} ms, p99 ${p99} ms after its answer, of ${SINGLE_EVENTS}`;
}

/** Resolves to the time of the frame in which a row with a text is seen. */
function seenAt(text) {
  return new Promise((resolve) => {
    const rows = document.getElementById('rows');
    const look = () => {
      if (![...rows.children].some((row) => row.textContent.includes(text))) return false;
      requestAnimationFrame(() => {
        resolve(Date.now());
      });
      return true;
    };
    if (look()) return;
    const observer = new MutationObserver(() => {
      if (look()) observer.disconnect();
    });
    observer.observe(rows, { childList: true });
  });
}

async function manyEvents() {
  const page = await openLive();
  await page.evaluate(() => {
    globalThis.tasks = [0];
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) globalThis.tasks.push(duration);
    }).observe({ type: 'longtask' });
    globalThis.refreshes = 0;
    new MutationObserver(() => globalThis.refreshes++).observe(document.getElementById('rows'), { childList: true });
  });
  const perTick = (RATE * TICK) / 1000;
  const began = performance.now();
  const sent = [];
  for (let i = 0; i < RATE * SECONDS; i += perTick) {
    for (let k = 0; k < perTick; k++) sent.push(record(`many-${i + k}`));
    await setTimeout(Math.max(0, began + ((i + perTick) / RATE) * 1000 - performance.now()));
  }
  await Promise.all(sent);
  const seconds = (performance.now() - began) / 1000;
  const lastAnswered = Date.now();
  const count = (EVENTS + SINGLE_EVENTS + RATE * SECONDS).toLocaleString('en');
  await page.locator('#count', { hasText: count }).waitFor();
  const behind = Date.now() - lastAnswered;
  const { tasks, refreshes, rows } = await page.evaluate(() => ({
    tasks: globalThis.tasks,
    refreshes: globalThis.refreshes,
    rows: document.getElementById('rows').children.length,
  }));
  await page.close();
  const longest = Math.max(...tasks);
  return (
    `longest task ${longest === 0 ? 'under 50' : longest.toFixed(0)} ms (${tasks.length - 1} over 50 ms), ` +
    `${refreshes} refreshes in ${seconds.toFixed(1)} s, ${rows} rows, all seen ${behind} ms after the last answer`
  );
}

async function besideTheLoad() {
  const call = callOf('soap11', 'RecordEvent');
  await load(service.url, call);
  const ratios = [];
  for (let round = 0; round < ROUNDS; round++) {
    const alone = await load(service.url, call, { seconds: 2 });
    const end = new AbortController();
    const following = follow(end.signal);
    const beside = await load(service.url, call, { seconds: 2 });
    end.abort();
    await following;
    ratios.push(beside.rate / alone.rate);
  }
  const began = await service.processorSeconds();
  for (let i = 0; i < REFRESHES; i++) await refresh(1);
  const each = ((await service.processorSeconds()) - began) / REFRESHES;
  return (
    `${median(ratios).toFixed(2)} times the rate with an open page, median of ${ROUNDS} rounds ` +
    `(${ratios.map((ratio) => ratio.toFixed(2)).join(' ')}); a refresh takes ${(each * 1000).toFixed(1)} ms of processor time`
  );
}

/** Makes the requests of an open page, four times a second. */
async function follow(signal) {
  for (let after = EVENTS; !signal.aborted; await setTimeout(250)) after = await refresh(after);
}

/** Makes the two requests for new rows; resolves to the position up to which they are known. */
async function refresh(after) {
  await (await fetch(`${service.url}/GetEvents?after=${after}&limit=1&wait=1s`)).text();
  const rows = await fetch(`${service.url}?events=rows&after=${after}`);
  await rows.text();
  return rows.headers.get('x-events-after');
}

async function openLive() {
  const page = await browser.newPage();
  page.on('console', (message) => {
    console.log(`console: ${message.text()}`);
  });
  await page.goto(`${service.url}?events`);
  await page.locator('#live[data-state="live"]').waitFor();
  return page;
}

async function record(text) {
  const response = await fetch(`${service.url}/RecordEvent`, { method: 'POST', body: text });
  await response.text();
  if (response.status !== 200) throw new Error(`RecordEvent: ${response.status}`);
}
