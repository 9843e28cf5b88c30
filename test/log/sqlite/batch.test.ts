import type { NewEvent } from '../../../src/events/stored-event';
import { packEvents, PackedEvents, TEXTS } from '../../../src/log/sqlite/batch';

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

/** The event at a place in a batch. */
function eventIn(packed: PackedEvents, i: number): NewEvent {
  const texts = TEXTS.map((name) => {
    const bytes = packed.bytesOf(i, name);
    return [name, bytes && Buffer.from(bytes).toString()];
  });
  return { ...(Object.fromEntries(texts) as NewEvent), recordedAt: packed.recordedAt(i) };
}

describe('a packed batch of events', () => {
  it.each([
    ['of ASCII texts', [plain, { ...plain, data: '"data":1', idempotencyKey: 'k' }]],
    ['of other texts', [full, plain, full]],
    ['without events', []],
  ])('%s holds them as they were', (_, events) => {
    const packed = new PackedEvents(packEvents(events));
    expect(Array.from({ length: packed.count }, (_, i) => eventIn(packed, i))).toEqual(events);
  });

  it('keeps the halves of a character in two texts apart', () => {
    const packed = new PackedEvents(packEvents([{ ...plain, id: 'a\ud83d', source: '\ude00b' }]));
    expect(eventIn(packed, 0)).toEqual({ ...plain, id: 'a\ufffd', source: '\ufffdb' });
  });

  it('is read where it stands in a larger buffer', () => {
    const packed = packEvents([plain, full]);
    const received = Buffer.concat([Buffer.from('abc'), packed, Buffer.from('d')]).subarray(3, 3 + packed.length);
    expect(eventIn(new PackedEvents(received), 1)).toEqual(full);
  });

  it('has a buffer of its own, which can be transferred', () => {
    const packed = packEvents([plain]);
    expect(packed.buffer.byteLength).toBe(packed.byteLength);
    expect(structuredClone(packed, { transfer: [packed.buffer] }).byteLength).toBeGreaterThan(0);
    expect(packed.byteLength).toBe(0);
  });
});
