import {
  JetStreamApiError,
  StorageType,
  type StreamConfig,
  type StreamInfo,
  type StreamState,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { NewEvent } from '../../../src/events/stored-event';
import { EventTooLargeError } from '../../../src/log/engine';
import { isSubjectTaken } from '../../../src/log/jetstream/connection';
import { forgetEvents, openJetStreamLog } from '../../../src/log/jetstream/event-log';
import { encodeEvent, encodeReference, IDEMPOTENCY_KEY, keySubject } from '../../../src/log/jetstream/message';
import { recordEvents } from '../../../src/log/jetstream/recorder';
import { provideStreams, requireReady, retentionOfKeys } from '../../../src/log/jetstream/setup';
import type { LogStreams, Message, Stream } from '../../../src/log/jetstream/stream';
import { StreamWalk, TypeSearch, type Part } from '../../../src/log/jetstream/walk';
import { newEvent } from '../../support/events';
import { failureOf } from '../../support/jetstream';

const KEY = keySubject({ name: 'E' }, [IDEMPOTENCY_KEY, 'k']);
const ALL: Part = { after: 0, before: Infinity, first: 'oldest', most: Infinity };

const messageOf = (event: Partial<NewEvent>) => encodeEvent({ attempt: 'a', event: newEvent(event) });

/** A stream in memory with these messages, all on one subject, which notes the positions that are asked for. */
function streamOf(bodies: readonly Uint8Array[] = [], subjectOfAll = '') {
  let messages: (Message & { readonly subject: string })[] = [];
  let last = 0;
  const asked: number[] = [];
  const keep = (isKept: (message: (typeof messages)[number]) => boolean) => {
    messages = messages.filter(isKept);
    return Promise.resolve();
  };
  const stream: Partial<Stream> = {
    name: 'E',
    put(subject, data, expected) {
      if (expected === 0 && messages.some((one) => one.subject === subject)) return Promise.resolve(undefined);
      messages.push({ seq: ++last, time: new Date(), data, subject });
      return Promise.resolve(last);
    },
    last: (subject) => Promise.resolve(messages.findLast((one) => one.subject === subject)),
    at(seq) {
      asked.push(seq);
      return Promise.resolve(messages.find((one) => one.seq === seq));
    },
    next: (from, subject) => Promise.resolve(messages.find((one) => one.seq >= from && one.subject === subject)),
    erase: (seq) => keep((one) => one.seq !== seq),
    removeBefore: (seq, subject) => keep((one) => one.seq >= seq || one.subject !== subject),
    state: () =>
      Promise.resolve({ first_seq: 1, last_seq: last, messages: messages.length, bytes: 5000 } as StreamState),
  };
  const put = (...more: readonly Uint8Array[]) => {
    for (const body of more) void stream.put?.(subjectOfAll, body);
  };
  put(...bodies);
  /** Puts the stream back to where it had no message. */
  const reset = () => {
    last = 0;
    return keep(() => false);
  };
  return { stream: stream as Stream, asked, put, reset, positions: () => messages.map(({ seq }) => seq) };
}

/** The streams of a log in memory, which takes messages of up to 1,000 bytes. */
function logOf(events = streamOf(), keys = streamOf()) {
  const begin = jest.fn(() => {
    const deadline = performance.now() + 100;
    return { events: events.stream, keys: keys.stream, deadline, maxBytes: 1000 } as LogStreams;
  });
  const record = (...given: readonly Partial<NewEvent>[]) => recordEvents(begin, given.map(newEvent));
  const ids = async () => {
    const found: string[] = [];
    for await (const { id } of new StreamWalk(events.stream).events(ALL)) found.push(id);
    return found;
  };
  return { events, keys, begin, record, ids };
}

it.each([10071, 10164])('NATS says in old and new versions that a subject is taken: %d', (code) => {
  const refusal = (err_code: number) => new JetStreamApiError({ code: 500, err_code, description: '' });
  expect(isSubjectTaken(refusal(code))).toBe(true);
  expect(isSubjectTaken(refusal(10077))).toBe(false);
});

it('no server that answers is named without the login', async () => {
  const login = { user: 'u', password: 'Geheim' };
  const options = {
    servers: ['127.0.0.1:1'],
    tls: false,
    login,
    stream: 'E',
    replicas: 1,
    timeout: 100,
    retention: {},
  };
  expect(await failureOf(openJetStreamLog(options))).toBe(
    'The event log E on 127.0.0.1:1 cannot be opened. ---> no NATS server can be reached',
  );
});

it('an event that is larger than the servers accept is refused, and what came with it is not recorded', async () => {
  const { events, record } = logOf();
  await expect(record({}, { data: `"data":"${'x'.repeat(1000)}"` })).rejects.toThrow(EventTooLargeError);
  expect(events.positions()).toEqual([]);
});

it('each 500 events that are recorded, and each that is forgotten, have a deadline of their own', async () => {
  const { begin, record } = logOf();
  await record(...Array.from({ length: 1001 }, () => ({})));
  expect(begin).toHaveBeenCalledTimes(1 + 3);
  await forgetEvents(begin, [1, 2]);
  expect(begin).toHaveBeenCalledTimes(1 + 3 + 2);
});

it('an event is forgotten with the claims of its keys, which hold copies of it, and the references to it alone', async () => {
  const [forgotten, other] = [
    { id: 'forgotten', idempotencyKey: 'k' },
    { id: 'other', idempotencyKey: 'k' },
  ];
  const references = ['forgotten', 'other'].map((id, i) => encodeReference({ id, sequence: i + 1 }));
  const { begin, events, keys } = logOf(
    streamOf([messageOf(forgotten)]),
    streamOf([messageOf(forgotten), messageOf(other), ...references], KEY),
  );
  expect(await forgetEvents(begin, [1, 2])).toEqual([1]);
  expect([events.positions(), keys.positions()]).toEqual([[], [2, 4]]);
});

it('messages of other programs are passed over, and one of a later version is named', async () => {
  const bodies = ['hello', '', '{}', '{"version":2}\n', '{"webhookEvent":oops}\n', '\n', '\u{feff}'];
  const { events, ids } = logOf(streamOf(bodies.flatMap((body) => [messageOf({ id: 'e' }), Buffer.from(body)])));
  expect(await ids()).toEqual(bodies.map(() => 'e'));
  events.put(Buffer.from('{"webhookEvent":2,"more":1}\n'));
  await expect(ids()).rejects.toThrow(
    'the stream holds an event in format 2, and this program reads format 1: a later version of the program stored it',
  );
});

describe('repetitions of an event', () => {
  it.each<[string, (i: number) => Partial<NewEvent>]>([
    ['key', () => ({ idempotencyKey: 'k' })],
    ['id and another key each time', (i) => ({ id: 'same', idempotencyKey: `k${String(i)}` })],
    ['webhook-id and another key each time', (i) => ({ webhookId: 'w', idempotencyKey: `k${String(i)}` })],
  ])('with the same %s leave nothing in the stream of keys, where claims hold copies of them', async (_how, same) => {
    const { keys, record } = logOf();
    await record(same(0));
    const before = keys.positions();
    for (let i = 1; i < 5; i++) expect(await record(same(i))).toMatchObject([{ recorded: false }]);
    await Promise.all(Array.from({ length: 20 }, (_, i) => record(same(i + 5))));
    expect(keys.positions()).toEqual(before);
  });

  it('that was forgotten are recorded once under its key, and leave nothing of the first', async () => {
    const { events, keys, record } = logOf();
    await record({ id: 'first', idempotencyKey: 'k' });
    await events.stream.erase(1);
    for (const recorded of [true, false])
      expect(await record({ id: 'again', idempotencyKey: 'k' })).toMatchObject([{ id: 'again', recorded }]);
    expect(keys.positions()).toEqual([3, 4]);
  });

  it('record that of an instance which was killed once it had claimed the key', async () => {
    const { record, ids } = logOf(undefined, streamOf([messageOf({ id: 'first', idempotencyKey: 'k' })], KEY));
    for (let i = 0; i < 2; i++)
      expect(await record({ id: 'next', idempotencyKey: 'k' })).toMatchObject([{ id: 'first', recorded: false }]);
    expect(await ids()).toEqual(['first']);
  });

  it('that a stream put back to an earlier state has lost are recorded anew, but not while its leader may lag behind', async () => {
    const { events, record } = logOf();
    const again = (id: string) => record({ id, idempotencyKey: 'k' });
    await again('lost');
    await events.reset();
    await expect(again('early')).rejects.toThrow('the stream did not settle in time');
    const now = Date.now();
    const later = jest.spyOn(Date, 'now').mockReturnValue(now + 60_000);
    for (const recorded of [true, false]) expect(await again('late')).toMatchObject([{ id: 'late', recorded }]);
    later.mockRestore();
    await events.reset();
    events.put(messageOf({}));
    for (const recorded of [true, false]) expect(await again('moved')).toMatchObject([{ id: 'moved', recorded }]);
  });
});

describe('the streams of a log', () => {
  /** Streams of which some exist. */
  const streamsWith = (existing: Readonly<Record<string, Partial<StreamConfig>>>) => {
    const made: Record<string, Partial<StreamConfig>> = {};
    const stream = (name: string): Partial<Stream> => ({
      name,
      wildcard: name,
      info: () => Promise.resolve(existing[name] && ({ config: existing[name], state: { messages: 1 } } as StreamInfo)),
      requireInfo: () => Promise.resolve({} as StreamInfo),
      make: (settings) => Promise.resolve((made[name] = settings) as StreamConfig),
    });
    return { made, streams: { events: stream('E'), keys: stream('E_KEYS'), probe: stream('E_PROBE') } as LogStreams };
  };

  it('are made so that a key outlives its event by ten minutes, however many others come', async () => {
    const { streams, made } = streamsWith({});
    await provideStreams(streams, 1, { maxEvents: 3, maxAge: 60_000 });
    expect(made).toMatchObject({
      E: { max_msgs: 3, max_age: nanos(60_000) },
      E_KEYS: { max_msgs: -1, max_age: nanos(660_000) },
    });
  });

  it.each([
    ['max_age is 60s and must be 0s', { max_age: nanos(60_000) }],
    ['max_bytes is 1000 and must be -1', { max_bytes: 1000 }],
    ['subjects is other.> and must be E', { subjects: ['other.>'] }],
    ['storage is memory and must be file', { storage: StorageType.Memory }],
    ['num_replicas is 1 and must be 3', { num_replicas: 1 }],
  ])('are refused if %s', async (problem, given) => {
    const { streams, made } = streamsWith({});
    await provideStreams(streams, 3, {});
    await expect(provideStreams(streamsWith({ ...made, E: { ...made.E, ...given } }).streams, 3, {})).rejects.toThrow(
      `The stream E is not set up as the configuration says: ${problem}. Change the configuration, or the stream (nats stream edit E)`,
    );
  });

  it.each([
    [{ E_KEYS: {} }, 'the stream E is missing, but its keys exist and would keep events out: nats stream rm E_KEYS'],
    [{ E: {} }, 'the stream E_KEYS is missing, so repeated calls with a key of an event in E would be recorded again'],
  ])('are not made if one of them is missing (there is %j)', async (existing, problem) => {
    await expect(provideStreams(streamsWith(existing).streams, 1, {})).rejects.toThrow(problem);
  });

  it('take no events once the keys are gone', async () => {
    await expect(requireReady(streamsWith({ E: {} }).streams)).rejects.toThrow('the stream E_KEYS is missing');
  });

  it.each([
    [0, [400_000]],
    [350_000, []],
  ])('lose keys in steps, up to ten minutes before the oldest event (first stored at %d)', async (first, expected) => {
    const removed: number[] = [];
    const stream = (time: number): Partial<Stream> => ({
      state: () => Promise.resolve({ messages: 1, first_ts: new Date(time).toISOString() } as StreamState),
      storedSince: (since) => Promise.resolve({ first: since, messages: 1 }),
      removeBefore: (position) => Promise.resolve(void removed.push(position)),
    });
    const streams = { events: stream(1_000_000), keys: stream(first) } as LogStreams;
    await retentionOfKeys(() => streams).step({});
    expect(removed).toEqual(expected);
  });
});

describe('a search for events of a type', () => {
  const ofTypes = (types: string) => [...types].map((type) => messageOf({ attributes: JSON.stringify({ type }) }));
  const others = (count: number) => ofTypes('b'.repeat(count));
  const found = async (search: TypeSearch, stream: Stream, after: number, type = 'a') => {
    const positions: number[] = [];
    for await (const { position } of search.find(stream, type, { ...ALL, after })) positions.push(position);
    return positions;
  };

  it('does not look again where it has found none, and finds what comes after it', async () => {
    const { stream, asked, put } = streamOf(others(300));
    const search = new TypeSearch();
    expect(await found(search, stream, 5)).toEqual([]);
    put(...ofTypes('baba'));
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
