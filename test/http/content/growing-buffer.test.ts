import * as fc from 'fast-check';
import { GrowingBuffer } from '../../../src/http/content/unstreamed-message';

const BYTES = Uint8Array.from({ length: 70_000 }, (_, i) => (i * 31) % 251);

/** A piece of bytes that stands anywhere in the memory it is a part of. */
function pieceOf(length: number, before: number, after: number, seed: number): Buffer {
  const { buffer } = BYTES.slice(seed, seed + before + length + after);
  return Buffer.from(buffer, before, length);
}

function gathered(pieces: readonly Buffer[]): GrowingBuffer {
  const bytes = new GrowingBuffer();
  for (const piece of pieces) bytes.add(piece);
  return bytes;
}

it('gives back the bytes in their order, in whatever pieces they come, and forgets them', () => {
  const sizes = fc.integer({ min: 0, max: 9000 });
  const pieces = fc.array(
    fc.integer({ min: 0, max: 255 }).chain((seed) => sizes.map((length) => pieceOf(length, seed * 40, 10, seed))),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(pieces, (given) => {
      const bytes = gathered(given);
      const whole = Buffer.concat(given);
      expect(bytes.length).toBe(whole.length);
      expect(bytes.take().equals(whole)).toBe(true);
      expect([bytes.length, bytes.take().length]).toEqual([0, 0]);
    }),
  );
});

it('copies a large piece only where more than its own memory would be kept with it', () => {
  const own = Buffer.alloc(10_000, 'x');
  expect(gathered([own]).take().buffer).toBe(own.buffer);
  const part = pieceOf(10_000, 0, 50_000, 1);
  expect(gathered([part]).take().buffer.byteLength).toBeLessThan(20_000);
});
