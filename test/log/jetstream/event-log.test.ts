import {
  DiscardPolicy,
  JetStreamApiError,
  StorageType,
  type PeerInfo,
  type StreamConfig,
  type StreamState,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { NewEvent } from '../../../src/events/stored-event';
import { EventTooLargeError } from '../../../src/log/engine';
import { isSubjectTaken, JetStreamConnection } from '../../../src/log/jetstream/connection';
import { forgetEvents, openJetStreamLog, type JetStreamOptions } from '../../../src/log/jetstream/event-log';
import { encodeEvent, encodeReference, keysOf } from '../../../src/log/jetstream/message';
import { recordEvents } from '../../../src/log/jetstream/recorder';
import { provideStreams, requireReady, retentionOfKeys } from '../../../src/log/jetstream/setup';
import { logStreams, Stream, type LogStreams } from '../../../src/log/jetstream/stream';
import { StreamWalk, TypeSearch, type Part } from '../../../src/log/jetstream/walk';
import { newEvent } from '../../support/events';
import { eventually } from '../../support/eventually';
import { failureOf } from '../../support/jetstream';
import { natsInMemory } from '../../support/nats-in-memory';
import { describeEventLog } from '../event-log-suite';

const KEY = keysOf('E', { idempotencyKey: 'k' })[0]?.subject ?? '';
const ALL: Part = { after: 0, before: Infinity, isUpwards: true, most: Infinity };

const messageOf = (event: Partial<NewEvent>) => encodeEvent({ attempt: 'a', event: newEvent(event) });

/** A stream in memory with these messages, all on one subject. */
function streamOf(bodies: readonly Uint8Array[] = [], subjectOfAll = '') {
  const { connection, make, store } = natsInMemory();
  const kept = make('E');
  const put = (...more: readonly Uint8Array[]) => {
    for (const body of more) store('E', subjectOfAll, body);
  };
  put(...bodies);
  const stream = new Stream(connection, 'E', Infinity);
  /** Puts the stream back to where it had no message. */
  const reset = () => Object.assign(kept, { messages: [], last: 0 });
  return { stream, at: jest.spyOn(stream, 'at'), put, reset, positions: () => kept.messages.map(({ seq }) => seq) };
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

const SILENT = { servers: ['127.0.0.1:1'], tls: false, login: undefined, replicas: 1, timeout: 100, retention: {} };
const optionsFor = (stream: string, given: Partial<JetStreamOptions> = {}) => ({ ...SILENT, stream, ...given });

it('no server that answers is named without the login', async () => {
  const options = optionsFor('E', { login: { user: 'u', password: 'Geheim' } });
  expect(await failureOf(openJetStreamLog(options))).toBe(
    'The event log E on 127.0.0.1:1 cannot be opened. ---> no NATS server can be reached',
  );
});

it('an event that is larger than the servers accept is refused, and what came with it is not recorded', async () => {
  const { events, record } = logOf();
  // The name of an attempt has 22 characters.
  const largest = 1000 - 21 - messageOf({ id: 'e', data: '' }).length;
  await expect(record({}, { id: 'e', data: 'x'.repeat(largest + 1) })).rejects.toThrow(EventTooLargeError);
  expect(events.positions()).toEqual([]);
  expect(await record({ id: 'e', data: 'x'.repeat(largest) })).toEqual([{ id: 'e', recorded: true }]);
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

it('a message is erased where it is kept, and one that stays is said to', async () => {
  const { connection, make, store } = natsInMemory();
  make('E');
  for (let i = 0; i < 2; i++) store('E', '', Buffer.alloc(1));
  const erase = jest.spyOn(connection.manager.streams, 'deleteMessage');
  const stream = new Stream(connection, 'E', Infinity);
  for (let i = 0; i < 2; i++) await stream.erase(1);
  expect(erase.mock.calls).toEqual([1, 1].map((position) => ['E', position, true]));
  erase.mockRejectedValueOnce(new JetStreamApiError({ code: 500, err_code: 10008, description: 'no leader' }));
  await expect(stream.erase(2)).rejects.toThrow('no leader');
});

it('an event whose keys cannot be erased stays, so that it can be forgotten again', async () => {
  const event = messageOf({ idempotencyKey: 'k' });
  const { begin, events, keys } = logOf(streamOf([event]), streamOf([event], KEY));
  jest.spyOn(keys.stream, 'erase').mockRejectedValueOnce(new Error('away'));
  await expect(forgetEvents(begin, [1])).rejects.toThrow('away');
  expect(events.positions()).toEqual([1]);
});

it.each([
  ['as it needs', 1, {}, 1],
  ['as fit into 8 MB', Infinity, { data: `"data":"${'x'.repeat(3_000_000)}"` }, 2],
])('a walk asks for as many messages at a time %s', async (_what, most, event, asked) => {
  const { stream, at } = streamOf(Array<Buffer>(20).fill(messageOf(event)));
  expect((await new StreamWalk(stream).events({ ...ALL, most }).next()).done).toBe(false);
  expect(at).toHaveBeenCalledTimes(asked);
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

  it('are known although what the first left of its claim could not be replaced', async () => {
    const { keys, record } = logOf();
    const put = keys.stream.put.bind(keys.stream);
    jest.spyOn(keys.stream, 'put').mockImplementationOnce(put).mockRejectedValueOnce(new Error('away'));
    for (const recorded of [true, false])
      expect(await record({ id: 'e', idempotencyKey: 'k' })).toMatchObject([{ id: 'e', recorded }]);
  });

  it('that was forgotten are recorded once under its key, and leave nothing of the first', async () => {
    const { events, keys, record } = logOf();
    for (const [id, idempotencyKey] of Object.entries({ other: 'o', first: 'k' })) await record({ id, idempotencyKey });
    await events.stream.erase(2);
    for (const recorded of [true, false])
      expect(await record({ id: 'again', idempotencyKey: 'k' })).toMatchObject([{ id: 'again', recorded }]);
    expect(keys.positions()).toEqual([1, 2, 5, 6]);
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
    events.reset();
    await expect(again('early')).rejects.toThrow('the stream did not settle in time');
    const now = Date.now();
    const later = jest.spyOn(Date, 'now').mockReturnValue(now + 60_000);
    for (const recorded of [true, false]) expect(await again('late')).toMatchObject([{ id: 'late', recorded }]);
    later.mockRestore();
    events.reset();
    events.put(messageOf({}));
    for (const recorded of [true, false]) expect(await again('moved')).toMatchObject([{ id: 'moved', recorded }]);
  });
});

describe('the streams of a log', () => {
  /** Streams of which some exist, with a message each. */
  const streamsWith = (existing: Readonly<Record<string, Partial<StreamConfig>>>) => {
    const nats = natsInMemory();
    for (const [name, config] of Object.entries(existing)) {
      nats.make(name, config);
      nats.store(name, '', Buffer.alloc(0));
    }
    const made = () => Object.fromEntries([...nats.streams].map(([name, { config }]) => [name, config]));
    return { nats, made, streams: logStreams(nats.connection, 'E') };
  };

  it('are made so that a key outlives its event by ten minutes, however many others come', async () => {
    const { streams, made } = streamsWith({});
    await provideStreams(streams, 1, { maxEvents: 3, maxAge: 60_000 });
    expect(made()).toMatchObject({
      E: { max_msgs: 3, max_age: nanos(60_000) },
      E_KEYS: { max_msgs: -1, max_age: nanos(660_000) },
      E_PROBE: { max_age: nanos(1000) },
    });
  });

  it.each([
    ['max_age is 60s and must be 0s', { max_age: nanos(60_000) }],
    ['max_bytes is 1000 and must be -1', { max_bytes: 1000 }],
    ['subjects is other.> and must be E.*.*', { subjects: ['other.>'] }],
    ['storage is memory and must be file', { storage: StorageType.Memory }],
    ['num_replicas is 1 and must be 3', { num_replicas: 1 }],
  ])('are refused if %s, and may have more replicas than they must', async (problem, given) => {
    const { streams, made } = streamsWith({});
    await provideStreams(streams, 3, {});
    await provideStreams(streamsWith(made()).streams, 2, {});
    await expect(
      provideStreams(streamsWith({ ...made(), E: { ...made().E, ...given } }).streams, 3, {}),
    ).rejects.toThrow(
      `The stream E is not set up as the configuration says: ${problem}. Change the configuration, or the stream (nats stream edit E)`,
    );
  });

  it.each([
    [{ E_KEYS: {} }, 'the stream E is missing, but its keys exist and would keep events out: nats stream rm E_KEYS'],
    [{ E: {} }, 'the stream E_KEYS is missing, so repeated calls with a key of an event in E would be recorded again'],
  ])('are not made if one of them is missing (there is %j)', async (existing, problem) => {
    await expect(provideStreams(streamsWith(existing).streams, 1, {})).rejects.toThrow(problem);
  });

  const replicas = (...states: object[]) =>
    states.map((state) => ({ offline: false, active: 0, ...state }) as PeerInfo);

  it.each<[string, Partial<StreamConfig>, PeerInfo[]?]>([
    ['of 2 replicas 1 answer', { num_replicas: 2 }],
    ['of 3 replicas 1 answer', { num_replicas: 3 }, replicas({ offline: true }, { active: nanos(4000) })],
    ['ready', { num_replicas: 3 }, replicas({ offline: true }, { active: nanos(2000) })],
    ['is sealed', { sealed: true }],
    ['acknowledges nothing', { no_ack: true }],
    ['does not have the subjects', { subjects: ['changed.>'] }],
    ['is full', { discard: DiscardPolicy.New, max_bytes: 16 * 1024 - 1 }],
    ['is full', { discard: DiscardPolicy.New, discard_new_per_subject: true }],
    ['ready', { discard: DiscardPolicy.New, max_bytes: 16 * 1024, max_msgs: 1 }],
    ['ready', { max_bytes: 1 }],
  ])('are %s if one of them has %j', async (state, config, followers = []) => {
    for (const name of ['E', 'E_KEYS']) {
      const { nats, streams } = streamsWith({});
      await provideStreams(streams, 1, {});
      const one = nats.make(name);
      Object.assign(one, { config: { ...one.config, ...config }, cluster: { replicas: followers } });
      const found = await requireReady(streams).then(() => 'ready', String);
      const probes = nats.make('E_PROBE').messages.map(({ data }) => data.length);
      expect([found, probes]).toEqual([expect.stringContaining(state), state === 'ready' ? [16 * 1024] : []]);
      nats.streams.delete('E_KEYS');
      await expect(requireReady(streams)).rejects.toThrow('the stream E_KEYS is missing');
    }
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
  const found = async (search: TypeSearch, stream: Stream, after: number, type = 'a', part: Partial<Part> = {}) => {
    const positions: number[] = [];
    for await (const { position } of search.find(stream, type, { ...ALL, after, ...part })) positions.push(position);
    return positions;
  };

  it('does not look again where it has found none, and finds what comes after it', async () => {
    const { stream, at, put } = streamOf(others(300));
    const search = new TypeSearch();
    expect(await found(search, stream, 5)).toEqual([]);
    put(...ofTypes('baba'));
    at.mockClear();
    expect(await found(search, stream, 5)).toEqual([302, 304]);
    expect(at.mock.calls.flat()).toEqual([301, 302, 303, 304]);
    expect(await found(search, stream, 5)).toEqual([302, 304]);
    expect(await found(search, stream, 0, 'b')).toHaveLength(302);
  });

  it('looks at a stream anew that was replaced by a shorter one', async () => {
    const search = new TypeSearch();
    expect(await found(search, streamOf(others(300)).stream, 0)).toEqual([]);
    expect(await found(search, streamOf(ofTypes('ba')).stream, 0)).toEqual([2]);
  });

  it('looks at all again after one for the newest, and after 64 others', async () => {
    const { stream, at } = streamOf(ofTypes('ab'));
    const search = new TypeSearch();
    expect(await found(search, stream, 0, 'a', { isUpwards: false })).toEqual([1]);
    expect(await found(search, stream, 0)).toEqual([1]);
    for (const type of ['none', ...Array.from({ length: 64 }, (_, i) => String(i)), 'none']) {
      at.mockClear();
      expect(await found(search, stream, 0, type)).toEqual([]);
    }
    expect(at).toHaveBeenCalledTimes(2);
  });

  it('gives up when its time is over, and goes on where it was', async () => {
    const { stream } = streamOf([...others(1000), ...ofTypes('a')]);
    const search = new TypeSearch();
    let time = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => (time += 10));
    await expect(found(search, stream, 0)).rejects.toThrow('No event of this type was found yet');
    let positions: number[] | undefined;
    for (let tries = 0; positions === undefined && tries < 20; tries++)
      positions = await found(search, stream, 0).catch(() => undefined);
    expect(positions).toEqual([1001]);
  });
});

describe('with a server in memory', () => {
  const nats = natsInMemory();
  const openOn = ({ connection }: typeof nats, options: JetStreamOptions) => {
    jest.spyOn(JetStreamConnection, 'open').mockResolvedValueOnce(connection);
    return openJetStreamLog(options);
  };
  let made = 0;

  describeEventLog(
    'NATS JetStream',
    () => {
      const under = optionsFor(`S${String(++made)}`);
      return Promise.resolve({ open: (retention = {}) => openOn(nats, { ...under, retention }) });
    },
    { forgetsItself: false },
  );

  it('an event is recorded once, and removed with its keys, if the first answer to each request is lost', async () => {
    const losing = natsInMemory({ losesAnswers: true });
    const { make } = losing;
    const log = await openOn(losing, optionsFor('E'));
    const events = [newEvent(), newEvent({ idempotencyKey: 'k' }), newEvent({ webhookId: 'w' })];
    for (const recorded of [true, false])
      expect(await log.append(...events)).toEqual(events.map(({ id }) => ({ id, recorded })));
    const positions = make('E').messages.map(({ seq }) => seq);
    expect(positions).toHaveLength(3);
    expect(await log.forget(positions)).toEqual(positions);
    expect([make('E').messages, make('E_KEYS').messages]).toEqual([[], []]);
    await log.close();
  });

  it('keys are counted as storage, forgotten long after their events, and missed', async () => {
    const options = optionsFor('K', { retention: { maxEvents: 5 } });
    const log = await openOn(nats, options);
    await log.append(newEvent({ idempotencyKey: 'k' }), newEvent());
    const keys = nats.make('K_KEYS');
    const sizes = [...nats.make('K').messages, ...keys.messages].map(({ data }) => data.length);
    expect((await log.stats()).bytes).toBe(sizes.reduce((sum, size) => sum + size));
    expect([log.maxEventBytes, log.retain({ maxEvents: 6 })]).toEqual([32 * 1024 * 1024 - 512, false]);
    for (const { time } of keys.messages) time.setTime(0);
    const other = await openOn(nats, options);
    await eventually('the key is forgotten', () => keys.messages.length === 0);
    nats.streams.delete('K_KEYS');
    expect(await log.verify()).toEqual([expect.stringContaining('the stream K_KEYS is missing')]);
    expect(await failureOf(openOn(nats, options))).toContain('the stream K_KEYS is missing');
    const reading = await openOn(nats, { ...options, create: false });
    expect(await reading.scan({ after: 0, limit: 10 })).toMatchObject([{ idempotencyKey: 'k' }, {}]);
    const close = jest.spyOn(nats.connection, 'close');
    expect(await failureOf(openOn(nats, optionsFor('N', { create: false })))).toContain('N does not exist');
    expect(close).toHaveBeenCalledTimes(1);
    await Promise.all([log, other, reading].map((one) => one.close()));
  });

  it('events are found since a time if the clock of the server is minutes late, and counted with few consumers', async () => {
    const log = await openOn(nats, optionsFor('C'));
    const now = Date.now();
    await log.append(newEvent({ recordedAt: now + 500_000 }));
    expect(await log.scan({ after: 0, since: now + 400_000, limit: 1 })).toHaveLength(1);
    await log.counts(Array.from({ length: 61 }, (_, i) => now + i));
    expect(nats.consumers).toEqual({ now: 0, most: 8 });
    await log.close();
  });
});
