import { inflateSync } from 'node:zlib';
import fc from 'fast-check';
import { AnswerPart } from '../../../src/http/content/deflate';

async function joined(parts: readonly AnswerPart[]): Promise<Buffer> {
  const given = async function* () {
    yield* parts;
    await Promise.resolve();
  };
  const chunks: Buffer[] = [];
  for await (const chunk of AnswerPart.deflated(given())) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('parts that are compressed for many answers', () => {
  it('are one zlib stream with a right checksum, in any order and however often each is in it', async () => {
    const parts = ['', 'a', 'ÿ'.repeat(70_000), 'a line\n'.repeat(10_000), '\n'].map((text) => new AnswerPart(text));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...parts), { maxLength: 8 }), async (chosen) => {
        const expected = Buffer.concat(chosen.map(({ bytes }) => bytes));
        // Throws if the checksum is wrong.
        expect(inflateSync(await joined(chosen)).equals(expected)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('are compressed once', () => {
    const part = new AnswerPart('a');
    expect(part.blocks()).toBe(part.blocks());
  });
});
