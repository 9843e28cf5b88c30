import type { NewEvent, StoredEvent } from '../../src/events/stored-event';
import { EventLogError, type Retention } from '../../src/log/engine';
import type { EventLog } from '../../src/log/event-log';
import { type EventQuery, type LogStats, SearchQuery, type SearchResult } from '../../src/log/queries';
import { eventually } from '../support/eventually';
import { EVERY_EVENT, forgetAll, outcome, newEvent } from '../support/events';
import { watching } from '../support/watching';

/** A log that the suite opens and closes as often as it likes; its events stay until `remove`. */
export interface LogUnderTest {
  open(retention?: Retention): Promise<EventLog>;
  /** Removes all events faster than the log itself forgets them. */
  clear?(): Promise<void>;
  remove?(): Promise<void>;
}

const TIMES = Object.fromEntries(
  Object.entries({ a: 30, b: 10, c: 20, d: 20, e: 40, f: 5 }).map(([id, recordedAt]) => [id, { recordedAt }]),
);

/** Searches on until a limit is reached or nothing is left to look at: how far one call comes depends on the machine. */
async function searchedToEnd(log: EventLog, query: SearchQuery): Promise<SearchResult> {
  const result = await log.search(query);
  const { reached, more } = result;
  const limit = query.limit - result.events.length;
  if (!more || reached === undefined || limit === 0) return result;
  const place = query.after === undefined ? { before: reached.position } : { after: reached.position };
  const rest = await searchedToEnd(log, { ...query, ...place, limit });
  const parts = query.after === undefined ? [result, rest] : [rest, result];
  return { ...rest, reached: rest.reached ?? reached, events: parts.flatMap(({ events }) => events) };
}

/**
 * Tests what every engine of the event log promises.
 *
 * @param forgetsItself - whether the log forgets events by when they were recorded; the servers of NATS do by when they stored them
 */
