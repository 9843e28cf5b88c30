import type { StreamState } from '@nats-io/jetstream';
import { provideStreams, retentionOfKeys } from '../../../src/log/jetstream/setup';
import type { LogStreams, Stream } from '../../../src/log/jetstream/stream';

it('keys outlive events that the servers forget by ten minutes', async () => {
  const ages: Record<string, number> = {};
  const stream = (name: string): Partial<Stream> => ({
    name,
    wildcard: name,
    info: () => Promise.resolve(undefined),
    make: (settings) => {
      ages[name] = (settings.max_age ?? 0) / 1e6;
      return Promise.resolve(settings as Awaited<ReturnType<Stream['make']>>);
    },
  });
  const streams = { events: stream('events'), keys: stream('keys'), probe: stream('probe') };
  await provideStreams(streams as LogStreams, 1, { maxAge: 60_000 });
  expect(ages).toMatchObject({ events: 60_000, keys: 660_000 });
});

it.each([
  [0, [400_000]],
  [350_000, []],
])(
  'keys of which the first was stored at %d are removed up to ten minutes before the oldest event',
  async (first, expected) => {
    const removed: number[] = [];
    const stream = (time: number): Partial<Stream> => ({
      state: () => Promise.resolve({ messages: 1, first_ts: new Date(time).toISOString() } as StreamState),
      storedSince: (since) => Promise.resolve({ first: since, messages: 1 }),
      removeBefore: (position) => Promise.resolve(void removed.push(position)),
    });
    const streams = { events: stream(1_000_000), keys: stream(first) } as LogStreams;
    await retentionOfKeys(() => streams, 600_000).step({});
    expect(removed).toEqual(expected);
  },
);
