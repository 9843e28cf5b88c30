/**
 * The beginning of a Brotli stream of 1.2 KB for which a decoder takes a megabyte: it has as many prefix codes as there may be,
 * 256 each for literals, commands and distances, and the decoder makes a table of a kilobyte for each (RFC 7932, section 9).
 */
export function costlyBrotli(): Buffer {
  const bits: number[] = [];
  /** Numbers and their lengths; the lowest bit comes first. */
  const write = (...fields: readonly (readonly [value: number, bits: number])[]): void => {
    for (const [value, count] of fields) for (let i = 0; i < count; i++) bits.push((value >>> i) & 1);
  };
  const is256 = [
    [1, 1],
    [7, 3],
    [127, 7],
  ] as const;
  /** A prefix code of one symbol. */
  const codeOf = (symbol: number, symbolBits: number) =>
    [
      [1, 2],
      [0, 2],
      [symbol, symbolBits],
    ] as const;

  const window = 15;
  write([window, 4]);
  const notLast = 0;
  const nibblesOfLength = 2;
  const compressed = 0;
  write([notLast, 1], [nibblesOfLength, 2], [0xffffff, 24], [compressed, 1]);
  // Block types: how many, their code, the code of block lengths, and the first length.
  for (let i = 0; i < 3; i++) write(...is256, ...codeOf(0, 9), ...codeOf(25, 5), [0, 24]);
  const distanceParameters = 0;
  write([distanceParameters, 6]);
  const contextMode = 0;
  for (let i = 0; i < 256; i++) write([contextMode, 2]);
  // The context maps of literals and distances: how many codes, no runs, the code of the map, not transformed.
  for (let i = 0; i < 2; i++) write(...is256, [0, 1], ...codeOf(0, 8), [0, 1]);
  for (const symbolBits of [8, 10, 6]) for (let i = 0; i < 256; i++) write(...codeOf(0, symbolBits));

  const bytes = Buffer.alloc(Math.ceil(bits.length / 8));
  bits.forEach((bit, i) => bytes.writeUInt8(bytes.readUInt8(i >> 3) | (bit << (i & 7)), i >> 3));
  // Without its last byte, the decoder has to wait.
  return bytes.subarray(0, -1);
}
