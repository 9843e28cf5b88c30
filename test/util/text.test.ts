import { detached, memoized, quoted, shortened, sizeText } from '../../src/util/text';

describe('a shortened text', () => {
  it.each(['', 'short', 'x'.repeat(200)])('is the text itself if that is short', (text) => {
    expect(shortened(text)).toBe(text);
  });

  it('ends with an ellipsis if the text was longer', () => {
    expect(shortened('x'.repeat(201))).toBe(`${'x'.repeat(200)}…`);
    expect(shortened('x'.repeat(4_000_000))).toHaveLength(201);
  });

  it('does not cut a character in two', () => {
    expect(shortened(`${'x'.repeat(199)}\u{1F600}y`)).toBe(`${'x'.repeat(199)}…`);
    expect(shortened(`${'x'.repeat(198)}\u{1F600}y`)).toBe(`${'x'.repeat(198)}\u{1F600}…`);
  });
});

describe('a copy of a text', () => {
  it.each(['', 'plain', '\uFEFFé€😀\0', 'half \uD83D', '\uDE00\uD83D'])('is the same text: %j', (text) => {
    expect(detached(`<${text}>`.slice(1, -1))).toBe(text);
  });
});

it('a memoized function keeps the result for a text that is repeated, however many others came before it', () => {
  let computed = 0;
  const length = memoized((text) => {
    computed++;
    return text.length;
  });
  for (let i = 0; i < 1000; i++) length(`other ${String(i)}`);
  computed = 0;
  expect([length('one text'), length('one text'), length('one text')]).toEqual([8, 8, 8]);
  expect(computed).toBe(1);
});

it('a memoized function keeps 256 texts of up to 200 characters', () => {
  const compute = jest.fn();
  const ask = memoized(compute);
  for (const text of ['first', ...Array.from({ length: 256 }, (_, i) => String(i)), 'first']) ask(text);
  expect(compute).toHaveBeenCalledTimes(258);
  for (let i = 0; i < 2; i++) ask('x'.repeat(201));
  expect(compute).toHaveBeenCalledTimes(260);
});

it.each([
  [1023, '1023 B'],
  [1024, '1 KiB'],
  [1024 ** 2, '1 MiB'],
  [12.34 * 1024 ** 2, '12.3 MiB'],
])('a size of %d bytes is %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});

it('a quoted text is short and on one line, whatever is in it', () => {
  expect(quoted(`"\n\u009b\u202e${'x'.repeat(1000)}`)).toBe(`\\"\\n\\u009b\\u202e${'x'.repeat(196)}…`);
});
