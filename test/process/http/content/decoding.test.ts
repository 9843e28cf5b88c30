import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { Decoding, isCoding, type Coding } from '../../../../src/http/content/body';
import { RequestError } from '../../../../src/http/errors';

const TEXT = 'x'.repeat(1_000_000);
const CODED: readonly (readonly [Coding, Buffer])[] = [
  ['gzip', gzipSync(TEXT)],
  ['x-gzip', gzipSync(TEXT)],
  ['deflate', deflateSync(TEXT)],
  ['deflate', deflateRawSync(TEXT)],
  ['br', brotliCompressSync(TEXT)],
];

describe.each(CODED)('%s', (coding, coded) => {
  it('is decoded piece by piece', async () => {
    const pieces: Buffer[] = [];
    await new Decoding().decode(coded, coding, (piece) => pieces.push(piece));
    expect(pieces.length).toBeGreaterThan(10);
    expect(Buffer.concat(pieces).toString() === TEXT).toBe(true);
  });

  it.each([
    ['that is broken', Buffer.from('no coding at all')],
    ['that stops short', coded.subarray(0, -1)],
    ['with a byte after its end', Buffer.concat([coded, Buffer.from('x')])],
    ['with a byte after zeros', Buffer.concat([coded, Buffer.from('\0\0x')])],
    ['of no bytes', Buffer.alloc(0)],
  ])('%s is not valid, and the next is decoded', async (_what, body) => {
    const decoding = new Decoding();
    for (let i = 0; i < 10; i++) await expect(decoding.decode(body, coding, () => undefined)).resolves.toBe(false);
    await expect(decoding.decode(coded, coding, () => undefined)).resolves.toBe(true);
  });

  it('stops where its taker refuses more', async () => {
    const refusal = new RequestError(413, 'too much', 'too-large');
    let taken = 0;
    const decoding = new Decoding().decode(coded, coding, (piece) => {
      taken += piece.length;
      if (taken > 100_000) throw refusal;
    });
    await expect(decoding).rejects.toBe(refusal);
    expect(taken).toBeLessThan(200_000);
  });
});

it('decodes four bodies at once, and then those that wait', async () => {
  const decoding = new Decoding();
  const begun = new Set<number>();
  const ended: number[] = [];
  let most = 0;
  const decode = async (i: number): Promise<void> => {
    await decoding.decode(gzipSync(TEXT), 'gzip', () => {
      begun.add(i);
      most = Math.max(most, begun.size - ended.length);
    });
    ended.push(i);
  };
  await Promise.all(Array.from({ length: 20 }, (_, i) => decode(i)));
  expect(most).toBe(4);
  expect(ended).toHaveLength(20);
});

it('decodes no more than four where bodies come as others end', async () => {
  const decoding = new Decoding();
  const text = gzipSync(TEXT);
  let running = 0;
  let most = 0;
  const decode = async (left: number): Promise<void> => {
    let isRunning = false;
    await decoding.decode(text, 'gzip', () => {
      if (isRunning) return;
      isRunning = true;
      most = Math.max(most, ++running);
    });
    running--;
    if (left > 0) await Promise.all([decode(left - 1), decode(left - 1)]);
  };
  await Promise.all(Array.from({ length: 6 }, () => decode(3)));
  expect(most).toBe(4);
  expect(running).toBe(0);
});

it('knows no other codings', () => {
  expect(['gzip', 'br', 'identity', 'compress', 'GZIP', '', 'constructor', '__proto__'].filter(isCoding)).toEqual([
    'gzip',
    'br',
  ]);
});

it('takes the zeros with which archives of gzip are filled up, and several members', async () => {
  const pieces: Buffer[] = [];
  const body = Buffer.concat([gzipSync('one '), gzipSync('two'), Buffer.alloc(100)]);
  expect(await new Decoding().decode(body, 'gzip', (piece) => pieces.push(piece))).toBe(true);
  expect(Buffer.concat(pieces).toString()).toBe('one two');
});
