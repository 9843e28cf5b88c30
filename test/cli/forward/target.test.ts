import type { Socket } from 'node:net';
import { newEvent } from '../../support/events';
import { messageOf } from '../../../src/cli/forward/message';
import { postEvents, Target } from '../../../src/cli/forward/target';
import { pauseAfter } from '../../../src/cli/http-client';
import { serving, servingBytes } from '../serving';

const { signal } = new AbortController();

describe('the pause before an event is sent again', () => {
  /** The shortest and the longest pause. */
  const pauses = (attempts: number, retryAfter?: string): number[] =>
    [0.999_999_999, 0].map((random) => {
      jest.spyOn(Math, 'random').mockReturnValue(random);
      return Math.round(pauseAfter(attempts, 60_000, retryAfter));
    });

  it('doubles with each attempt, up to a minute, less a random part of up to a half', () => {
    expect([1, 2, 3, 7, 8, 5000].map((attempts) => pauses(attempts))).toEqual([
      [250, 500],
      [500, 1000],
      [1000, 2000],
      [16_000, 32_000],
      [30_000, 60_000],
      [30_000, 60_000],
    ]);
  });

  it('is as long as Retry-After says in seconds, but never shorter and never over five minutes', () => {
    expect(pauses(1, '7')).toEqual([7000, 7000]);
    expect(pauses(8, '7')).toEqual([30_000, 60_000]);
    expect(pauses(1, '86400')).toEqual([300_000, 300_000]);
    expect(pauses(1, '999999999999')).toEqual([250, 500]);
  });

  it('is as long as Retry-After says as a date', () => {
    jest.spyOn(Date, 'now').mockReturnValue(Date.UTC(2026, 0, 1));
    expect(pauses(1, 'Thu, 01 Jan 2026 00:00:09 GMT')).toEqual([9000, 9000]);
    expect(pauses(1, 'Wed, 31 Dec 2025 00:00:00 GMT')).toEqual([250, 500]);
    expect(pauses(1, 'Fri, 01 Jan 2100 00:00:00 GMT')).toEqual([300_000, 300_000]);
  });

  it.each(['', 'soon', '-5', '1.5', '2027-01-01', 'never GMT'])('is not changed by Retry-After: %s', (retryAfter) => {
    expect(pauses(1, retryAfter)).toEqual([250, 500]);
  });
});

it('a second answer to one event is not taken for the answer to the next', async () => {
  const answer = (status: number) => `HTTP/1.1 ${String(status)} X\r\nContent-Length: 0\r\n\r\n`;
  const answers = [200, 400];
  let first: Socket | undefined;
  const url = await servingBytes((socket) => {
    socket.on('data', () => {
      first?.write(answer(200));
      first ??= socket;
      socket.write(answer(answers.shift() ?? 500));
    });
  });
  const target = new Target(url, {}, { most: 1, longestPause: 0 });
  const post = async () => (await target.post({ ...newEvent(), position: 1 }, signal)).outcome;
  expect([await post(), await post()]).toEqual(['delivered', 'refused']);
});

it.each([
  [299, 'delivered'],
  [300, 'redirected'],
  [400, 'refused'],
  [408, 'tried again'],
  [429, 'tried again'],
  [500, 'tried again'],
  [undefined, 'tried again'],
])('an event that is answered with %p is %s', async (status, outcome) => {
  const url = await serving((_request, response) => {
    if (status === undefined) response.destroy();
    else response.writeHead(status).end();
  });
  const target = new Target(url, {}, { most: 1, longestPause: 0 });
  const posting = target.post({ ...newEvent(), position: 1 }, signal);
  expect(await posting.then((delivery) => delivery.outcome).catch(() => 'tried again')).toBe(outcome);
});

it('an event is not posted again after a signal, nor before the time that its target asks for', async () => {
  const url = await serving((_request, response) => void response.writeHead(503, { 'Retry-After': '9' }).end());
  const [stop, pauses] = [new AbortController(), [] as number[]];
  const report = (_problem: string, pause: number) => {
    pauses.push(pause);
    stop.abort();
  };
  const target = new Target(url, {}, { most: 9, longestPause: 0, report });
  expect(await target.post({ ...newEvent(), position: 1 }, stop.signal)).toMatchObject({ outcome: 'stopped' });
  expect(pauses).toEqual([9000]);
});

it('programs get an answer for each event that is whole, up to a number, and an error for a redirect', async () => {
  const statuses = [204, 404, 302];
  const url = await serving((_request, response) => void response.writeHead(statuses.shift() ?? 500).end());
  const pages = async function* () {
    const events = [newEvent({ data: '"data":{' }), newEvent(), newEvent(), newEvent()];
    yield await Promise.resolve(events.map((event, i) => ({ ...event, position: i + 1 })));
  };
  const post = () => postEvents(pages(), 2, url, undefined, {}, signal);
  expect(await post()).toMatchObject([{ status: 204 }, { status: 404 }]);
  await expect(post()).rejects.toThrow('Event 2 was redirected');
});

it.each([
  ['https://us:pass@elsewhere.example/path?token=t', 'https://elsewhere.example'],
  ['/path?token=t', 'another path'],
])('a redirect to %s is told without its secrets', async (location, shown) => {
  const url = await serving((_request, response) => void response.writeHead(301, { location }).end('body: x'));
  const { text } = await new Target(url, {}, { most: 1, longestPause: 0 }).post({ ...newEvent(), position: 1 }, signal);
  const redirected = `Event 1 was redirected by ${url.origin}: 301 Moved Permanently (1 ms) to ${shown}. `;
  const advice = 'Redirects are not followed: forward to the new address.';
  expect(text.replace(/\d+ ms/, '1 ms')).toBe(redirected + advice);
});

it('an event has the same webhook-id each time, and another with the same id from another source has its own', () => {
  const idOf = (source: string) =>
    messageOf({ ...newEvent({ id: 'a', source }), position: 1 }, new URL('http://h'), {}).headers()['webhook-id'];
  expect([idOf('/s') === idOf('/s'), idOf('/s') === idOf('/t')]).toEqual([true, false]);
});
