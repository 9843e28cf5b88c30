import { JetStreamApiError, type StreamState } from '@nats-io/jetstream';
import { isSubjectTaken } from '../../../src/log/jetstream/connection';
import { forgetEvents } from '../../../src/log/jetstream/event-log';
import { encodeEvent, encodeReference } from '../../../src/log/jetstream/message';
import { recordEvents } from '../../../src/log/jetstream/recorder';
import { provideStreams, retentionOfKeys } from '../../../src/log/jetstream/setup';
import type { LogStreams, Stream } from '../../../src/log/jetstream/stream';
import { TypeSearch } from '../../../src/log/jetstream/walk';
import { newEvent } from '../../support/events';

const messageOf = (event: Parameters<typeof newEvent>[0]) => encodeEvent({ attempt: 'a', event: newEvent(event) });

/** A stream of these messages, all on one subject, which notes the positions that are asked for and erased. */
function streamOf(messages: readonly Buffer[]) {
  const asked: number[] = [];
  const erased: number[] = [];
  const at = (seq: number) => {
    const data = messages[seq - 1];
    return Promise.resolve(data && { seq, time: new Date(), data });
  };
  const stream: Partial<Stream> = {
    name: 'E',
    state: () =>
      Promise.resolve({
        first_seq: 1,
        last_seq: messages.length,
        messages: messages.length,
        bytes: 5000,
      } as StreamState),
    at(seq) {
      asked.push(seq);
      return at(seq);
    },
    next: at,
    erase: (seq) => Promise.resolve(void erased.push(seq)),
  };
  return { stream: stream as Stream, asked, erased };
}

it.each([10071, 10164])('NATS says in old and new versions that a subject is taken: %d', (code) => {
  const refusal = (err_code: number) => new JetStreamApiError({ code: 500, err_code, description: '' });
  expect(isSubjectTaken(refusal(code))).toBe(true);
  expect(isSubjectTaken(refusal(10077))).toBe(false);
});

it('an event is forgotten with the claims of its keys, which hold copies of it, and the references to it alone', async () => {
  const [forgotten, other] = ['forgotten', 'other'].map((id) => ({ id, idempotencyKey: 'k' }));
  const events = streamOf([messageOf(forgotten)]);
  const keys = streamOf([
    messageOf(forgotten),
    messageOf(other),
    encodeReference({ id: 'forgotten', sequence: 1 }),
    encodeReference({ id: 'other', sequence: 2 }),
  ]);
  const streams = { events: events.stream, keys: keys.stream } as LogStreams;
  expect(await forgetEvents(() => streams, [1, 2])).toEqual([1]);
  expect([events.erased, keys.erased]).toEqual([[1], [1, 3]]);
});

it('an event that was recorded before leaves no claim of a further key, which holds a copy of it', async () => {
  const events: Partial<Stream> = {
    maxBytes: () => 1000,
    put: () => Promise.resolve(undefined),
    last: () => Promise.resolve({ seq: 1, time: new Date(), data: messageOf({ id: 'a' }) }),
  };
  const { erased, stream } = streamOf([]);
  const streams = {
    events,
    keys: { ...stream, put: () => Promise.resolve(7) },
    deadline: Infinity,
  } as unknown as LogStreams;
  const repetition = newEvent({ id: 'a', idempotencyKey: 'k' });
  expect(await recordEvents(() => streams, [repetition])).toMatchObject([{ id: 'a', recorded: false }]);
  expect(erased).toEqual([7]);
});

describe('the keys of events that the servers forget', () => {
  it('are kept for ten minutes longer', async () => {
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
    'are removed in steps, up to ten minutes before the oldest event (first stored at %d)',
    async (first, expected) => {
      const removed: number[] = [];
      const stream = (time: number): Partial<Stream> => ({
        state: () => Promise.resolve({ messages: 1, first_ts: new Date(time).toISOString() } as StreamState),
        storedSince: (since) => Promise.resolve({ first: since, messages: 1 }),
        removeBefore: (position) => Promise.resolve(void removed.push(position)),
      });
      const streams = { events: stream(1_000_000), keys: stream(first) } as LogStreams;
      await retentionOfKeys(() => streams).step({});
      expect(removed).toEqual(expected);
    },
  );
});

describe('a search for events of a type', () => {
  const ofTypes = (types: string) => [...types].map((type) => messageOf({ attributes: JSON.stringify({ type }) }));
  const others = (count: number) => ofTypes('b'.repeat(count));
  const found = async (search: TypeSearch, stream: Stream, after: number, type = 'a') => {
    const part = { after, before: Infinity, first: 'oldest', most: Infinity } as const;
    const positions: number[] = [];
    for await (const { position } of search.find(stream, type, part)) positions.push(position);
    return positions;
  };

  it('does not look again where it has found none, and finds what comes after it', async () => {
    const messages = others(300);
    const { stream, asked } = streamOf(messages);
    const search = new TypeSearch();
    expect(await found(search, stream, 5)).toEqual([]);
    messages.push(...ofTypes('baba'));
    asked.length = 0;
    expect(await found(search, stream, 5)).toEqual([302, 304]);
    expect(asked).toEqual([301, 302, 303, 304]);
    expect(await found(search, stream, 5)).toEqual([302, 304]);
    expect(await found(search, stream, 0, 'b')).toHaveLength(302);
  });

  it('looks at a stream anew that was replaced by a shorter one', async () => {
    const search = new TypeSearch();
    expect(await found(search, streamOf(others(300)).stream, 0)).toEqual([]);
    expect(await found(search, streamOf(ofTypes('ba')).stream, 0)).toEqual([2]);
  });

  it('gives up when its time is over, and goes on where it was', async () => {
    const { stream } = streamOf([...others(1000), ...ofTypes('a')]);
    const search = new TypeSearch();
    let time = 0;
    const now = jest.spyOn(performance, 'now').mockImplementation(() => (time += 10));
    await expect(found(search, stream, 0)).rejects.toThrow('No event of this type was found yet');
    let positions: number[] | undefined;
    for (let tries = 0; positions === undefined && tries < 20; tries++)
      positions = await found(search, stream, 0).catch(() => undefined);
    now.mockRestore();
    expect(positions).toEqual([1001]);
  });
});
