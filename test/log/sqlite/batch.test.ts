import type { NewEvent } from '../../../src/events/stored-event';
import { HeldBatches, packEvents, unpackEvents } from '../../../src/log/sqlite/batch';
import { checksumOf, TEXTS } from '../../../src/log/sqlite/checksum';

const MEBIBYTE = 1024 * 1024;

const plain: NewEvent = {
  id: '1',
  source: '/a',
  attributes: '{"specversion":"1.0","id":"1"}',
  data: undefined,
  arrival: '{}',
  recordedAt: 1_763_000_000_123,
  idempotencyKey: undefined,
  webhookId: undefined,
};
const full: NewEvent = {
  ...plain,
  source: '/ä/€/😀',
  data: '"data":"<a>€</a>"',
  recordedAt: -1,
  idempotencyKey: '',
  webhookId: 'ü',
};

/** The events in a batch, each with its sizes and its checksum. */
function eventsIn(packed: Uint8Array): NewEvent[] {
  const text = (value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString() : (value ?? undefined));
  return unpackEvents(packed).map(
    (event) =>
      Object.fromEntries(Object.entries(event).map(([name, value]) => [name, text(value)])) as unknown as NewEvent,
  );
}

const withSizes = (event: NewEvent) => {
  const texts = TEXTS.map((name) => (event[name] === undefined ? null : Buffer.from(event[name])));
  return { ...event, checksum: checksumOf(event.recordedAt, texts) };
};

describe('the batches that only the write-ahead log has', () => {
  const batch = (bytes: number) => Buffer.alloc(bytes, 'x');

  it('are held up to 64 MiB, and are incomplete beyond that until the write-ahead log has been written back', () => {
    const held = new HeldBatches();
    held.add([batch(40 * MEBIBYTE), batch(24 * MEBIBYTE)]);
    expect([held.isEmpty, held.isIncomplete, held.all().map(({ length }) => length)]).toEqual([
      false,
      false,
      [40 * MEBIBYTE, 24 * MEBIBYTE],
    ]);
    held.add([batch(1)]);
    expect([held.isIncomplete, held.all().length]).toEqual([true, 2]);
    held.clear();
    expect([held.isEmpty, held.isIncomplete, held.all()]).toEqual([true, false, []]);
    held.add([batch(3)]);
    expect([held.isIncomplete, held.all()]).toEqual([false, [batch(3)]]);
    held.miss();
    expect(held.isIncomplete).toBe(true);
    held.clear();
    expect(held.isIncomplete).toBe(false);
  });
});

describe('a packed batch of events', () => {
  it.each([
    ['of ASCII texts', [plain, { ...plain, data: '"data":1', idempotencyKey: 'k' }]],
    ['of other texts', [full, plain, full]],
    ['without events', []],
  ])('%s holds them as they were', (_, events) => {
    expect(eventsIn(packEvents(events))).toEqual(events.map(withSizes));
  });

  it('keeps the halves of a character in two texts apart', () => {
    const packed = packEvents([{ ...plain, id: 'a\ud83d', source: '\ude00b' }]);
    expect(eventsIn(packed)).toEqual([withSizes({ ...plain, id: 'a\ufffd', source: '\ufffdb' })]);
  });

  it('is read where it stands in a larger buffer', () => {
    const packed = packEvents([plain, full]);
    const received = Buffer.concat([Buffer.from('abc'), packed, Buffer.from('d')]).subarray(3, 3 + packed.length);
    expect(eventsIn(received)).toEqual([plain, full].map(withSizes));
  });

  it('is refused where another build has packed it', () => {
    const packed = packEvents([plain]);
    packed.writeUInt32LE(packed.readUInt32LE(0) + 1, 0);
    expect(() => unpackEvents(packed)).toThrow(/^the events were packed by another build of the service/);
  });

  it('has a buffer of its own, which can be transferred', () => {
    const packed = packEvents([plain]);
    expect(packed.buffer.byteLength).toBe(packed.byteLength);
    expect(structuredClone(packed, { transfer: [packed.buffer] }).byteLength).toBeGreaterThan(0);
    expect(packed.byteLength).toBe(0);
  });
});
