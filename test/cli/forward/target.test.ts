import type { Socket } from 'node:net';
import { newEvent } from '../../support/events';
import { Target } from '../../../src/cli/forward/target';
import { pauseAfter } from '../../../src/cli/http-client';
import { servingBytes } from '../serving';

describe('the pause before an event is sent again', () => {
  afterEach(() => jest.restoreAllMocks());

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
  const post = async () => (await target.post({ ...newEvent(), position: 1 }, new AbortController().signal)).outcome;
  expect([await post(), await post()]).toEqual(['delivered', 'refused']);
});
