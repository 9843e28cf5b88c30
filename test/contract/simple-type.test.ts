import fc from 'fast-check';
import { BUILT_IN, type BuiltInName } from '../../src/contract/schema';

/** White space of XML, which means nothing around a value that is not a string. */
const SPACE = fc.string({ unit: fc.constantFrom(' ', '\t', '\r', '\n'), maxLength: 3 });

describe('a value is read as it was written:', () => {
  it('a long', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), SPACE, (value, space) => {
        expect(BUILT_IN.long.read(space + String(value) + space)).toBe(value);
      }),
    );
  });

  it('a decimal, without a plus sign and zeros that say nothing', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 14 });
    fc.assert(
      fc.property(fc.constantFrom('', '+', '-'), digits, digits, SPACE, (sign, whole, fraction, space) => {
        fc.pre(whole + fraction !== '');
        const read = BUILT_IN.decimal.read(`${space}${sign}${whole}.${fraction}${space}`);
        expect(read).toMatch(/^(?!-0$)-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/);
        const [readWhole = '', readFraction = ''] = String(read).split('.');
        const written = BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction.padEnd(14, '0')}`);
        expect(BigInt(readWhole + readFraction.padEnd(14, '0'))).toBe(written);
      }),
    );
  });
});

describe('the built-in type', () => {
  it.each<[BuiltInName, string, unknown]>([
    ['boolean', 'true', true],
    ['boolean', ' 1\n', true],
    ['boolean', 'False', false],
    ['boolean', '0', false],
    ['int', '-0', 0],
    ['int', '+0017', 17],
    ['int', `${'0'.repeat(90)}17`, 17],
    ['int', ' 2147483647\t', 2147483647],
    ['int', '-2147483648', -2147483648],
    ['string', ' \t\u0000\uFFFE😀\n', ' \t\u0000\uFFFE😀\n'],
    ['dateTime', '9999-12-31T23:59:59.999Z', new Date('9999-12-31T23:59:59.999Z')],
    ['decimal', '5.', '5'],
    ['decimal', '.50', '0.5'],
    ['decimal', '-00.50', '-0.5'],
    ['decimal', `${'0'.repeat(50)}${'1'.repeat(28)}`, '1'.repeat(28)],
    ['dateTime', ' 2026-01-02T03:04:05+02:00 ', new Date('2026-01-02T01:04:05Z')],
    ['dateTime', '2026-01-02T03:04:05.678', new Date('2026-01-02T03:04:05.678Z')],
  ])('%s reads %j as %p', (type, text, value) => {
    expect(BUILT_IN[type].read(text)).toEqual(value);
  });

  const NOT_A_NUMBER = 'Input string was not in a correct format.';
  const NOT_A_BOOLEAN = 'String was not recognized as a valid Boolean.';
  const NOT_A_TIME = 'String was not recognized as a valid DateTime.';
  it.each<[BuiltInName, string, string]>([
    ['boolean', '', NOT_A_BOOLEAN],
    ['boolean', 'constructor', NOT_A_BOOLEAN],
    ['boolean', '\u00A0true', NOT_A_BOOLEAN],
    ['int', '', NOT_A_NUMBER],
    ['int', '1.0', NOT_A_NUMBER],
    ['int', '\u00A01', NOT_A_NUMBER],
    ['int', '\u0661', NOT_A_NUMBER],
    ['int', `${'0'.repeat(100)}7`, 'Value was either too large or too small for an Int32.'],
    ['int', '2147483648', 'Value was either too large or too small for an Int32.'],
    ['int', '-2147483649', 'Value was either too large or too small for an Int32.'],
    ['long', '9223372036854775808', 'Value was either too large or too small for an Int64.'],
    ['decimal', '.', NOT_A_NUMBER],
    ['decimal', '1,5', NOT_A_NUMBER],
    ['decimal', '1'.repeat(29), 'Value was either too large or too small for a Decimal.'],
    ['decimal', `0.${'1'.repeat(29)}`, 'Value was either too large or too small for a Decimal.'],
    ['dateTime', '', NOT_A_TIME],
    ['dateTime', '2026-01-02', NOT_A_TIME],
    ['dateTime', '2026-02-30T00:00:00Z', NOT_A_TIME],
  ])('%s refuses what is not one (%#)', (type, text, message) => {
    expect(() => BUILT_IN[type].read(text)).toThrow(new Error(message));
  });

  it.each(Object.values(BUILT_IN))('$name reads or refuses any text of 1 MB within 100 ms', ({ read }) => {
    const million = 1_000_000;
    const texts = [' '.repeat(million), `x${' '.repeat(million)}x`, '0'.repeat(million), `-${'0'.repeat(million)}.x`];
    for (const text of [...texts, `.${'0'.repeat(million)}`, `${'1'.repeat(million / 2)}.${'0'.repeat(million / 2)}`]) {
      // The least of three: what the process's other threads take, such as the garbage collector's, is in each figure.
      const figures = [1, 2, 3].map(() => processorTime(() => read(text)));
      expect(Math.min(...figures)).toBeLessThan(100_000);
    }
  });

  /** The processor time of a read, which may be refused, in microseconds. */
  function processorTime(read: () => unknown): number {
    const before = process.cpuUsage();
    try {
      read();
    } catch {
      // Refused.
    }
    const { user, system } = process.cpuUsage(before);
    return user + system;
  }
});
