import { detached, memoized, shortened } from '../../src/util/text';

it.each([
  ['short', 'short'],
  ['x'.repeat(200), 'x'.repeat(200)],
  ['x'.repeat(4_000_000), `${'x'.repeat(200)}…`],
  [`${'x'.repeat(199)}\u{1F600}y`, `${'x'.repeat(199)}…`],
  [`${'x'.repeat(198)}\u{1F600}y`, `${'x'.repeat(198)}\u{1F600}…`],
])('a text over 200 characters is shortened to whole ones (%#)', (text, short) => {
  expect(shortened(text)).toBe(short);
});

it.each(['', 'plain', '\uFEFFé€😀\0', 'half \uD83D', '\uDE00\uD83D'])(
  'a copy of a text is the same text: %j',
  (text) => {
    expect(detached(`<${text}>`.slice(1, -1))).toBe(text);
  },
);

it('a memoized function computes once for each of 256 short texts, and keeps no long ones', () => {
  const compute = jest.fn((text: string) => text.length);
  const length = memoized(compute);
  for (const text of ['first', ...Array.from({ length: 256 }, (_, i) => String(i)), 'first'])
    expect([length(text), length(text)]).toEqual([text.length, text.length]);
  expect(compute).toHaveBeenCalledTimes(258);
  for (let i = 0; i < 2; i++) length('x'.repeat(201));
  expect(compute).toHaveBeenCalledTimes(260);
});