export function describeEventLog(name: string, make: () => Promise<LogUnderTest>, { forgetsItself = true } = {}): void {
  const itForgets = forgetsItself ? it : () => undefined;
  describe(`the event log on ${name}`, () => {
    // Opening a log takes longer than most of these tests, which share one, with what two instances have of it.
    let under: LogUnderTest;
    let log: EventLog;
    let other: EventLog;
    /** The last position before the test. */
    let start = 0;
    beforeAll(async () => {
      under = await make();
      [log, other] = [await under.open(), await under.open()];
    });
    beforeEach(async () => {
      start = await log.newest();
    });
    afterEach(() => under.clear?.() ?? forgetAll(other));
    afterAll(async () => {
      await Promise.all([log.close(), other.close()]);
      await under.remove?.();
    });
    const ids = async (query: Partial<EventQuery> = {}) =>
      (await log.read({ ...EVERY_EVENT, ...query })).map((event) => event.id);
    /** Records events by their ids. */
    const record = (events: Readonly<Record<string, Partial<NewEvent>>>) =>
      log.append(...Object.entries(events).map(([id, event]) => newEvent({ id, ...event })));
    const search = (query: Partial<SearchQuery> = {}) => searchedToEnd(log, { limit: 100, ...query });
    /** The pages of a scan from the beginning. */
    const scanned = async (query: { readonly limit: number; readonly since?: number }) => {
      const pages: (readonly StoredEvent[])[] = [];
      for (
        let page: readonly StoredEvent[];
        (page = await log.scan({ ...query, after: pages.at(-1)?.at(-1)?.position ?? 0 })).length > 0;
      )
        pages.push(page);
      return pages;
    };
    /** What each call of a search to the oldest event finds. */
    const searched = async (query: SearchQuery) => {
      const results: SearchResult[] = [];
      for (let more = true; more; more = results.at(-1)?.more ?? false)
        results.push(await log.search({ ...query, before: results.at(-1)?.reached?.position }));
      return results;
    };
    /** Uses a log of its own. */
    const withLog = async (retention: Retention, work: (own: EventLog) => Promise<void>) => {
      const made = await make();
      const own = await made.open(retention);
      await work(own).finally(() => own.close());
      await made.remove?.();
    };

    it('is empty at first, and says so to those who watch it', async () => {
      expect(await ids()).toEqual([]);
      expect(await log.search({ limit: 10, text: 'x' })).toEqual({ events: [], reached: undefined, more: false });
      expect(await log.counts([0, 1000, 2000, 3000])).toEqual([0, 0, 0]);
      const watch = watching(log);
      expect(await watch.next()).toBe(0);
      watch.end();
    });

    it('is made once by several that open it at the same moment', async () => {
      const made = await make();
      const logs = await Promise.all(Array.from({ length: 4 }, () => made.open()));
      await Promise.all(logs.map((own) => own.append(newEvent({ id: 'same' }))));
      expect((await logs[0]?.stats())?.events).toBe(1);
      await Promise.all(logs.map((own) => own.close()));
      await made.remove?.();
    });

    it('reads an event with white space before its values, as imports once stored it', async () => {
      await log.append(newEvent({ id: 'spaced', data: '"data": {}', arrival: ' {}' }));
      expect(await ids()).toEqual(['spaced']);
    });

    it('shows no event at a position below one that is visible already', async () => {
      const data = `"data":"${'x'.repeat(100_000)}"`;
      let isWriting = true;
      const write = async (to: EventLog, largeEvery: number) => {
        for (let i = 0; i < 30; i++) {
          const events = [newEvent(), newEvent(i % largeEvery === 0 ? { data } : {})];
          await Promise.all(events.map((event) => to.append(event)));
        }
      };
      const writing = Promise.all([
        write(log, 2),
        write(other, 3),
        log.append(...Array.from({ length: 50 }, () => newEvent())),
      ]);
      const ended = writing.finally(() => (isWriting = false));
      const seen: number[] = [];
      const readOn = async () => {
        for (let wasWriting = true, found = 1; wasWriting || found > 0;) {
          wasWriting = isWriting;
          const page = await log.read({ ...EVERY_EVENT, after: seen.at(-1) ?? 0, limit: 7 });
          seen.push(...page.map(({ position }) => position));
          found = page.length;
        }
      };
      await Promise.all([readOn(), ended]);
      expect(seen).toEqual((await log.read(EVERY_EVENT)).map(({ position }) => position));
      expect(seen).toHaveLength(170);
    });

    it('reads on to the end, whatever others forget meanwhile', async () => {
      const events = Array.from({ length: 120 }, (_, i) => newEvent({ id: String(i), recordedAt: i }));
      await log.append(...events);
      const positions = (await log.scan({ after: 0, limit: 200 })).map(({ position }) => position);
      const last = positions.at(-1) ?? 0;
      const goOn = async (next: (after: number) => Promise<readonly { position: number }[]>) => {
        for (let after = 0; after < last;) {
          const page = await next(after);
          expect(page).not.toHaveLength(0);
          after = page.at(-1)?.position ?? last;
        }
      };
      const forgetting = async () => {
        for (let i = 0; i < 100; i += 5) await other.forget(positions.slice(i, i + 5));
      };
      await Promise.all([
        forgetting(),
        goOn((after) => log.read({ ...EVERY_EVENT, after, limit: 2 })),
        goOn((after) => log.scan({ after, limit: 2 })),
        goOn((after) => log.scan({ after, limit: 2, since: 1 })),
      ]);
    });

    it('keeps everything, and knows repetitions, when it is opened again', async () => {
      const data = '"data":"\\u0000 \u{1F600} </a>"';
      await log.append(newEvent({ id: 'before', idempotencyKey: 'k', webhookId: 'w', data }));
      const before = await log.read(EVERY_EVENT);
      await log.close();
      log = await under.open();
      expect(await log.read(EVERY_EVENT)).toEqual(before);
      for (const same of [{ id: 'before' }, { idempotencyKey: 'k', data }, { webhookId: 'w', data }]) {
        expect(await outcome(log.append(newEvent(same)))).toEqual({ id: 'before', recorded: false });
      }
      const conflict = { id: 'before', recorded: false, conflict: { key: 'idempotencyKey', differs: 'data' } };
      expect(await outcome(log.append(newEvent({ idempotencyKey: 'k', data: undefined })))).toEqual(conflict);
      expect((await outcome(log.append(newEvent({ idempotencyKey: 'w', webhookId: 'k' })))).recorded).toBe(true);
    });

    describe('forgets', () => {
      const positionOf = async (id: string) => (await log.read({ ...EVERY_EVENT, id }))[0]?.position ?? -1;

      it('the given events, and no other', async () => {
        await log.append(...['a', 'b', 'c', 'd'].map((id) => newEvent({ id, data: `"data":"x${id}x"` })));
        const [b, d] = [await positionOf('b'), await positionOf('d')];
        expect((await log.forget([d, b, d + 10])).sort((one, next) => one - next)).toEqual([b, d]);
        expect(await log.forget([b])).toEqual([]);
        expect(await ids()).toEqual(['a', 'c']);
        expect(await ids({ id: 'b' })).toEqual([]);
        expect(await ids({ position: b })).toEqual([]);
        expect(await ids({ after: b })).toEqual(['c']);
        expect((await log.scan({ after: 0, limit: 10 })).map(({ id }) => id)).toEqual(['a', 'c']);
        expect((await log.search({ text: 'xbx', limit: 10 })).events).toEqual([]);
        expect((await log.stats()).events).toBe(2);
        expect(await log.verify()).toEqual([]);
      });

      it('the newest event without giving its position to another, and tells those who wait of the next', async () => {
        await log.append(newEvent({ id: 'a' }));
        const newest = await positionOf('a');
        const told = watching(log);
        await told.reaches(newest);
        await log.forget([newest]);
        expect(await log.newest()).toBe(newest);
        await log.append(newEvent({ id: 'b' }));
        expect(await positionOf('b')).toBeGreaterThan(newest);
        await told.reaches(await positionOf('b'));
        told.end();
      });

      it('an event with its keys, so that it is recorded when it is sent again', async () => {
        const event = newEvent({ id: 'a', source: '/s', idempotencyKey: 'k', webhookId: 'w' });
        await log.append(event);
        const other = newEvent({ id: 'a', source: '/other' });
        await log.append(other);
        const position = (await log.scan({ after: 0, limit: 1 }))[0]?.position ?? -1;
        expect(await log.forget([position])).toEqual([position]);
        expect(await ids({ id: 'a' })).toEqual(['a']);
        expect(await outcome(log.append(other))).toEqual({ id: 'a', recorded: false });
        expect(await outcome(log.append(newEvent({ id: 'b', idempotencyKey: 'k' })))).toEqual({
          id: 'b',
          recorded: true,
        });
        expect(await outcome(log.append({ ...event, idempotencyKey: undefined }))).toEqual({ id: 'a', recorded: true });
        expect(await ids({ id: 'a' })).toEqual(['a', 'a']);
      });
    });

    it.each<[string, Partial<NewEvent>]>([
      ['id and source', { id: 'twice' }],
      ['Idempotency-Key', { idempotencyKey: 'k' }],
      ['webhook-id', { webhookId: 'w' }],
      ['Idempotency-Key and webhook-id', { idempotencyKey: 'k', webhookId: 'w' }],
    ])('records copies with one %s that two instances get at the same moment only once', async (_what, same) => {
      const copies = Array.from({ length: 40 }, (_, i) => outcome((i % 2 ? log : other).append(newEvent(same))));
      const appended = await Promise.all(copies);
      expect(appended.filter(({ recorded }) => recorded)).toHaveLength(1);
      expect([...new Set(appended.map(({ id }) => id))]).toEqual(await ids());
    });

    describe.each(['idempotencyKey', 'webhookId'] as const)('with the %s of another event', (key) => {
      const DATA = '"data":{"order":1}';
      const first = { id: 'first', [key]: 'k', data: DATA };
      const conflict = { id: 'first', recorded: false, conflict: { key, differs: 'data' } };
      const attributesOf = (attributes: object) => JSON.stringify({ specversion: '1.0', type: 'test', ...attributes });

      it.each<[string, Partial<NewEvent>]>([
        ['other data', { data: '"data":{"order":2}' }],
        ['no data', { data: undefined }],
        ['another type', { data: DATA, attributes: attributesOf({ type: 'other' }) }],
        ['another type and another known key', { data: DATA, webhookId: 'w', attributes: attributesOf({ type: 'o' }) }],
        ['other data and the id of the first', { id: 'first', data: '"data":{"order":2}' }],
        ['another caller', { data: DATA, arrival: '{"keyName":"shop"}' }],
      ])('does not record an event with %s, and says so', async (_what, other) => {
        await log.append(newEvent(first));
        await log.append(newEvent({ id: 'webhook', webhookId: 'w' }));
        const differs = 'arrival' in other ? 'caller' : 'data';
        expect(await outcome(log.append(newEvent({ ...other, [key]: 'k' })))).toEqual({
          ...conflict,
          conflict: { key, differs },
        });
        expect(await ids()).toEqual(['first', 'webhook']);
      });

      it('takes one for a repetition that differs in its time, its trace and how it arrived', async () => {
        await log.append(newEvent(first));
        const attributes = attributesOf({ time: '2026-01-02T03:04:05Z', traceparent: 'x', binding: 'soap12' });
        const again = newEvent({ ...first, id: 'again', attributes, arrival: '{"method":"GET"}', recordedAt: 1 });
        expect(await outcome(log.append(again))).toEqual({ id: 'first', recorded: false });
      });

      it('does not record it in one call with the other, nor at the same moment in two instances', async () => {
        const events = [first, { ...first, id: 'b', data: undefined }, { ...first, id: 'c' }].map(newEvent);
        expect(await log.append(...events)).toEqual([
          { id: 'first', recorded: true },
          conflict,
          { id: 'first', recorded: false },
        ]);
        const race = Array.from({ length: 20 }, (_, i) => newEvent({ [key]: 'race', data: `"data":${String(i % 2)}` }));
        const appended = await Promise.all(race.map((event, i) => outcome((i % 3 ? log : other).append(event))));
        const winner = appended.findIndex(({ recorded }) => recorded);
        expect(appended.map(({ conflict: found }) => found !== undefined)).toEqual(
          race.map((_event, i) => i % 2 !== winner % 2),
        );
        expect(await ids()).toEqual(['first', race[winner]?.id]);
      });
    });

    it('takes one with keys of several events for that with its Idempotency-Key, else for that with its webhook-id', async () => {
      await record({ c: { webhookId: 'w' }, b: { idempotencyKey: 'k' }, a: {} });
      const again = newEvent({ id: 'a', webhookId: 'w' });
      const outcomes = await log.append(again, { ...again, idempotencyKey: 'k' });
      expect(outcomes).toEqual(['c', 'b'].map((id) => ({ id, recorded: false })));
    });

    it('tells events with one id from many sources apart', async () => {
      const events = Array.from({ length: 12 }, (_, i) => newEvent({ id: 'x', source: `/${String(i)}` }));
      const appended = await Promise.all(
        [...events, ...events, ...events].map((event, i) => outcome((i % 2 ? log : other).append(event))),
      );
      expect(appended.filter(({ recorded }) => recorded)).toHaveLength(12);
      for (const event of events) expect(await outcome(log.append(event))).toEqual({ id: 'x', recorded: false });
      const logged = await log.read({ ...EVERY_EVENT, id: 'x' });
      expect(logged.map(({ attributes }) => attributes).sort()).toEqual(events.map((e) => e.attributes).sort());
      const third = logged[2]?.position ?? 0;
      expect(await log.read({ ...EVERY_EVENT, id: 'x', after: third, limit: 2 })).toEqual(logged.slice(3, 5));
      expect(await log.read({ ...EVERY_EVENT, id: 'x', limit: 2 })).toEqual(logged.slice(-2));
    });

    it('reads the newest or the next events, oldest first, or those with an id', async () => {
      await record({ a: {}, b: {}, c: {}, d: {} });
      const [first] = await log.read({ ...EVERY_EVENT, limit: 1, after: 0 });
      expect(first).toMatchObject({ id: 'a', position: start + 1 });
      expect(await ids({ limit: 2 })).toEqual(['c', 'd']);
      expect(await ids({ after: start + 1, limit: 2 })).toEqual(['b', 'c']);
      expect(await ids({ after: Number.MAX_SAFE_INTEGER })).toEqual([]);
      expect(await ids({ id: 'b' })).toEqual(['b']);
      expect(await ids({ id: 'nobody' })).toEqual([]);
    });

    it('reads events before a position', async () => {
      for (const source of ['/1', '/2', '/3', '/4']) await log.append(newEvent({ id: 'same', source }));
      const [first, second, third, fourth] = await log.read(EVERY_EVENT);
      const before = fourth?.position ?? 0;
      for (const id of [undefined, 'same']) {
        const read = (query: Partial<EventQuery>) => log.read({ ...EVERY_EVENT, id, ...query });
        expect(await read({ before, limit: 2 })).toEqual([second, third]);
        expect(await read({ before, after: first?.position })).toEqual([second, third]);
        expect(await read({ before: first?.position })).toEqual([]);
      }
      expect(await log.read({ limit: 1, position: third?.position })).toEqual([third]);
      expect(await log.read({ limit: 1, position: 0 })).toEqual([]);
    });

    it('returns no more events than have 8 MiB together, if none is given', async () => {
      const data = `"data":"${'x'.repeat(950_000)}"`;
      for (let i = 0; i < 9; i++) await log.append(newEvent({ data }));
      expect(await log.read({ limit: 9 })).toHaveLength(8);
    });

    describe('with a limit of bytes', () => {
      const data = `"data":"${'é'.repeat(100)}"`;
      const bytes = (event: { attributes: string; data?: string | undefined }) =>
        Buffer.byteLength(event.attributes + (event.data ?? ''));

      it('returns no more events once they have more bytes in UTF-8', async () => {
        const attributes = JSON.stringify({ type: 'é'.repeat(100) });
        for (let i = 0; i < 10; i++) await log.append(newEvent({ attributes, data }));
        const all = await log.read(EVERY_EVENT);
        const maxBytes = all.slice(-3).reduce((sum, event) => sum + bytes(event), 0);
        expect(await log.read({ ...EVERY_EVENT, maxBytes })).toEqual(all.slice(-4));
        expect(await log.read({ ...EVERY_EVENT, maxBytes: maxBytes - 1 })).toEqual(all.slice(-3));
        expect(await log.read({ ...EVERY_EVENT, maxBytes, after: 0 })).toEqual(all.slice(0, 4));
      });

      it('returns an event that is too large by itself without its data, also if it is named', async () => {
        await log.append(newEvent({ id: 'small', data: '"data":1' }));
        const large = newEvent({ id: 'large', data: `"data":"${'é'.repeat(1000)}"` });
        await log.append(large);
        const read = async (query: Partial<EventQuery>) =>
          (await log.read({ ...EVERY_EVENT, ...query })).map((event) => [event.id, event.data, event.dataOmitted]);
        const cut = ['large', undefined, Buffer.byteLength(large.data ?? '')];
        expect(await read({ maxBytes: bytes(large) })).toContainEqual(['large', large.data, undefined]);
        expect(await read({ maxBytes: bytes(large) - 1 })).toContainEqual(cut);
        expect(await read({ maxBytes: 1500 })).toEqual([['small', '"data":1', undefined], cut]);
        expect(await read({ maxBytes: 1500, id: 'large' })).toEqual([cut]);
        expect(await read({ maxBytes: 1500, position: await log.newest() })).toEqual([cut]);
        expect(await log.read({ limit: 1, id: 'large' })).toMatchObject([{ data: large.data }]);
      });
    });

    it('reads and finds the events of a type, or of all types that begin alike', async () => {
      const long = `b.${'t'.repeat(250)}.`;
      const short = ['b.x', 'a', 'b.', 'b', 'b/x', 'b.*', 'B.x', 'b.ÿ', 'b.x', 'c'];
      const types = [...short, `${long}a`, `${long}b`, long, 'b.x.y'];
      const attributesOf = (type: string) => JSON.stringify({ id: type, source: '/', type });
      await log.append(...types.map((type, i) => newEvent({ id: String(i), attributes: attributesOf(type) })));
      const found = async (query: Partial<EventQuery>) => (await ids(query)).map(Number);
      for (const [type, matching] of [
        ['b.x', [0, 8]],
        ['b.*', [0, 2, 5, 7, 8, 10, 11, 12, 13]],
        ['b.x.*', [13]],
        [long, [12]],
        [`${long}*`, [10, 11, 12]],
        ['b*', []],
        ['d', []],
      ] as const) {
        expect([type, await found({ type })]).toEqual([type, matching]);
        const { events } = await search({ type });
        expect(events.map(({ id }) => Number(id)).reverse()).toEqual(matching);
      }
      const first = start + 1;
      expect(await found({ type: 'b.*', after: first, limit: 3 })).toEqual([2, 5, 7]);
      expect(await found({ type: 'b.*', before: first + 8, limit: 2 })).toEqual([5, 7]);
      expect(await found({ type: 'b.x', limit: 1, after: first })).toEqual([8]);
      expect(await found({ type: 'b.x', limit: 1, before: first + 8 })).toEqual([0]);
    });

    it('records many events in the order given, whatever keys they have, and gives everything that it keeps, page by page', async () => {
      const events = Array.from({ length: 250 }, (_, i) =>
        newEvent({
          arrival: `{"i":${String(i)}}`,
          data: `"data":${String(i)}`,
          idempotencyKey: i % 3 === 0 ? `k${String(i)}` : undefined,
          webhookId: i % 5 === 0 ? `w${String(i)}` : undefined,
          recordedAt: i,
        }),
      );
      for (const recorded of [true, false])
        expect(await log.append(...events)).toEqual(events.map(({ id }) => ({ id, recorded })));
      const pages = await scanned({ limit: 100 });
      expect(pages.map(({ length }) => length)).toEqual([100, 100, 50]);
      expect(pages.flat()).toEqual(events.map((event) => ({ ...event, position: expect.any(Number) as number })));
      expect((await log.stats()).events).toBe(250);
    });

    it('reads and lists large events a few at a time, and at least one', async () => {
      const dataOf = (megabytes: number) => `"data":"${'x'.repeat(megabytes * 1e6)}"`;
      const large = Array.from({ length: 7 }, (_, i) => `large ${String(i)}`);
      for (const id of large) await log.append(newEvent({ id, data: dataOf(id === 'large 3' ? 9 : 3) }));
      const pages = (await scanned({ limit: 100 })).map(({ length }) => length);
      expect(pages.reduce((sum, length) => sum + length)).toBe(7);
      expect(Math.max(...pages)).toBeLessThan(4);
      const listed = (await searched({ limit: 100 })).flatMap(({ events }) => events.map(({ id }) => id));
      expect(listed).toEqual(large.toReversed());
      // They are 100 MB for a server beside it.
    }, 120_000);

    it('records events of which some repeat others once, in one call', async () => {
      const [key, hook] = [{ idempotencyKey: 'k' }, { webhookId: 'w' }];
      await log.append(newEvent({ id: 'before', ...key }));
      const given = [
        { id: 'one' },
        { id: 'other', ...key },
        { id: 'one' },
        { id: 'two', ...hook },
        { id: 'three', ...hook },
      ];
      const events = given.map(newEvent);
      expect(await log.append(...events)).toEqual([
        { id: 'one', recorded: true },
        { id: 'before', recorded: false },
        { id: 'one', recorded: false },
        { id: 'two', recorded: true },
        { id: 'two', recorded: false },
      ]);
      expect(await ids()).toEqual(['before', 'one', 'two']);
      expect((await log.stats()).events).toBe(3);
      expect(await log.append()).toEqual([]);
    });

    it('scans the events since a time, wherever they stand', async () => {
      await record(TIMES);
      const since = async (time: number, limit: number) => {
        const pages = await scanned({ limit, since: time });
        expect(Math.max(0, ...pages.map(({ length }) => length))).toBeLessThanOrEqual(limit);
        return pages.flatMap((page) => page.map(({ id }) => id)).join('');
      };
      for (const limit of [1, 2, 10]) {
        expect(await since(0, limit)).toBe('abcdef');
        expect(await since(6, limit)).toBe('abcde');
        expect(await since(20, limit)).toBe('acde');
        expect(await since(21, limit)).toBe('ae');
        expect(await since(40, limit)).toBe('e');
        expect(await since(41, limit)).toBe('');
        expect(await since(-9e15, limit)).toBe('abcdef');
        expect(await since(9e15, limit)).toBe('');
      }
    });

    itForgets('counts an event from its time on, and before the next', async () => {
      await record(TIMES);
      expect(await log.counts([5, 10, 20, 30, 41])).toEqual([1, 1, 2, 2]);
    });

    it('with a limit of events forgets the oldest, and goes on counting positions', () =>
      withLog({ maxEvents: 5 }, async (own) => {
        for (let i = 0; i < 12; i++) await own.append(newEvent({ id: String(i) }));
        await eventually('the others are forgotten', async () => (await own.stats()).events <= 5);
        const kept = (await own.read(EVERY_EVENT)).map(({ id, position }) => [id, position]);
        expect(kept).toEqual([7, 8, 9, 10, 11].map((i) => [String(i), i + 1]));
      }));

    it('records an event again only once it has forgotten the first, whatever its key', () =>
      withLog({ maxEvents: 5 }, async (own) => {
        for (const same of [{ id: 'again' }, { idempotencyKey: 'k' }, { webhookId: 'w' }]) {
          const record = () => outcome(own.append(newEvent(same)));
          const first = await record();
          expect(await record()).toEqual({ id: first.id, recorded: false });
          const [event] = await own.read({ ...EVERY_EVENT, id: first.id });
          for (let i = 0; i < 5; i++) await own.append(newEvent());
          const position = event?.position ?? 0;
          await eventually('it is forgotten', async () => (await own.read({ position, limit: 1 })).length === 0);
          const after = await record();
          expect(after.recorded).toBe(true);
          expect(await record()).toEqual({ id: after.id, recorded: false });
        }
      }));

    itForgets('forgets step by step, without a rest until nothing is past retention', () =>
      withLog({}, async (own) => {
        for (let i = 0; i < 2; i++) await own.append(...Array.from({ length: 600 }, () => newEvent()));
        expect(own.retain({ maxEvents: 5 })).toBe(true);
        const { events } = await new Promise<LogStats>((resolve, reject) => {
          own.observe({ retained: () => void own.stats().then(resolve, reject) });
        });
        expect(events).toBe(5);
      }),
    );

    itForgets('forgets old events wherever they stand', () =>
      withLog({}, async (own) => {
        const ages = { a: 7200, b: 0, c: 7200, d: 1, e: 3000, f: 7200, g: 1e9 };
        for (const [id, age] of Object.entries(ages))
          await own.append(newEvent({ id, recordedAt: Date.now() - age * 1000 }));
        // As many as it may have: only their age says which to forget.
        own.retain({ maxEvents: 7, maxAge: 3_600_000 });
        await eventually('the others are forgotten', async () => (await own.stats()).events <= 3);
        expect((await own.read(EVERY_EVENT)).map(({ id }) => id)).toEqual(['b', 'd', 'e']);
      }),
    );

    it('forgets events when they reach the age limit', () =>
      withLog({ maxAge: 1000 }, async (own) => {
        await own.append(newEvent({ recordedAt: Date.now() }));
        await eventually('it is forgotten', async () => (await own.stats()).events === 0);
      }));

    it.each(['itself', 'in another instance'])(
      'tells of events recorded %s, when they can be read, and of no position twice',
      async (where) => {
        const to = where === 'itself' ? log : other;
        await log.append(newEvent());
        const watch = watching(log);
        for (let i = 1; i <= 5; i++) {
          const newest = await log.newest();
          await watch.reaches(newest);
          const event = newEvent({ id: `event ${String(i)}` });
          await Promise.all([to.append(event), watch.reaches(newest + 1)]);
          const [found] = await log.read({ limit: 1 });
          expect(found).toMatchObject({ id: event.id, position: watch.told.at(-1) });
          // It may use up a position.
          await to.append(event);
        }
        watch.end();
        expect(watch.told).toEqual([...new Set(watch.told)].sort((one, next) => one - next));
      },
    );

    it('finishes what was asked before it closes, with a watch on it, and refuses what comes later', async () => {
      await log.append(newEvent());
      const watch = watching(log);
      await watch.next();
      const appended = outcome(log.append(newEvent()));
      const asked = [log.search({ limit: 1, text: 'nowhere' }), log.counts([0, 1]), log.check()];
      const closed = log.close();
      for (const late of [log.append(newEvent()), log.read(EVERY_EVENT), log.search({ limit: 1 }), log.counts([0, 1])])
        await expect(late).rejects.toThrow(EventLogError);
      await Promise.all([...asked, closed]);
      watching(log).end();
      log = await under.open();
      expect((await ids()).at(-1)).toBe((await appended).id);
    });

    describe('searched', () => {
      const found = async (query: Partial<SearchQuery>) => (await search(query)).events.map(({ id }) => id);
      const attributes = (given: Readonly<Record<string, string>>) =>
        JSON.stringify({ specversion: '1.0', id: 'x', source: '/', type: 'test', ...given });

      it('lists the newest events first', async () => {
        await record({ old: { recordedAt: 1_700_000_000_000 }, new: { recordedAt: 1_700_000_000_001 } });
        const positions = (await log.read(EVERY_EVENT)).map(({ position }) => position);
        expect(await search()).toMatchObject({
          events: [
            { position: positions[1], id: 'new', recordedAt: 1_700_000_000_001, type: 'test' },
            { position: positions[0], id: 'old' },
          ],
          reached: { position: positions[0] ?? 0, recordedAt: 1_700_000_000_000 },
          more: false,
        });
      });

      it('says how far it came when it finds nothing in a long log, and comes to the end', async () => {
        const data = `"data":"${'x'.repeat(5000)}"`;
        for (let i = 0; i < 1200; i += 400)
          await log.append(...Array.from({ length: 400 }, (_, j) => newEvent({ data, recordedAt: i + j })));
        await record({ needle: { recordedAt: 1200 } });
        const results = await searched({ limit: 100, text: 'nowhere' });
        const reached = results.map((result) => result.reached?.position ?? 0);
        expect(results.flatMap(({ events }) => events)).toEqual([]);
        expect(results.map((result) => (result.reached?.recordedAt ?? 0) + start + 1)).toEqual(reached);
        expect(reached).toEqual([...new Set(reached)].sort((one, next) => next - one));
        expect(reached.at(-1)).toBe(start + 1);
        expect(await found({ text: 'needle' })).toEqual(['needle']);
      });

      it('goes on before the position that it reached, until there is no more', async () => {
        await record(Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`e${String(i)}`, {}])));
        const pages: string[][] = [];
        for (let next: Partial<SearchResult> = { more: true }, before; next.more; before = next.reached?.position) {
          next = await search({ limit: 3, before });
          pages.push(next.events?.map(({ id }) => id) ?? []);
        }
        expect(pages).toEqual([['e6', 'e5', 'e4'], ['e3', 'e2', 'e1'], ['e0']]);
        expect((await search({ limit: 7 })).more).toBe(false);
        expect((await search({ limit: 6 })).more).toBe(true);
      });

      it('goes towards newer events after a position, and lists them newest first', async () => {
        await record({ a: {}, b: {}, c: { data: '"data":"x"' }, d: {}, e: { data: '"data":"x"' } });
        const [a, b, , d, e] = (await log.read(EVERY_EVENT)).map(({ position }) => position);
        const after = await search({ after: a, limit: 2 });
        expect(after.events.map(({ id }) => id)).toEqual(['c', 'b']);
        expect(after).toMatchObject({ reached: { position: b === undefined ? b : b + 1 }, more: true });
        expect(await found({ after: a, before: d })).toEqual(['c', 'b']);
        expect(await found({ after: a, text: '"x"' })).toEqual(['e', 'c']);
        expect(await search({ after: e })).toEqual({ events: [], reached: undefined, more: false });
        // The neighbours of an event, as its page needs them.
        expect(await found({ before: d, limit: 1 })).toEqual(['c']);
        expect(await found({ after: d, limit: 1 })).toEqual(['e']);
      });

      it('finds a text in attributes, data and arrival, whatever the case of its ASCII letters', async () => {
        await record({
          attribute: { attributes: attributes({ subject: 'Order-4711' }) },
          data: { data: '"data":"the ORDER-4711 of today"' },
          arrival: { arrival: '{"headers":{"x-order":"order-4711"}}' },
          other: { data: '"data":"order-4712"' },
          none: {},
        });
        expect(await found({ text: 'oRDER-4711' })).toEqual(['arrival', 'data', 'attribute']);
        expect(await found({ text: 'order-471' })).toEqual(['other', 'arrival', 'data', 'attribute']);
      });

      it.each<[what: string, text: string, data: string]>([
        ['a quote in a string', 'say "hi"', '"data":"I say \\"hi\\" to you"'],
        ['a member of an object', '"order":19', '"data":{"order":19}'],
        ['a member of an object in a string', '"order":19', '"data":"{\\"order\\":19}"'],
        ['a line break', 'a\nb', '"data":"a\\nb"'],
        ['NUL', 'a\0b', '"data":"a\\u0000b"'],
        ['a letter beyond ASCII', 'Müller', '"data":"Erika Müller"'],
        ['a letter beyond ASCII, escaped', 'Müller', '"data":{"name":"M\\u00FCller"}'],
        ['a slash', 'https://example.com/', '"data":"https://example.com/x"'],
        ['a slash, escaped', 'https://example.com/ü', '"data":{"url":"https:\\/\\/example.com\\/\\u00fc"}'],
        ['a slash, escaped, beside a letter that is not', 'ü/', '"data":"x-ü\\/y"'],
        ['an emoji', '\u{1F600}', '"data":"\u{1F600}"'],
        ['an emoji, escaped', '\u{1F600}', '"data":{"a":"\\ud83d\\ude00"}'],
        ['a lone surrogate', 'a\ud800', '"data":"a\\ud800"'],
        ['a percent sign', '100%', '"data":"100%"'],
        ['wildcards', '%_*?[a-z]', '"data":"%_*?[a-z]"'],
        ['what a pattern gives a meaning', '(a|b)+.$^{2}\\d', '"data":"(a|b)+.$^{2}\\\\d"'],
        ['quotes of SQL', "' OR 1=1 --", '"data":"\' OR 1=1 --"'],
      ])('finds %s', async (_what, text, data) => {
        await record({
          other: { data: '"data":"Mller hi 100 aXb a|b 1=1 a\ufffd https:example.com abc"' },
          match: { data },
        });
        expect(await found({ text })).toEqual(['match']);
      });

      it('finds a text in a header field that came as UTF-8, tells letters beyond ASCII apart by their case, and does not search base64', async () => {
        const name = Buffer.from('Jürgen').toString('latin1');
        await record({
          header: { arrival: JSON.stringify({ headers: { 'x-name': name } }) },
          capital: { data: '"data":"MÜLLER"' },
          bytes: { data: '"data_base64":"Zm9vYmFy"' },
          text: { data: '"data":"Zm9vYmFy"' },
        });
        expect(await found({ text: 'jürgen' })).toEqual(['header']);
        expect(await found({ text: 'mÜller' })).toEqual(['capital']);
        expect(await found({ text: 'müller' })).toEqual([]);
        expect(await found({ text: 'Zm9v' })).toEqual(['text']);
        expect(await found({ text: 'data_base64' })).toEqual([]);
      });

      it('finds a long text of one letter in a large event of the same letter soon', async () => {
        const text = `${'a'.repeat(SearchQuery.maxText - 1)}b`;
        await record({ large: { data: `"data":"${'a'.repeat(4 * 1024 * 1024)}b"` } });
        const started = performance.now();
        expect(await found({ text: 'nothing' })).toEqual([]);
        const usual = performance.now() - started;
        expect(await found({ text })).toEqual(['large']);
        expect(await found({ text: text.replace('b', 'c') })).toEqual([]);
        expect(performance.now() - started).toBeLessThan(1000 + 20 * usual);
      });

      it('keeps to a binding, a type and a sender, and to several of them', async () => {
        const from = (remoteAddress: string) => JSON.stringify({ remoteAddress, headers: { host: '192.0.2.1' } });
        await record({
          a: { attributes: attributes({ binding: 'soap11', type: 'x' }), arrival: from('192.0.2.1') },
          b: { attributes: attributes({ binding: 'soap11', type: `it's "z"` }), arrival: from('192.0.2.10') },
          c: { attributes: attributes({ binding: 'httpget', type: 'x' }), arrival: from('::1') },
          d: {
            attributes: attributes({ type: 'X', subject: '"binding":"soap11"' }),
            arrival: '{"webhook-sender":"github"}',
            data: '"data":{"type":"x"}',
          },
        });
        for (const [query, matching] of [
          [{ binding: 'soap11' }, 'ba'],
          [{ type: 'x' }, 'ca'],
          [{ type: `it's "z"` }, 'b'],
          [{ type: "x' OR 1" }, ''],
          [{ binding: 'soap11', type: 'x' }, 'a'],
          [{ type: 'x', text: 'httpget' }, 'c'],
          [{ sender: '192.0.2.1' }, 'a'],
          [{ sender: '::1', binding: 'soap11' }, ''],
          [{ sender: "' OR 1" }, ''],
          [{ fromSender: 'github' }, 'd'],
          [{ fromSender: 'git' }, ''],
        ] as const)
          expect([query, (await found(query)).join('')]).toEqual([query, matching]);
      });

      it('keeps to a time range, wherever its events stand', async () => {
        await record(TIMES);
        const range = async (from: number | undefined, to?: number) => (await found({ from, to })).join('');
        expect(await range(20)).toBe('edca');
        expect(await range(21)).toBe('ea');
        expect(await range(undefined, 20)).toBe('fb');
        expect(await range(10, 30)).toBe('dcb');
        expect(await range(41)).toBe('');
        expect(await range(undefined, 5)).toBe('');
        expect(await range(30, 10)).toBe('');
        expect(await found({ from: 10, to: 30, limit: 1 })).toEqual(['d']);
        await record({ later: { recordedAt: 10 } });
        expect(await found({ from: 10, to: 30, limit: 2 })).toEqual(['later', 'd']);
      });
    });

    it('counts each event once, in its span of time, and no repetitions', async () => {
      const MINUTE = 60_000;
      const until = Date.now() + MINUTE / 2;
      for (let i = 0; i < 10; i++) await log.append(newEvent({ id: `n${String(i % 5)}`, recordedAt: Date.now() }));
      const counted = (last: number, span: number) =>
        log.counts(Array.from({ length: 61 }, (_, i) => last + (i - 60) * span));
      expect(await counted(until, MINUTE)).toEqual([...new Array<number>(59).fill(0), 5]);
      expect((await counted(until, 24 * 60 * MINUTE)).at(-1)).toBe(5);
      expect(await counted(until - MINUTE, MINUTE)).toEqual(new Array<number>(60).fill(0));
    });
  });
}
