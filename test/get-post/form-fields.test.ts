import { parseFormFields, percentDecoded, UNDECODABLE } from '../../src/get-post/form-fields';

describe('percent-encoding', () => {
  it.each([
    ['', ''],
    ['abc', 'abc'],
    ['%41%5a%7A', 'AZz'],
    ['%00%0f%F0%ff%aF%Fa%99', '\x00\x0f\xf0\xff\xaf\xfa\x99'],
    ['%2541', '%41'],
    ['a%', 'a%'],
    ['%4', '%4'],
    ['%%41', '%A'],
    ['%4%41', '%4A'],
    ['%g0%0g%/0%0/%:0%0:%@0%0@%`0%0`', '%g0%0g%/0%0/%:0%0:%@0%0@%`0%0`'],
    ['\xe9+', '\xe9+'],
  ])('in %j stands for %j', (part, bytes) => {
    expect(percentDecoded(part).toString('latin1')).toBe(bytes);
  });
});

describe('the fields of a form', () => {
  it.each<[string, string | undefined, Record<string, string | string[]>, boolean]>([
    ['', undefined, {}, false],
    ['a=1&b=2&a=3', undefined, { a: ['1', '3'], b: '2' }, false],
    ['a', undefined, { a: '' }, false],
    ['a+b=c+d%2B', undefined, { 'a b': 'c d+' }, false],
    ['%C3%A9=%c3%a9', undefined, { é: 'é' }, false],
    ['Ã©=Ã©', undefined, { é: 'é' }, false],
    ['a=%E9', 'iso-8859-1', { a: 'é' }, false],
    ['a=%E9&b=2', undefined, { a: UNDECODABLE, b: '2' }, true],
    ['%FF=1', undefined, { [UNDECODABLE]: '1' }, true],
    ['a=%', undefined, { a: '%' }, false],
  ])('%s in %s are %j', (encoded, charset, values, hasUndecodable) => {
    const fields = parseFormFields(encoded, charset);
    expect({ ...fields?.values }).toEqual(values);
    expect(fields?.hasUndecodable).toBe(hasUndecodable);
  });

  it('have no prototype, so that any name is only a name', () => {
    expect(Object.getPrototypeOf(parseFormFields('__proto__=1')?.values)).toBeNull();
  });

  it('are read up to 10,000 of them, to the last', () => {
    expect(parseFormFields(`${'a&'.repeat(9_999)}b=1`)?.values).toMatchObject({ b: '1' });
    expect(parseFormFields(`${'a&'.repeat(10_000)}b=1`)).toBeUndefined();
    expect(parseFormFields('&'.repeat(10_000))).toBeUndefined();
    expect(parseFormFields('&'.repeat(9_999))?.values).toEqual(Object.create(null));
  });
});
